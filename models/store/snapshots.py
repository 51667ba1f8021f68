"""Snapshots: a commit with its whole tree and every text, as JSON, part by part (publication.md §5).

A hundred thousand entries never become a hundred thousand objects. What is kept from one part to the next is the hash
of each bucket, and the ids of texts that several Memories have.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import Row, RowMapping, text

from models.identifiers import BlobId, MemoryId
from models.rules.growing_tree import GrowingTree
from models.schemas.commits import CommitBody
from models.store.versions import (
    PIECE_ROWS,
    Connect,
    Vanished,
    Version,
    joined_entries,
    listed,
    selection_json,
    texts_json,
)

# Every Memory there ever was, looked up as it was then: how often it changed before and after costs nothing.
ORGANIZATION_PIECE = text("""
    select m.memory_id as id, v.path, v.description, v.blob_id, v.bucket, v.entry_digest
    from (
        select memory_id from memories
        where org_id = :org_id and memory_id > :after order by memory_id limit :rows
    ) m
    left join lateral (
        select path, description, blob_id, bucket, entry_digest, to_version from memory_versions
        where org_id = :org_id and memory_id = m.memory_id and from_version <= :version
        order by from_version desc limit 1
    ) v on v.to_version is null or v.to_version > :version
    order by m.memory_id
""")
PROJECT_PIECE = text("""
    select memory_id as id, path, description, blob_id, bucket, entry_digest
    from projection_versions
    where org_id = :org_id and project_id = :project_id and memory_id > :after
      and from_version <= :version and (to_version is null or to_version > :version)
    order by memory_id limit :rows
""")

ORGANIZATION_SHARED = text("""
    select blob_id, min(memory_id) from memory_versions
    where org_id = :org_id and from_version <= :version and (to_version is null or to_version > :version)
    group by blob_id having count(*) > 1
""")
PROJECT_SHARED = text("""
    select blob_id, min(memory_id) from projection_versions
    where org_id = :org_id and project_id = :project_id
      and from_version <= :version and (to_version is null or to_version > :version)
    group by blob_id having count(*) > 1
""")

Entries = Sequence[Row[Any]]


def snapshot_parts(connect: Connect, commit: RowMapping) -> Iterator[bytes]:
    """The JSON of a commit's `Snapshot`; a commit never changes, and neither does this.

    Raises:
        Vanished: between two parts, some of it has gone.
    """
    version = Version.of(commit)
    yield b'{"commit":' + CommitBody(**commit).model_dump_json().encode()
    yield b',"tree":{"tree_id":' + orjson.dumps(commit["tree_id"]) + b',"entries":['
    yield from listed(_entries(connect, version, commit["tree_id"]))
    yield b']},"blobs":['
    yield from listed(_texts(connect, version))
    yield b'],"project_org_selection":' + selection_json(connect, commit) + b"}"


def _entries(connect: Connect, version: Version, tree_id: str) -> Iterator[bytes]:
    """All entries by id, and the certainty that these are all."""
    tree = GrowingTree()
    for entries in _pieces(connect, version):
        for entry in entries:
            tree.add(entry.bucket, entry.entry_digest)
        yield joined_entries(entries, version)
    if tree.tree_id != tree_id:
        raise Vanished


def _texts(connect: Connect, version: Version) -> Iterator[bytes]:
    """Every text once, where the first entry that has it stands."""
    shared = _shared(connect, version)
    for entries in _pieces(connect, version):
        first_held = [entry.blob_id for entry in entries if shared.get(entry.blob_id, entry.id) == entry.id]
        yield from texts_json(connect, version.org_id, first_held)


def _shared(connect: Connect, version: Version) -> Mapping[BlobId, MemoryId]:
    """The first entry, by id, for each text that several entries have."""
    statement = ORGANIZATION_SHARED if version.project_id is None else PROJECT_SHARED
    return {row[0]: row[1] for row in connect().execute(statement, version.names)}


def _pieces(connect: Connect, version: Version) -> Iterator[Entries]:
    """The tree's entries by id, in pieces that are not empty."""
    statement = ORGANIZATION_PIECE if version.project_id is None else PROJECT_PIECE
    after = ""
    while True:
        rows = connect().execute(statement, {**version.names, "after": after, "rows": PIECE_ROWS}).all()
        if not rows:
            return
        after = rows[-1].id
        present = [row for row in rows if row.blob_id is not None]
        if present:
            yield present
