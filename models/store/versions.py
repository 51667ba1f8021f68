"""One version of one chain: its tree as interval rows tell it, read piece by piece (publication.md §5).

A commit never changes, so the pieces need no common snapshot of the database. `connect` gives the connection of the
present piece: it is asked for again after every piece, so that nothing is held while a client is slow to take one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, Row, RowMapping, text

from models.identifiers import BlobId, MemoryId, OrganizationId, ProjectId
from models.rules.hashes import SELECTION_ENTRY_ID

Connect = Callable[[], Connection]

PIECE_ROWS = 1_000
PIECE_BYTES = 1_048_576
"""A piece of texts ends with the one that exceeds this; a text has at most 256 KiB, a selection 4 MB."""


class Vanished(Exception):  # noqa: N818  (a fact)
    """Some of a version is not there any more: its project was deleted meanwhile, or its rows are damaged."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the organization's chain, or of a project's."""

    org_id: OrganizationId
    project_id: ProjectId | None
    version: int

    @classmethod
    def of(cls, commit: RowMapping) -> "Version":
        """The version that a commit made."""
        return cls(commit["org_id"], commit["project_id"], commit["version"])

    @property
    def names(self) -> dict[str, object]:
        """What statements name it by."""
        return {"org_id": self.org_id, "project_id": self.project_id, "version": self.version}


def listed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces of one JSON list, none of them empty, with commas between them."""
    separator = b""
    for piece in pieces:
        yield separator + piece
        separator = b","


# Each Memory is looked up by its key: one after the other, not as a join that is planned by statistics.
ORGANIZATION_ENTRIES = text("""
    select w.memory_id as id, v.path, v.description, v.blob_id
    from unnest(cast(:memory_ids as text[])) with ordinality as w(memory_id, position)
    cross join lateral (
        select path, description, blob_id, to_version from memory_versions
        where org_id = :org_id and memory_id = w.memory_id and from_version <= :version
        order by from_version desc limit 1
    ) v
    where v.to_version is null or v.to_version > :version
    order by w.position
""")
PROJECT_ENTRIES = text("""
    select w.memory_id as id, v.path, v.description, v.blob_id
    from unnest(cast(:memory_ids as text[])) with ordinality as w(memory_id, position)
    cross join lateral (
        select path, description, blob_id, to_version from projection_versions
        where org_id = :org_id and project_id = :project_id and memory_id = w.memory_id and from_version <= :version
        order by from_version desc limit 1
    ) v
    where v.to_version is null or v.to_version > :version
    order by w.position
""")


def entries_json(connect: Connect, version: Version, memory_ids: Sequence[MemoryId]) -> Iterator[bytes]:
    """These entries of the tree, each of which is there, as JSON, piece by piece."""
    statement = ORGANIZATION_ENTRIES if version.project_id is None else PROJECT_ENTRIES
    for start in range(0, len(memory_ids), PIECE_ROWS):
        wanted = memory_ids[start : start + PIECE_ROWS]
        rows = connect().execute(statement, {**version.names, "memory_ids": wanted}).all()
        if len(rows) != len(wanted):
            raise Vanished
        yield joined_entries(rows, version)


def joined_entries(rows: Sequence[Row[Any]], version: Version) -> bytes:
    """Rows with `id`, `path`, `description` and `blob_id` as the JSON of entries, with commas between them."""
    return orjson.dumps([_entry(row, version) for row in rows])[1:-1]


def _entry(row: Row[Any], version: Version) -> dict[str, object]:
    of_memory = "org" if version.project_id is None else "selected_org"
    is_selection = row.id == SELECTION_ENTRY_ID
    return {
        "id": row.id,
        "type": SELECTION_ENTRY_ID if is_selection else "memory",
        "source": "config" if is_selection else of_memory,
        "path": row.path,
        "description": row.description,
        "blob_id": row.blob_id,
    }


# Lengths are known without their texts: only those of the piece itself are read.
TEXTS = text("""
    select blob_id, content from (
        select w.blob_id, w.position, b.content,
               sum(octet_length(b.content)) over (order by w.position) - octet_length(b.content) as bytes_before
        from unnest(cast(:blob_ids as text[])) with ordinality as w(blob_id, position)
        cross join lateral (select content from blobs where org_id = :org_id and blob_id = w.blob_id limit 1) b
    ) sized
    where bytes_before < :bytes order by position
""")


def texts_json(connect: Connect, org_id: OrganizationId, blob_ids: Sequence[BlobId]) -> Iterator[bytes]:
    """These texts, as JSON, piece by piece."""
    done = 0
    while done < len(blob_ids):
        wanted = blob_ids[done : done + PIECE_ROWS]
        rows = connect().execute(TEXTS, {"org_id": org_id, "blob_ids": wanted, "bytes": PIECE_BYTES}).all()
        if [row.blob_id for row in rows] != list(wanted[: len(rows)]) or not rows:
            raise Vanished
        shown = [{"blob_id": row.blob_id, "content": row.content} for row in rows]
        yield orjson.dumps(shown)[1:-1]
        done += len(rows)


SELECTION = text("""
    select b.content
    from (
        select blob_id, to_version from projection_versions
        where org_id = :org_id and project_id = :project_id and memory_id = :entry_id and from_version <= :version
        order by from_version desc limit 1
    ) e
    join blobs b on b.org_id = :org_id and b.blob_id = e.blob_id
    where e.to_version is null or e.to_version > :version
""")


def selection_json(connect: Connect, commit: RowMapping) -> bytes:
    """The selection that a Project Commit stands on; null for an Organization Commit."""
    if commit["project_id"] is None:
        return b"null"
    names = {**Version.of(commit).names, "entry_id": SELECTION_ENTRY_ID}
    content = connect().execute(SELECTION, names).scalar_one_or_none()
    if content is None:
        raise Vanished
    # The text is the JSON of the ids, and may be megabytes: it is handed on as it is.
    return b'{"revision":%d,"resource_ids":%s}' % (commit["selection_revision"], content.encode())
