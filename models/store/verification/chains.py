"""Commits and refs: one gapless chain for the organization and for each project, each commit named by its hash."""

from collections.abc import Iterator, Mapping

from sqlalchemy import RowMapping, text

from models.rules.hashes import CommitFields, commit_id
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

ORGANIZATION = ""
"""The owner of the organization's own chain; a project's is its id."""

REFS = text("""
    select '' as owner, count(*) > 0 as kept, max(commit_id) as commit_id, coalesce(max(version), 0) as version
    from organization_refs where org_id = :org_id
    union all
    select p.project_id, r.project_id is not null, r.commit_id, coalesce(r.version, 0)
    from projects p left join project_refs r on r.org_id = p.org_id and r.project_id = p.project_id
    where p.org_id = :org_id and p.state <> 'deleted'
""")
COMMITS = text("""
    select c.*, coalesce(c.project_id, '') as owner from commits c where c.org_id = :org_id
    order by owner, c.version, c.commit_id
""")


def refs(snapshot: Snapshot) -> dict[str, RowMapping]:
    """Where each chain stands, by owner; `kept` is false where the row is missing."""
    return {row["owner"]: row for row in snapshot.all(REFS)}


def check_chains(snapshot: Snapshot) -> Iterator[Finding]:
    """Every chain is linear, its commits hash to their ids, and its ref is its last commit."""
    expected = refs(snapshot)
    for owner, ref in expected.items():
        if not ref["kept"]:
            yield Finding("chain.ref", "the ref is missing", named(owner), "a row", "nothing")
    heads: dict[str, RowMapping] = {}
    for commit in snapshot.rows(COMMITS):
        owner = commit["owner"]
        if owner not in expected and owner not in heads:
            yield Finding("chain.ref", "a chain belongs to no project", named(owner), "no commit", commit["commit_id"])
        yield from _check_step(heads.get(owner), commit)
        yield from _check_id(commit)
        heads[owner] = commit
    yield from _check_refs(expected, heads)


def named(owner: str) -> str:
    """Whose chain it is, for a person."""
    return f"project {owner}" if owner else "the organization"


def _check_step(parent: RowMapping | None, commit: RowMapping) -> Iterator[Finding]:
    where = f"commit {commit['commit_id']} of {named(commit['owner'])}"
    version = 1 if parent is None else parent["version"] + 1
    if commit["version"] != version:
        what = "versions do not follow each other"
        yield Finding("chain.gap", what, where, f"version {version}", f"version {commit['version']}")
    parent_id = None if parent is None else parent["commit_id"]
    if commit["parent_commit_id"] != parent_id:
        what = "the parent is not the commit before it"
        yield Finding("commit.parent", what, where, shown(parent_id), shown(commit["parent_commit_id"]))
    if parent is not None and commit["created_at"] < parent["created_at"]:
        what = "a commit is older than its parent"
        yield Finding("commit.time", what, where, f"at least {parent['created_at']}", str(commit["created_at"]))


def _check_id(commit: RowMapping) -> Iterator[Finding]:
    found = commit_id(CommitFields.of(commit))
    if found != commit["commit_id"]:
        where = f"commit {commit['commit_id']}, version {commit['version']} of {named(commit['owner'])}"
        yield Finding("commit.id", "the fields do not hash to the commit's id", where, commit["commit_id"], found)


def _check_refs(expected: Mapping[str, RowMapping], heads: Mapping[str, RowMapping]) -> Iterator[Finding]:
    for owner, ref in expected.items():
        head = heads.get(owner)
        last = (None, 0) if head is None else (head["commit_id"], head["version"])
        if ref["kept"] and (ref["commit_id"], ref["version"]) != last:
            yield Finding(
                "chain.ref",
                "the ref is not the last commit",
                f"the ref of {named(owner)}",
                f"{shown(last[0])} at version {last[1]}",
                f"{shown(ref['commit_id'])} at version {ref['version']}",
            )
