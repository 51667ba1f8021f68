"""Belonging: what is part of something is of the same project and of a person who may have made it."""

from collections.abc import Iterator

from sqlalchemy import RowMapping, text

from models.rules.names import name_key
from models.store.operations import OperationKind
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

MEMBERS = text("""
    select m.draft_id, m.review_id, m.number, r.author_id || ' in ' || r.project_id as expected,
           d.author_id || ' in ' || d.project_id as found
    from review_submission_drafts m
    join reviews r on r.org_id = m.org_id and r.review_id = m.review_id
    join drafts d on d.org_id = m.org_id and d.draft_id = m.draft_id
    where m.org_id = :org_id and (d.author_id, d.project_id) <> (r.author_id, r.project_id)
    order by m.review_id, m.number, m.draft_id
""")
IMPORTS = text("""
    select i.import_id, i.author_id || ' in ' || i.project_id as expected, x.kind, x.id,
           x.user_id || ' in ' || x.project_id as found
    from (
        select import_id, author_id, project_id, operation_id as id from imports where org_id = :org_id
        union all
        select import_id, author_id, project_id, review_id from imports where org_id = :org_id
    ) i
    join (
        select 'operation' as kind, operation_id as id, user_id, project_id from operations where org_id = :org_id
        union all
        select 'Review', review_id, author_id, project_id from reviews where org_id = :org_id
    ) x on x.id = i.id
    where (x.user_id, x.project_id) <> (i.author_id, i.project_id)
    order by i.import_id, x.kind
""")
# Whoever decides or merges need not be the author; the project is always the Review's. What failed may have failed
# because its row was wrong.
OPERATIONS = text("""
    select o.operation_id, o.kind, o.workflow_id, o.user_id, o.project_id, r.author_id, r.project_id as of_project,
           case o.kind when 'review.merge' then 'publication/' || o.org_id
                       when 'selection.replace' then 'projection/' || o.project_id
                       when 'import.run' then 'import/' || i.import_id
                       when 'draft.reconcile' then 'reconcile/' || (o.request ->> 'draft_id')
                       when 'draft.rebase' then 'reconcile/' || (o.request ->> 'draft_id')
                       else 'review/' || o.review_id end as carried_out_by
    from operations o
    left join reviews r on r.org_id = o.org_id and r.review_id = o.review_id
    left join imports i on i.org_id = o.org_id and i.operation_id = o.operation_id
    where o.org_id = :org_id and o.status <> 'failed'
    order by o.operation_id
""")
AUTHORS = (OperationKind.SUBMIT, OperationKind.RESUBMIT)
"""What only the author of a Review may do."""

POSITIONS = text("""
    select review_id, number, count(*) as drafts, max(position) as last from review_submission_drafts
    where org_id = :org_id group by review_id, number having count(*) <> max(position) + 1
    order by review_id, number
""")
STEPS = text("""
    select operation_id, count(*) as times from draft_operations
    where org_id = :org_id group by operation_id having count(*) > 1 order by operation_id
""")
# The state from which a submission starts is one that the Memory has had.
BASES = text("""
    select s.review_id, s.number, s.memory_id, s.base_path from review_submission_states s
    where s.org_id = :org_id and s.base_path is not null and not exists (
        select from memory_versions v
        where v.org_id = s.org_id and v.memory_id = s.memory_id and v.path = s.base_path and v.blob_id = s.base_blob_id
          and v.description = s.base_description
    )
    order by s.review_id, s.number, s.memory_id
""")
ANCHORS = text("""
    select c.comment_id, c.anchor_path from review_comments c
    where c.org_id = :org_id and c.anchor_path is not null and not exists (
        select from review_submission_states s
        where s.org_id = c.org_id and s.review_id = c.review_id and s.number = c.submission and s.path = c.anchor_path
    )
    order by c.comment_id
""")
# Of comments a row and the audit trail tell: a person who was deleted since is still who wrote it.
COMMENTS = text("""
    select c.comment_id, c.author_id from review_comments c
    where c.org_id = :org_id and not exists (
        select from audit_events a
        where a.org_id = c.org_id and a.resource_id = c.comment_id and a.action = 'comment.create'
          and a.actor = c.author_id
    )
    order by c.comment_id
""")
PROJECTS = text("select project_id, name, name_key from projects where org_id = :org_id order by project_id")
OWNERS = text("select count(*) as owners from users where org_id = :org_id and role = 'owner'")
SECRETS = text("""
    select min(token_id) as token_id, count(*) as times from tokens
    where org_id = :org_id group by secret_hash having count(*) > 1 order by 1
""")


def check_belonging(snapshot: Snapshot) -> Iterator[Finding]:
    """Parts against their wholes, and people against what they did."""
    for row in snapshot.rows(MEMBERS):
        where = f"Draft {row['draft_id']} in submission {row['number']} of Review {row['review_id']}"
        yield Finding("belonging.draft", "it is not of the Review's author and project", where, *_both(row))
    for row in snapshot.rows(IMPORTS):
        where = f"{row['kind']} {row['id']} of import {row['import_id']}"
        yield Finding("belonging.import", "it is not of the import's author and project", where, *_both(row))
    yield from _check_operations(snapshot)
    yield from _check_submissions(snapshot)
    yield from _check_comments(snapshot)
    yield from _check_tenancy(snapshot)


def _both(row: RowMapping) -> tuple[str, str]:
    return shown(row["expected"]), shown(row["found"])


def _check_operations(snapshot: Snapshot) -> Iterator[Finding]:
    kinds = {kind.value for kind in OperationKind}
    for row in snapshot.rows(OPERATIONS):
        where = f"operation {row['operation_id']}"
        if row["kind"] not in kinds:
            yield Finding("operation.kind", "nobody knows its kind", where, "a kind", shown(row["kind"]))
        elif row["workflow_id"] != row["carried_out_by"]:
            expected, found = shown(row["carried_out_by"]), shown(row["workflow_id"])
            yield Finding("operation.workflow", "another workflow carries it out", where, expected, found)
        if row["of_project"] is not None and row["project_id"] != row["of_project"]:
            what = "it is of another project than its Review"
            yield Finding("belonging.operation", what, where, row["of_project"], row["project_id"])
        elif row["kind"] in AUTHORS and row["author_id"] not in (None, row["user_id"]):
            what = "it is of another person than its Review's author"
            yield Finding("belonging.operation", what, where, row["author_id"], row["user_id"])


def _check_submissions(snapshot: Snapshot) -> Iterator[Finding]:
    for row in snapshot.rows(POSITIONS):
        where = f"submission {row['number']} of Review {row['review_id']}"
        found = f"{row['drafts']} up to position {row['last']}"
        yield Finding("submission.position", "its Drafts are not numbered in order", where, "no gap", found)
    for row in snapshot.rows(BASES):
        where = f"{row['memory_id']} in submission {row['number']} of Review {row['review_id']}"
        what = "it starts from what the Memory has never been"
        yield Finding("submission.base", what, where, "one of its versions", shown(row["base_path"]))
    for row in snapshot.rows(STEPS):
        where, found = f"operation {row['operation_id']} of a Draft", str(row["times"])
        yield Finding("draft.step", "several steps have one id", where, "one", found)


def _check_comments(snapshot: Snapshot) -> Iterator[Finding]:
    for row in snapshot.rows(ANCHORS):
        what = "it is about a path that its submission has not"
        yield Finding("comment.anchor", what, f"comment {row['comment_id']}", "a path", shown(row["anchor_path"]))
    for row in snapshot.rows(COMMENTS):
        what = "the audit trail names another author"
        yield Finding("comment.author", what, f"comment {row['comment_id']}", "the author", shown(row["author_id"]))


def _check_tenancy(snapshot: Snapshot) -> Iterator[Finding]:
    for row in snapshot.rows(PROJECTS):
        expected = name_key(row["name"])
        if row["name_key"] != expected:
            where = f"project {row['project_id']}"
            yield Finding(
                "project.key", "its key is not that of its name", where, shown(expected), shown(row["name_key"])
            )
    for row in snapshot.rows(OWNERS):
        if not row["owners"]:
            where = f"organization {snapshot.org_id}"
            yield Finding("organization.owner", "nobody owns it", where, "an owner", "none")
    for row in snapshot.rows(SECRETS):
        what = "several tokens have one secret"
        yield Finding("token.secret", what, f"token {row['token_id']}", "one", str(row["times"]))
