"""References: whatever names another row finds it, where the schema asks for it and where it could not."""

from collections.abc import Iterator
from functools import cache

from sqlalchemy import BindParameter, ForeignKeyConstraint, Select, Table, bindparam, exists, select, text
from sqlmodel import SQLModel

import models.tables  # noqa: F401  (registers the schema)
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

# What the schema leaves out: projections are derived and written in bulk, the coordination row takes no foreign key,
# and a Draft's or a Review's commit is a fact about the past, as is the project that a session was attached to.
UNDECLARED = (
    text("""
        select 'idempotency_keys' as kind, k.user_id as owner, k.method || ' ' || k.path as id,
               'operation_id' as field, k.operation_id as value
        from idempotency_keys k
        left join operations o on o.org_id = k.org_id and o.operation_id = k.operation_id
        where k.org_id = :org_id and k.operation_id is not null and o.operation_id is null
          and k.created_at > now() - interval '7 days'  -- an older one waits to be removed, as its operation was
    """),
    text("""
        select 'projection_versions' as kind, p.project_id as owner, p.memory_id as id, 'blob_id' as field,
               p.blob_id as value
        from projection_versions p left join blobs b on b.org_id = p.org_id and b.blob_id = p.blob_id
        where p.org_id = :org_id and b.blob_id is null
    """),
    text("""
        select 'commits' as kind, coalesce(c.project_id, '') as owner, c.commit_id as id, 'review_id' as field,
               c.review_id as value
        from commits c left join reviews r on r.org_id = c.org_id and r.review_id = c.review_id
        where c.org_id = :org_id and c.review_id is not null and r.review_id is null
    """),
    text("""
        select 'review_submission_drafts' as kind, m.review_id as owner, cast(m.number as text) as id,
               'draft_id' as field, m.draft_id as value
        from review_submission_drafts m left join drafts d on d.org_id = m.org_id and d.draft_id = m.draft_id
        where m.org_id = :org_id and d.draft_id is null
    """),
    text("""
        select 'drafts' as kind, d.project_id as owner, d.draft_id as id, 'review_id' as field, d.review_id as value
        from drafts d left join reviews r on r.org_id = d.org_id and r.review_id = d.review_id
        where d.org_id = :org_id and d.review_id is not null and r.review_id is null
    """),
    text("""
        select 'review_approvals' as kind, a.review_id as owner, a.approval_id as id, 'submission' as field,
               cast(a.submission as text) as value
        from review_approvals a
        left join review_submissions s
          on s.org_id = a.org_id and s.review_id = a.review_id and s.number = a.submission
        where a.org_id = :org_id and s.number is null
    """),
    text("""
        select 'workstreams' as kind, w.owner_id as owner, w.workstream_id as id, 'project_id' as field,
               w.project_id as value
        from workstreams w left join projects p on p.org_id = w.org_id and p.project_id = w.project_id
        where w.org_id = :org_id and w.project_id is not null and p.project_id is null
    """),
    text("""
        select 'sessions' as kind, s.user_id as owner, s.session_id as id, 'project_id' as field,
               s.project_id as value
        from sessions s left join projects p on p.org_id = s.org_id and p.project_id = s.project_id
        where s.org_id = :org_id and s.project_id is not null and p.project_id is null
    """),
)


def check_references(snapshot: Snapshot) -> Iterator[Finding]:
    """Every foreign key of the schema, read again, and every reference that is none."""
    for table, parent, dangling in _declared():
        for row in snapshot.rows(dangling):
            yield _missing(f"{table} {' '.join(shown(value) for value in row.values())}", parent)
    for statement in UNDECLARED:
        for row in snapshot.rows(statement):
            where = f"{row['field']} {row['value']} of {row['kind']} {row['owner']} {row['id']}"
            yield _missing(where, "it")


def _missing(where: str, parent: str) -> Finding:
    return Finding("reference.missing", "what a row names is not there", where, f"a row of {parent}", "nothing")


@cache
def _declared() -> list[tuple[str, str, Select[tuple[object, ...]]]]:
    """For each foreign key of an organization's tables: the table, the one it names, and what finds nothing there."""
    return [
        (table.name, constraint.referred_table.name, _dangling(table, constraint))
        for table in SQLModel.metadata.sorted_tables
        for constraint in table.foreign_key_constraints
        if "org_id" in table.c
    ]


def _dangling(table: Table, constraint: ForeignKeyConstraint) -> Select[tuple[object, ...]]:
    """The keys of the rows that name a row which is not there; nulls name nothing."""
    pairs = [(element.parent, element.column) for element in constraint.elements]
    # The organization is a constant: compared with a column, a parent that has no other key could not be hashed.
    organization: BindParameter[str] = bindparam("org_id")
    there = exists().where(*(parent == (organization if child.name == "org_id" else child) for child, parent in pairs))
    named = {column.name: column for column in (*table.primary_key.columns, *(child for child, _ in pairs))}
    return select(*(column for name, column in named.items() if name != "org_id" or len(named) == 1)).where(
        table.c.org_id == organization, *(child.is_not(None) for child, _ in pairs), ~there
    )
