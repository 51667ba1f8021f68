"""Who changed a field of a published Memory last: what a conflict names as the other side (reconciliation-table.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from models.identifiers import CommitId, MemoryId, OrganizationId, UserId
from models.rules.conflicts import ContestedField


@dataclass(frozen=True, slots=True)
class Question:
    """Which field of which Memory, changed since which version of the organization."""

    memory_id: MemoryId
    field: ContestedField
    base_version: int


@dataclass(frozen=True, slots=True)
class UpstreamChange:
    """An Organization Commit and the author of its Review."""

    commit_id: CommitId
    author_id: UserId


# An interval's begin changes what differs from the interval that ended there; an end without a next one deletes.
# Where nothing changed that field since the base, the last change of the Memory since then stands in, and where there
# is none at all (it was in the way from the start), its last change ever.
LAST_CHANGES = text("""
    select a.position, c.commit_id, coalesce(r.author_id, c.created_by) as author_id
    from unnest(cast(:positions as integer[]), cast(:memory_ids as text[]), cast(:fields as text[]),
                cast(:base_versions as integer[])) as a(position, memory_id, field, base_version)
    cross join lateral (
        select v.version
        from (
            select from_version as version,
                   case when before_to is distinct from from_version
                        then array['existence', 'path', 'description', 'body']
                        else array_remove(array[
                            case when path <> before_path then 'path' end,
                            case when description <> before_description then 'description' end,
                            case when blob_id <> before_blob_id then 'body' end], null)
                   end as changed
            from (
                select from_version, path, description, blob_id,
                       lag(to_version) over earlier as before_to, lag(path) over earlier as before_path,
                       lag(description) over earlier as before_description, lag(blob_id) over earlier as before_blob_id
                from memory_versions where org_id = :org_id and memory_id = a.memory_id
                window earlier as (order by from_version)
            ) begun
            union all
            select m.to_version, array['existence', 'path', 'description', 'body'] from memory_versions m
            where m.org_id = :org_id and m.memory_id = a.memory_id and m.to_version is not null
              and not exists (
                  select from memory_versions n
                  where n.org_id = m.org_id and n.memory_id = m.memory_id and n.from_version = m.to_version
              )
        ) v
        order by v.version > a.base_version desc, a.field = any(v.changed) desc, v.version desc
        limit 1
    ) latest
    join commits c on c.org_id = :org_id and c.scope = 'org' and c.version = latest.version
    left join reviews r on r.org_id = c.org_id and r.review_id = c.review_id
""")


def last_changes(
    connection: Connection, org_id: OrganizationId, questions: Sequence[Question]
) -> dict[Question, UpstreamChange]:
    """The latest Organization Commit that changed each field since its base; one statement for however many."""
    if not questions:
        return {}
    rows = connection.execute(
        LAST_CHANGES,
        {
            "org_id": org_id,
            "positions": list(range(len(questions))),
            "memory_ids": [question.memory_id for question in questions],
            "fields": [question.field.value for question in questions],
            "base_versions": [question.base_version for question in questions],
        },
    )
    return {questions[row.position]: UpstreamChange(row.commit_id, row.author_id) for row in rows}
