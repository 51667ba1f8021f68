"""Identities: a Memory's versions do not overlap, gaps end with a restore, and its row says what they say."""

from collections.abc import Iterator

from sqlalchemy import RowMapping, text

from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

# A gap is the time for which a Memory was deleted: the Review of the commit that has it again has restored it.
BROKEN_INTERVALS = text("""
    with intervals as (
        select memory_id, from_version, to_version,
               lag(from_version) over versions as earlier, lag(to_version) over versions as ended
        from memory_versions where org_id = :org_id
        window versions as (partition by memory_id order by from_version)
    ), restored as (
        select distinct c.version, s.memory_id
        from commits c
        join reviews r on r.org_id = :org_id and r.review_id = c.review_id
        join review_submission_states s
          on s.org_id = :org_id and s.review_id = r.review_id and s.number = r.submission
        where c.org_id = :org_id and c.project_id is null and s.created_for is not null
    )
    select i.* from intervals i
    left join restored b on b.memory_id = i.memory_id and b.version = i.from_version
    where i.earlier is not null and i.ended is distinct from i.from_version
      and (i.ended is null or i.ended > i.from_version or b.version is null)
    order by i.memory_id, i.from_version
""")
IDENTITIES = text("""
    select coalesce(m.memory_id, v.memory_id) as memory_id, m.memory_id is not null as kept,
           m.status, m.revision, m.created_at, m.updated_at,
           coalesce(v.versions, 0) as versions, v.changes, v.active, f.created_at as first_at, l.created_at as last_at
    from (select memory_id, status, revision, created_at, updated_at from memories where org_id = :org_id) m
    full join (
        select memory_id, count(*) as versions, bool_or(to_version is null) as active, min(from_version) as first,
               greatest(max(from_version), max(to_version)) as last,
               count(*) + count(*) filter (where to_version < following or following is null and to_version is not null)
                   as changes
        from (
            select memory_id, from_version, to_version,
                   lead(from_version) over (partition by memory_id order by from_version) as following
            from memory_versions where org_id = :org_id
        ) intervals group by memory_id
    ) v on v.memory_id = m.memory_id
    left join commits f on f.org_id = :org_id and f.project_id is null and f.version = v.first
    left join commits l on l.org_id = :org_id and l.project_id is null and l.version = v.last
""")


def check_memories(snapshot: Snapshot) -> Iterator[Finding]:
    """Every Memory's versions, and the row that stands for it."""
    for row in snapshot.rows(BROKEN_INTERVALS):
        where = f"Memory {row['memory_id']} from version {row['earlier']}"
        what = "its versions overlap" if row["ended"] is None or row["ended"] > row["from_version"] else "a gap follows"
        expected = f"its end at version {row['from_version']}"
        found = "no end" if row["ended"] is None else f"version {row['ended']}"
        yield Finding("memory.interval", what, where, expected, found)
    for row in snapshot.rows(IDENTITIES):
        yield from _check_identity(row)


def _check_identity(row: RowMapping) -> Iterator[Finding]:
    where = f"Memory {row['memory_id']}"
    if not row["kept"] or not row["versions"]:
        found = f"a row and {row['versions']} versions" if row["kept"] else f"no row and {row['versions']} versions"
        yield Finding("memory.row", "a Memory is not whole", where, "a row and its versions", found)
        return
    status = "active" if row["active"] else "archived"
    if row["status"] != status:
        yield Finding("memory.status", "the status is not that of its versions", where, status, row["status"])
    if row["revision"] != row["changes"]:
        what = "the revision does not count its changes"
        yield Finding("memory.revision", what, where, str(row["changes"]), str(row["revision"]))
    for column, at in (("created_at", row["first_at"]), ("updated_at", row["last_at"])):
        if at is not None and row[column] != at:
            what = f"{column} is not the time of its commit"
            yield Finding("memory.time", what, where, shown(at), shown(row[column]))
