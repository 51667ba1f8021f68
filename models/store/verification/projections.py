"""Projections: what a project reads is its selection times the organization, at every version of both."""

from collections.abc import Iterator

from sqlalchemy import RowMapping, text

from models.rules.hashes import SELECTION_ENTRY_ID
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

OVERLAPS = text("""
    select * from (
        select project_id, memory_id, from_version,
               lag(from_version) over versions as earlier, lag(to_version) over versions as ended
        from projection_versions where org_id = :org_id
        window versions as (partition by project_id, memory_id order by from_version)
    ) intervals
    where earlier is not null and (ended is null or ended > from_version)
    order by project_id, memory_id, from_version
""")
STANDPOINTS = text("""
    select c.project_id, c.version, c.commit_id, c.org_commit_id, o.version as stands_on,
           (select version from organization_refs where org_id = :org_id) as reached,
           lag(o.version) over (partition by c.project_id order by c.version) as before
    from commits c
    left join commits o on o.org_id = c.org_id and o.commit_id = c.org_commit_id and o.scope = 'org'
    where c.org_id = :org_id and c.scope = 'project'
    order by c.project_id, c.version
""")
# Each entry beside what the Memory said at the organization's version that the entry's first commit stands on, and the
# version that its last commit before the next change stood on. The Memory's last version up to the former is
# found by sorting both together.
WRONG_ENTRIES = text("""
    with stands as materialized (
        select c.project_id, c.version, o.version as stands_on
        from commits c join commits o on o.org_id = c.org_id and o.commit_id = c.org_commit_id and o.scope = 'org'
        where c.org_id = :org_id and c.scope = 'project'
    ),
    sorted as (
        select memory_id, at, project_id, from_version, max(said) over (partition by memory_id order by at) as said
        from (
            select memory_id, from_version as at, from_version as said, null as project_id, 0 as from_version
            from memory_versions where org_id = :org_id
            union all
            select p.memory_id, b.stands_on, null, p.project_id, p.from_version
            from projection_versions p
            join stands b on b.project_id = p.project_id and b.version = p.from_version
            where p.org_id = :org_id and p.memory_id <> :selection
        ) both_kinds
    )
    select p.project_id, p.memory_id, p.from_version, s.at as stands_on, v.to_version as changed,
           p.path, p.description, p.blob_id, v.path as said_path, v.description as said_description,
           v.blob_id as said_blob_id
    from sorted s
    join projection_versions p
      on p.org_id = :org_id and p.project_id = s.project_id and p.memory_id = s.memory_id
     and p.from_version = s.from_version
    left join stands e on e.project_id = p.project_id and e.version = p.to_version
    left join memory_versions v
      on v.org_id = :org_id and v.memory_id = s.memory_id and v.from_version = s.said
     and (v.to_version is null or v.to_version > s.at)
    where (v.path, v.description, v.blob_id) is distinct from (p.path, p.description, p.blob_id)
       or v.to_version < coalesce(e.stands_on, (select version + 1 from organization_refs where org_id = :org_id))
    order by p.project_id, p.from_version, p.memory_id
""")


def check_projections(snapshot: Snapshot) -> Iterator[Finding]:
    """Every entry of every project, and the organization's version that each Project Commit stands on."""
    for row in snapshot.rows(OVERLAPS):
        where = f"entry {row['memory_id']} of project {row['project_id']} from version {row['earlier']}"
        expected, found = f"its end by version {row['from_version']}", shown(row["ended"])
        yield Finding("projection.interval", "two versions of an entry overlap", where, expected, found)
    for row in snapshot.rows(STANDPOINTS):
        yield from _check_standpoint(row)
    for row in snapshot.rows(WRONG_ENTRIES, selection=SELECTION_ENTRY_ID):
        yield _wrong_entry(row)


def _check_standpoint(row: RowMapping) -> Iterator[Finding]:
    where = f"commit {row['commit_id']}, version {row['version']} of project {row['project_id']}"
    stands_on, before, reached = row["stands_on"], row["before"], row["reached"]
    if stands_on is None:
        what = "it stands on no commit of the organization"
        yield Finding("projection.base", what, where, "an Organization Commit", shown(row["org_commit_id"]))
    elif reached is not None and stands_on > reached:
        what = "the project is ahead of the organization"
        yield Finding("projection.base", what, where, f"at most version {reached}", f"version {stands_on}")
    elif before is not None and stands_on < before:
        what = "the project went back"
        yield Finding("projection.base", what, where, f"at least version {before}", f"version {stands_on}")


def _wrong_entry(row: RowMapping) -> Finding:
    where = f"entry {row['memory_id']} of project {row['project_id']} from version {row['from_version']}"
    said = (row["said_path"], row["said_description"], row["said_blob_id"])
    shows = (row["path"], row["description"], row["blob_id"])
    if said == shows:
        what = "the project did not move with a Memory that it selects"
        return Finding("projection.behind", what, where, f"its end at version {row['changed']}", "the former text")
    what = f"the entry is not the Memory at version {row['stands_on']} of the organization"
    return Finding("projection.entry", what, where, _entry(said), _entry(shows))


def _entry(fields: tuple[str | None, str | None, str | None]) -> str:
    path, description, blob_id = fields
    if blob_id is None:
        return "nothing"
    return f"{shown(path)} {shown(description)} {blob_id[:16]}"
