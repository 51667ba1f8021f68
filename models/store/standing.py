"""Published Memory by its paths: who stands at one, now or at a version, and which are free."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, text

from models.identifiers import MemoryId, OrganizationId
from models.rules.paths import ancestor_keys, path_key

AT_PATHS = text("""
    select memory_id, path from memory_versions
    where org_id = :org_id and path_key = any(:keys) and to_version is null and from_version <= :version
    union all
    select memory_id, path from memory_versions
    where org_id = :org_id and path_key = any(:keys) and from_version <= :version and to_version > :version
""")


def memories_at_paths(
    connection: Connection, org_id: OrganizationId, paths: Collection[str], version: int
) -> dict[str, MemoryId]:
    """Which Memory stood at each path at a version; paths in NFC, compared as they are."""
    if not paths or version == 0:
        return {}
    keys = [path_key(path) for path in paths]
    rows = connection.execute(AT_PATHS, {"org_id": org_id, "keys": keys, "version": version})
    found: dict[str, MemoryId] = {row.path: row.memory_id for row in rows}
    return {path: found[path] for path in paths if path in found}


def memories_at_keys(
    connection: Connection, org_id: OrganizationId, keys: Collection[str], version: int
) -> set[MemoryId]:
    """The Memories that stood at any of the path keys at a version."""
    rows = connection.execute(AT_PATHS, {"org_id": org_id, "keys": list(keys), "version": version})
    return {row.memory_id for row in rows}


# A range probe a key in byte order: from "k/" on lies everything inside the folder k, up to "k0" ('0' follows '/').
# The order keeps it a probe of that index: as a join it was planned, without statistics, as all rows for each key.
OCCUPANTS = text("""
    select memory_id, path from memory_versions
    where org_id = :org_id and to_version is null and path_key = any(:at_or_above)
    union all
    select v.memory_id, v.path
    from unnest(cast(:keys as text[])) as k(key)
    cross join lateral (
        select memory_id, path from memory_versions
        where org_id = :org_id and to_version is null
          and path_key >= (k.key || '/') collate "C" and path_key < (k.key || '0') collate "C"
        order by path_key
    ) v
""")


def occupants(connection: Connection, org_id: OrganizationId, keys: Sequence[str]) -> dict[MemoryId, str]:
    """The paths of active Memories at the keys, at their folders, or inside them."""
    if not keys:
        return {}
    at_or_above = {*keys, *(ancestor for key in keys for ancestor in ancestor_keys(key))}
    rows = connection.execute(OCCUPANTS, {"org_id": org_id, "keys": list(keys), "at_or_above": sorted(at_or_above)})
    return {row.memory_id: row.path for row in rows}


# In the way of a key are those at it or at one of its folders, and, of all that may lie inside it, any one.
IN_THE_WAY = text("""
    select path_key as key, true as stands from memory_versions
    where org_id = :org_id and to_version is null and path_key = any(:at_or_above) and not memory_id = any(:besides)
    union all
    select k.key, false
    from unnest(cast(:keys as text[])) as k(key)
    cross join lateral (
        select path_key from memory_versions
        where org_id = :org_id and to_version is null and not memory_id = any(:besides)
          and path_key >= (k.key || '/') collate "C" and path_key < (k.key || '0') collate "C"
        order by path_key limit 1
    ) v
""")


def free_paths(
    connection: Connection, org_id: OrganizationId, paths: Collection[str], *, besides: Collection[MemoryId]
) -> set[str]:
    """Those of the paths that collide with no active Memory, leaving out some."""
    if not paths:
        return set()
    places = {path: (key, *ancestor_keys(key)) for path in paths for key in [path_key(path)]}
    names = {
        "org_id": org_id,
        "keys": sorted({place[0] for place in places.values()}),
        "at_or_above": sorted({key for place in places.values() for key in place}),
        "besides": sorted(besides),
    }
    rows = connection.execute(IN_THE_WAY, names).all()
    standing, folders = {row.key for row in rows if row.stands}, {row.key for row in rows if not row.stands}
    return {path for path, place in places.items() if place[0] not in folders and standing.isdisjoint(place)}
