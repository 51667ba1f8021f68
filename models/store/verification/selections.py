"""Selections: what a project uses, as rows, as the entry in its tree, and as the entries beside it."""

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby

from sqlalchemy import RowMapping, text

from models.rules.hashes import SELECTION_ENTRY_ID, selection_body
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

INACTIVE = text("""
    select s.project_id, s.memory_id, m.status
    from org_selections s left join memories m on m.org_id = s.org_id and m.memory_id = s.memory_id
    where s.org_id = :org_id and m.status is distinct from 'active'
    order by s.project_id, s.memory_id
""")
SELECTED = text("""
    select memory_id from org_selections where org_id = :org_id and project_id = :project_id order by memory_id
""")
STRAYS = text("""
    select s.project_id, count(*) as number
    from org_selections s left join project_refs r on r.org_id = s.org_id and r.project_id = s.project_id
    where s.org_id = :org_id and coalesce(r.version, 0) = 0
    group by s.project_id order by s.project_id
""")
MOVES = text("""
    select project_id, from_version as version, true as opens, memory_id, blob_id
    from projection_versions where org_id = :org_id
    union all
    select project_id, to_version, false, memory_id, blob_id
    from projection_versions where org_id = :org_id and to_version is not null
    order by project_id, version, opens
""")
REVISIONS = text("""
    select c.project_id, c.version, c.selection_revision as revision, s.memory_id is not null as reselected,
           lag(c.selection_revision, 1, 0) over (partition by c.project_id order by c.version) as before
    from commits c
    left join projection_versions s on s.org_id = c.org_id and s.project_id = c.project_id
         and s.memory_id = :selection and s.from_version = c.version
    where c.org_id = :org_id and c.scope = 'project'
    order by c.project_id, c.version
""")
REFS = text("""
    select r.project_id, r.selection_revision as revision, coalesce(c.selection_revision, 0) as expected
    from project_refs r
    left join commits c on c.org_id = r.org_id and c.commit_id = r.commit_id
    where r.org_id = :org_id and r.selection_revision <> coalesce(c.selection_revision, 0)
    order by r.project_id
""")
CONTENT = text("select content from blobs where org_id = :org_id and blob_id = :blob_id")


def check_selections(snapshot: Snapshot) -> Iterator[Finding]:
    """Every selection, at every version of its project and now."""
    for row in snapshot.rows(INACTIVE):
        where = f"Memory {row['memory_id']} selected by project {row['project_id']}"
        found = "an unknown id" if row["status"] is None else row["status"]
        yield Finding("selection.active", "a selection names what is not there", where, "an active Memory", found)
    yield from _check_revisions(snapshot)
    yield from _check_entries(snapshot)
    for row in snapshot.rows(STRAYS):
        what = "Memories are selected that no projection shows"
        yield Finding("selection.rows", what, f"project {row['project_id']}", "none", str(row["number"]))


def _check_revisions(snapshot: Snapshot) -> Iterator[Finding]:
    what = "the revision does not count the selection's changes"
    for row in snapshot.rows(REVISIONS, selection=SELECTION_ENTRY_ID):
        expected = row["before"] + (1 if row["reselected"] else 0)
        if row["revision"] != expected:
            where = f"version {row['version']} of project {row['project_id']}"
            yield Finding("selection.revision", what, where, str(expected), str(row["revision"]))
    for row in snapshot.rows(REFS):
        where = f"the ref of project {row['project_id']}"
        yield Finding("selection.revision", what, where, str(row["expected"]), str(row["revision"]))


def _check_entries(snapshot: Snapshot) -> Iterator[Finding]:
    """The selection's own entry names the entries beside it at every version, and the selected rows now."""
    for project_id, moves in groupby(snapshot.rows(MOVES), key=lambda row: row["project_id"]):
        shows: set[str] = set()
        named: set[str] = set()
        for version, changes in groupby(moves, key=lambda row: row["version"]):
            where = f"version {version} of project {project_id}"
            moved, blob_id = _apply(shows, changes)
            if blob_id is not None:
                named = _named(snapshot, blob_id)
                yield from _check_form(snapshot, blob_id, named, where)
            if (moved or blob_id is not None) and named != shows:
                what = "the selection does not name the entries beside it"
                yield Finding("selection.entry", what, where, *_difference(named, shows))
        rows = {row["memory_id"] for row in snapshot.rows(SELECTED, project_id=project_id)}
        if rows != named:
            what = "what is selected is not what the projection says is selected"
            yield Finding("selection.rows", what, f"project {project_id}", *_difference(named, rows))


def _apply(shows: set[str], changes: Iterator[RowMapping]) -> tuple[bool, str | None]:
    """Bring the entries one version further: whether another Memory is among them, and the new selection's blob."""
    left: set[str] = set()
    entered: set[str] = set()
    blob_id: str | None = None
    for change in changes:
        if change["memory_id"] == SELECTION_ENTRY_ID:
            blob_id = change["blob_id"] if change["opens"] else None
        else:
            (entered if change["opens"] else left).add(change["memory_id"])
    shows -= left
    shows |= entered
    return left != entered, blob_id


def _named(snapshot: Snapshot, blob_id: str) -> set[str]:
    """The ids that a selection's blob names; none where it is not one."""
    for row in snapshot.all(CONTENT, blob_id=blob_id):
        with suppress(ValueError, TypeError):
            return set(json.loads(row["content"]))
    return set()


def _check_form(snapshot: Snapshot, blob_id: str, named: set[str], where: str) -> Iterator[Finding]:
    expected = selection_body(named)
    for row in snapshot.all(CONTENT, blob_id=blob_id):
        if row["content"] != expected:
            what = "a selection is not written as selections are"
            yield Finding("selection.form", what, where, shown(expected), shown(row["content"]))


def _difference(expected: set[str], found: set[str]) -> tuple[str, str]:
    """What is missing and what is too much, by number and by the first id."""
    missing, more = sorted(expected - found), sorted(found - expected)
    return _counted(expected, missing), _counted(found, more)


def _counted(ids: set[str], only: list[str]) -> str:
    return f"{len(ids)} ids" + (f" with {only[0]}" if only else "")
