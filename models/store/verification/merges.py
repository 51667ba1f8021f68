"""Merges: what was approved is what was published, and nothing else is."""

from collections.abc import Iterator
from itertools import groupby

from sqlalchemy import RowMapping, text

from models.identifiers import MemoryId, ProjectId
from models.rules.hashes import result_hash
from models.rules.states import State
from models.store.verification.findings import Finding
from models.store.verification.snapshot import Snapshot
from models.store.verification.submissions import state_of

# What the commit's rows say of each Memory that the merged submission touched: its last version up to the commit's,
# found by sorting both together.
PUBLISHED = text("""
    with touched as (
        select r.review_id, r.project_id, r.result_hash, s.memory_id, s.created_for, c.version
        from reviews r
        join review_submission_states s
          on s.org_id = r.org_id and s.review_id = r.review_id and s.number = r.submission
        left join commits c on c.org_id = r.org_id and c.commit_id = r.merged_commit_id
        where r.org_id = :org_id and r.status = 'merged' and (c.version is not null or r.merged_commit_id is null)
    ),
    sorted as (
        select review_id, project_id, result_hash, memory_id, created_for, version,
               max(said) over (partition by memory_id order by version) as said
        from (
            select review_id, project_id, result_hash, memory_id, created_for, version, cast(null as integer) as said
            from touched
            union all
            select null, null, null, memory_id, null, from_version, from_version
            from memory_versions where org_id = :org_id
        ) both_kinds
    )
    select s.review_id, s.project_id, s.result_hash, s.memory_id, s.created_for,
           v.path, v.description, v.blob_id, b.content_hash
    from sorted s
    left join memory_versions v
      on v.org_id = :org_id and v.memory_id = s.memory_id and v.from_version = s.said
     and v.from_version <= s.version and (v.to_version is null or v.to_version > s.version)
    left join blobs b on b.org_id = :org_id and b.blob_id = v.blob_id
    where s.review_id is not null
    order by s.review_id, s.memory_id
""")
UNTOUCHED = text("""
    with changes as (
        select memory_id, from_version as version from memory_versions where org_id = :org_id
        union
        select memory_id, to_version from memory_versions where org_id = :org_id and to_version is not null
    )
    select v.memory_id, v.version, c.review_id
    from changes v
    join commits c on c.org_id = :org_id and c.project_id is null and c.version = v.version
    join reviews r on r.org_id = c.org_id and r.review_id = c.review_id
    left join review_submission_states s
      on s.org_id = r.org_id and s.review_id = r.review_id and s.number = r.submission and s.memory_id = v.memory_id
    where s.memory_id is null order by v.version, v.memory_id
""")
# What a Review creates or restores, its project selects in the commit that it gets with it.
UNSELECTED = text("""
    select r.review_id, s.memory_id, s.created_for
    from reviews r
    join commits c on c.org_id = r.org_id and c.commit_id = r.merged_commit_id and c.review_id = r.review_id
    join review_submission_states s
      on s.org_id = r.org_id and s.review_id = r.review_id and s.number = r.submission
    join project_refs k on k.org_id = r.org_id and k.project_id = s.created_for
    left join commits p
      on p.org_id = r.org_id and p.review_id = r.review_id and p.project_id = s.created_for
    left join projection_versions v
      on v.org_id = r.org_id and v.project_id = p.project_id and v.memory_id = s.memory_id
     and v.from_version <= p.version and (v.to_version is null or v.to_version > p.version)
    where r.org_id = :org_id and r.status = 'merged' and s.path is not null and v.memory_id is null
    order by r.review_id, s.memory_id
""")


def check_merges(snapshot: Snapshot) -> Iterator[Finding]:
    """Every merged Review against the organization at its commit, in both directions."""
    for review_id, rows in groupby(snapshot.rows(PUBLISHED), key=lambda row: row["review_id"]):
        yield from _check_published(f"Review {review_id}", rows)
    for row in snapshot.rows(UNTOUCHED):
        where = f"Memory {row['memory_id']} at version {row['version']}"
        what = "a commit changes a Memory that its Review does not"
        yield Finding("merge.untouched", what, where, "no change", f"one by Review {row['review_id']}")
    for row in snapshot.rows(UNSELECTED):
        where = f"Memory {row['memory_id']} of Review {row['review_id']}"
        what = "a project does not select what it created or restored"
        yield Finding("merge.selected", what, where, f"an entry of {row['created_for']}", "none")


def _check_published(where: str, rows: Iterator[RowMapping]) -> Iterator[Finding]:
    states: dict[MemoryId, State] = {}
    created: set[MemoryId] = set()
    for row in rows:
        expected, project_id = row["result_hash"], ProjectId(row["project_id"])
        states[row["memory_id"]] = state_of(row)
        if row["created_for"] is not None:
            created.add(row["memory_id"])
    found = result_hash(states, project_id, created)
    if found != expected:
        yield Finding("merge.published", "what was published is not what was approved", where, expected, found)
