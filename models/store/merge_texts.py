"""The texts that merging asks for, read ahead: a statement for megabytes of them, however small each is."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, text

from models.identifiers import BlobId, DraftId, MemoryId, OrganizationId
from models.rules.evaluation import ProposedDraft
from models.rules.states import Body, MemoryState, State

PIECE_BYTES = 8 * 1024 * 1024
"""So much is read at once, and the one text more that goes beyond it."""

PIECE_TEXTS = 4_096

KEPT_CHARACTERS = 32 * 1024 * 1024
"""So much is kept while Drafts are compared; resolutions ask for what merging has read."""


def bodies_to_merge(
    drafts: Sequence[ProposedDraft],
    bases: Mapping[int, Mapping[MemoryId, MemoryState]],
    current: Mapping[MemoryId, MemoryState],
) -> list[BlobId]:
    """The bodies that comparing the Drafts will ask for, in that order, as far as can be told before.

    One too many is read in vain, and one too few by itself.
    """
    asked: dict[BlobId, None] = {}
    latest: dict[MemoryId, Body] = {}
    for draft in drafts:
        given = {each.memory_id: each.body for each in draft.operations if each.body is not None}
        for memory_id, body in given.items():
            then = bases.get(draft.base_version, {}).get(memory_id)
            base = _body(draft.overlay.get(memory_id, then))
            now = latest.get(memory_id) or _body(current.get(memory_id))
            if now is not None and len({base, now, body}) == len(("base", "now", "body")):
                asked |= {each.blob_id: None for each in (base, now, body) if each is not None}
        latest |= given
    return list(asked)


def _body(state: State) -> Body | None:
    return None if state is None else state.body


# Lengths are known without their texts: only those of the piece itself are read.
TEXTS = text("""
    select blob_id, content from (
        select found.blob_id, found.content,
               sum(octet_length(found.content)) over (order by found.place) - octet_length(found.content) as before
        from (
            select distinct on (a.place) a.place, c.blob_id, c.content
            from unnest(cast(:blob_ids as text[])) with ordinality as a(blob_id, place)
            join (
                select blob_id, content from blobs where org_id = :org_id and blob_id = any(:blob_ids)
                union all
                select blob_id, content from draft_operations
                where org_id = :org_id and draft_id = any(:draft_ids) and blob_id = any(:blob_ids)
            ) c on c.blob_id = a.blob_id
            order by a.place
        ) found
    ) sized
    where before < :bytes
""")


class TextReader:
    """Reads texts of blobs, and of bodies that Drafts carry, with those that will be asked for next.

    Args:
        connection: any.
        org_id: the organization.
        draft_ids: the Drafts whose operations carry texts that are no blobs yet.
        expected: the texts that will mostly be asked for, in that order; none is read before one is.
        piece_bytes: how much is read at once.
        kept_characters: how much is kept; what was asked for longest ago goes first.
    """

    def __init__(
        self,
        connection: Connection,
        org_id: OrganizationId,
        draft_ids: Sequence[DraftId],
        expected: Sequence[BlobId],
        *,
        piece_bytes: int = PIECE_BYTES,
        kept_characters: int = KEPT_CHARACTERS,
    ) -> None:
        self._connection = connection
        self._names = {"org_id": org_id, "draft_ids": list(draft_ids), "bytes": piece_bytes}
        self._expected = expected
        self._places = {blob_id: place for place, blob_id in enumerate(expected)}
        self._kept_characters = kept_characters
        self._kept: dict[BlobId, str] = {}
        self._characters = 0

    def read(self, blob_id: BlobId) -> str:
        """The text of a body.

        Raises:
            KeyError: there is none.
        """
        if blob_id not in self._kept:
            self._read_ahead(blob_id)
        content = self._kept.pop(blob_id)
        self._kept[blob_id] = content
        return content

    def _read_ahead(self, blob_id: BlobId) -> None:
        next_ones = self._expected[self._places[blob_id] + 1 :] if blob_id in self._places else []
        wanted = [blob_id, *(each for each in next_ones[:PIECE_TEXTS] if each not in self._kept)]
        found = {
            row.blob_id: row.content for row in self._connection.execute(TEXTS, self._names | {"blob_ids": wanted})
        }
        self._characters += sum(map(len, found.values()))
        while self._kept and self._characters > self._kept_characters:
            self._characters -= len(self._kept.pop(next(iter(self._kept))))
        self._kept |= found
