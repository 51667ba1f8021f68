"""Drafts: the state of each is that of the Review that holds or published it, and its operations are whole."""

from collections.abc import Iterator

from sqlalchemy import RowMapping, text

from models.store.verification.findings import Finding, shown
from models.store.verification.places import check_description, check_path
from models.store.verification.snapshot import Snapshot

# `held` and `published`: how many open or approved, and how many merged Reviews have it in their latest submission.
DRAFTS = text("""
    with members as materialized (
        select m.draft_id, m.draft_version, r.review_id, r.status
        from reviews r join review_submission_drafts m
          on m.org_id = r.org_id and m.review_id = r.review_id and m.number = r.submission
        where r.org_id = :org_id and r.status in ('open', 'approved', 'merged')
    ),
    holding as (
        select draft_id, count(*) filter (where status <> 'merged') as held,
               count(*) filter (where status = 'merged') as published,
               max(review_id) as review_id, max(draft_version) as draft_version
        from members group by draft_id
    ),
    steps as (
        select draft_id, count(*) as steps, max(index) as last from draft_operations
        where org_id = :org_id group by draft_id
    )
    select d.draft_id, d.status, d.version, d.review_id, d.base_commit_id, d.base_version, d.reconciled_version,
           (select r.version from organization_refs r where r.org_id = :org_id) as reached,
           coalesce(h.held, 0) as held, coalesce(h.published, 0) as published, h.review_id as holder, h.draft_version,
           coalesce(s.steps, 0) as steps, coalesce(s.last, -1) as last, c.version as commit_version
    from drafts d
    left join holding h on h.draft_id = d.draft_id
    left join steps s on s.draft_id = d.draft_id
    left join commits c on c.org_id = d.org_id and c.commit_id = d.base_commit_id and c.scope = 'org'
    where d.org_id = :org_id order by d.draft_id
""")
STEPS = text("""
    select draft_id, index, path, new_path, description from draft_operations
    where org_id = :org_id and (path is not null or new_path is not null or description is not null)
    order by draft_id, index
""")
# A rebase may drop a create that another Draft builds on: the revision before it still has it.
LOST_TARGETS = text("""
    with made as (
        select memory_id from memories where org_id = :org_id
        union
        select memory_id from draft_operations where org_id = :org_id and action = 'create'
        union
        select operation ->> 'memory_id' from (
            select jsonb_array_elements(operations) as operation from draft_revisions where org_id = :org_id
        ) r where operation ->> 'action' = 'create'
    )
    select o.draft_id, o.index, o.memory_id
    from draft_operations o left join made m on m.memory_id = o.memory_id
    where o.org_id = :org_id and o.action <> 'create' and m.memory_id is null
    order by o.draft_id, o.index
""")


def check_drafts(snapshot: Snapshot) -> Iterator[Finding]:
    """Every Draft with its operations; their texts are checked with all others."""
    for row in snapshot.rows(DRAFTS):
        yield from _check_state(row)
        yield from _check_base(row)
        if row["steps"] != row["last"] + 1:
            what, where = "operations are missing", f"Draft {row['draft_id']}"
            yield Finding("draft.operations", what, where, str(row["last"] + 1), str(row["steps"]))
    for row in snapshot.rows(STEPS):
        where = f"operation {row['index']} of Draft {row['draft_id']}"
        for path in (row["path"], row["new_path"]):
            if path is not None:
                yield from check_path(path, where)
        if row["description"] is not None:
            yield from check_description(row["description"], where)
    for row in snapshot.rows(LOST_TARGETS):
        where = f"operation {row['index']} of Draft {row['draft_id']}"
        yield Finding("draft.target", "its Memory has never existed", where, "a Memory", row["memory_id"])


def _check_state(row: RowMapping) -> Iterator[Finding]:
    where = f"Draft {row['draft_id']}"
    expected = "merged" if row["published"] else "submitted" if row["held"] else "open or discarded"
    if row["held"] + row["published"] > 1:
        found = f"{row['held'] + row['published']}"
        yield Finding("draft.review", "several Reviews hold or published it", where, "one", found)
    if row["status"] not in expected.split(" or "):
        what = "the status is not that of its Review"
        yield Finding("draft.status", what, where, f"{expected} by {shown(row['holder'])}", row["status"])
        return
    if row["review_id"] != row["holder"]:
        what = "it names another Review than the one that holds or published it"
        yield Finding("draft.review", what, where, shown(row["holder"]), shown(row["review_id"]))
    if row["holder"] is not None:
        version = row["draft_version"] + (1 if row["published"] else 0)
        if row["version"] != version:
            what = "the version is not the one that was submitted"
            yield Finding("draft.version", what, where, str(version), str(row["version"]))


def _check_base(row: RowMapping) -> Iterator[Finding]:
    commit_version = 0 if row["base_commit_id"] is None else row["commit_version"]
    if row["base_version"] != commit_version:
        what = "the base is no commit of the organization with its version"
        found = f"{shown(row['base_commit_id'])} at version {row['base_version']}"
        yield Finding("draft.base", what, f"Draft {row['draft_id']}", f"version {shown(commit_version)}", found)
    if row["reached"] is not None and row["reconciled_version"] > row["reached"]:
        what = "it was compared with a version that the organization has not reached"
        expected, found = f"at most {row['reached']}", str(row["reconciled_version"])
        yield Finding("draft.compared", what, f"Draft {row['draft_id']}", expected, found)
