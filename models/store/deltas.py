"""Deltas: what to do to one version of a chain to have another, in either direction (publication.md §5).

Read from where intervals begin and end: the cost is that of what changed between the two, whatever the tree holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson
from sqlalchemy import Connection, RowMapping, text

from models.identifiers import BlobId, MemoryId
from models.schemas.commits import CommitBody
from models.store.versions import PIECE_ROWS, Connect, Version, entries_json, listed, selection_json, texts_json

# What holds on one side only begins or ends in between; what holds on neither side drops out, and what is the same on
# both, changed and changed back, has the same digest.
ORGANIZATION_CHANGED = """
    with changed as (
        select memory_id, blob_id, entry_digest, from_version, to_version from memory_versions
        where org_id = :org_id and from_version > :low and from_version <= :high
        union
        select memory_id, blob_id, entry_digest, from_version, to_version from memory_versions
        where org_id = :org_id and to_version > :low and to_version <= :high
    )
"""
# Above 0 is every version: it is said for the index that has it as its condition.
PROJECT_CHANGED = """
    with changed as (
        select memory_id, blob_id, entry_digest, from_version, to_version from projection_versions
        where org_id = :org_id and project_id = :project_id and from_version > :low and from_version <= :high
          and from_version > 0
        union
        select memory_id, blob_id, entry_digest, from_version, to_version from projection_versions
        where org_id = :org_id and project_id = :project_id and to_version > :low and to_version <= :high
    )
"""
IN_BASE = "from_version <= :base and (to_version is null or to_version > :base)"
IN_TARGET = "from_version <= :target and (to_version is null or to_version > :target)"
UPSERTED = f"""
    select memory_id, blob_id from (
        select memory_id, blob_id, entry_digest from changed where {IN_TARGET}
        except
        select memory_id, blob_id, entry_digest from changed where {IN_BASE}
    ) differing order by memory_id
"""  # noqa: S608  (constants)
REMOVED = f"""
    select memory_id from (
        select memory_id from changed where {IN_BASE} except select memory_id from changed where {IN_TARGET}
    ) gone order by memory_id
"""  # noqa: S608  (constants)
ORGANIZATION_UPSERTED = text(f"{ORGANIZATION_CHANGED} {UPSERTED}")
ORGANIZATION_REMOVED = text(f"{ORGANIZATION_CHANGED} {REMOVED}")
PROJECT_UPSERTED = text(f"{PROJECT_CHANGED} {UPSERTED}")
PROJECT_REMOVED = text(f"{PROJECT_CHANGED} {REMOVED}")

# A text is often there already, under another id or as the text of what was moved: each is a probe of an index.
ORGANIZATION_LACKS = text("""
    select w.blob_id
    from unnest(cast(:blob_ids as text[])) as w(blob_id)
    left join lateral (
        select v.blob_id from memory_versions v
        where v.org_id = :org_id and v.blob_id = w.blob_id
          and v.from_version <= :version and (v.to_version is null or v.to_version > :version)
        limit 1
    ) held on true
    where held.blob_id is null order by w.blob_id
""")
PROJECT_LACKS = text("""
    select w.blob_id
    from unnest(cast(:blob_ids as text[])) as w(blob_id)
    left join lateral (
        select v.blob_id
        from memory_versions v
        cross join lateral (
            select p.blob_id, p.to_version from projection_versions p
            where p.org_id = :org_id and p.project_id = :project_id and p.memory_id = v.memory_id
              and p.from_version <= :version
            order by p.from_version desc limit 1
        ) e
        where v.org_id = :org_id and v.blob_id = w.blob_id
          and e.blob_id = w.blob_id and (e.to_version is null or e.to_version > :version)
        limit 1
    ) held on true
    where held.blob_id is null order by w.blob_id
""")


@dataclass(frozen=True, slots=True)
class Delta:
    """What differs between two versions of one chain; ids only.

    Args:
        base: the commit that a client has.
        target: the commit that it wants.
        upserted: the entries of the target that the base has not, or not so, by id.
        removed: the entries of the base that the target has not, by id.
        blob_ids: the texts of the target that the base has not.
    """

    base: RowMapping
    target: RowMapping
    upserted: Sequence[MemoryId]
    removed: Sequence[MemoryId]
    blob_ids: Sequence[BlobId]


def compare(connection: Connection, base: RowMapping, target: RowMapping) -> Delta:
    """What differs between two commits of one chain."""
    of_organization = base["project_id"] is None
    names = {
        "org_id": base["org_id"],
        "project_id": base["project_id"],
        "base": base["version"],
        "target": target["version"],
        "low": min(base["version"], target["version"]),
        "high": max(base["version"], target["version"]),
    }
    upserted = connection.execute(ORGANIZATION_UPSERTED if of_organization else PROJECT_UPSERTED, names).all()
    removed = connection.execute(ORGANIZATION_REMOVED if of_organization else PROJECT_REMOVED, names).scalars().all()
    texts = sorted({row.blob_id for row in upserted})
    lacking = connection.execute(
        ORGANIZATION_LACKS if of_organization else PROJECT_LACKS, {**Version.of(base).names, "blob_ids": texts}
    )
    return Delta(base, target, [row.memory_id for row in upserted], removed, lacking.scalars().all())


def delta_parts(connect: Connect, delta: Delta) -> Iterator[bytes]:
    """The JSON of a `Delta`, part by part; between two commits it never changes.

    Raises:
        Vanished: between two parts, some of it has gone.
    """
    version = Version.of(delta.target)
    yield b'{"base":' + orjson.dumps(delta.base["commit_id"]) + b',"target":' + orjson.dumps(delta.target["commit_id"])
    yield b',"commit":' + CommitBody(**delta.target).model_dump_json().encode()
    yield b',"tree_id":' + orjson.dumps(delta.target["tree_id"]) + b',"upserted":['
    yield from listed(entries_json(connect, version, delta.upserted))
    yield b'],"removed":['
    yield from listed(_ids(delta.removed))
    yield b'],"blobs":['
    yield from listed(texts_json(connect, version.org_id, delta.blob_ids))
    yield b'],"project_org_selection":' + selection_json(connect, delta.target) + b"}"


def _ids(ids: Sequence[MemoryId]) -> Iterator[bytes]:
    for start in range(0, len(ids), PIECE_ROWS):
        yield orjson.dumps(ids[start : start + PIECE_ROWS])[1:-1]
