"""Hold a process's search index against Postgres and repair what differs, in turns of a few seconds (memory.md §4).

The index follows the feed and should never differ. Where it does, a memory that it lacks, or has as of an older
revision, is read and indexed, and one that is gone is taken out. Whatever changes meanwhile is told with its revision,
of which an older one is ignored: a turn may run twice, beside saves, and beside the follower.
"""

import time
from collections.abc import Callable, Iterator, Mapping

import psycopg
from temporalio import activity

from activities.messages import RepairTurn
from models.identifiers import OrganizationId, StructuredMemoryId
from models.store.structured_feed import Change, MemoryText, read_texts
from models.store.structured_revisions import MemoryKey, read_revisions
from search.comparing import indexed_revisions
from search.documents import Gone, Indexed, indexed
from search.memory_index import MemoryIndex

TURN_S = 10.0
"""A third of what an activity may take: what it did not come to is left to the next turn."""

PAGE = 1_000
"""Compared between two looks at the clock: even if all have to be analyzed, and are long, that takes seconds."""

READ_AT_ONCE = 100


class ReindexActivities:
    """The reindexing workflow's activity, of the process that keeps the index.

    Args:
        connect: makes an autocommit connection.
        index: what is repaired.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection], index: MemoryIndex) -> None:
        self._connect = connect
        self._index = index

    @activity.defn(no_thread_cancel_exception=True)
    def repair_index(self, turn: RepairTurn) -> RepairTurn:
        """Compare and repair for some seconds; where to go on, `finished` when all has been compared."""
        ends_at = time.monotonic() + TURN_S
        with self._connect() as connection:
            while not turn.finished and time.monotonic() < ends_at:
                turn = self._repair_page(connection, turn)
        return turn

    def _repair_page(self, connection: psycopg.Connection, turn: RepairTurn) -> RepairTurn:
        after = MemoryKey(OrganizationId(turn.after_org_id), StructuredMemoryId(turn.after_memory_id))
        stored = read_revisions(connection, after, PAGE)
        until = max(stored) if len(stored) == PAGE else None
        known = indexed_revisions(self._index, after, until)
        if known is None:
            return turn.model_copy(update={"ready": False, "finished": True})
        added = removed = 0
        for change in _differences(connection, stored, known):
            self._index.apply([change])
            removed += isinstance(change, Gone)
            added += isinstance(change, Indexed)
        return RepairTurn(
            after_org_id=until.org_id if until else turn.after_org_id,
            after_memory_id=until.memory_id if until else turn.after_memory_id,
            compared=turn.compared + len(stored),
            added=turn.added + added,
            removed=turn.removed + removed,
            finished=until is None,
        )


def _differences(
    connection: psycopg.Connection, stored: Mapping[MemoryKey, int], known: Mapping[MemoryKey, int]
) -> Iterator[Indexed | Gone]:
    """What the index has to be told, as the database has it now: the two were not read at one moment."""
    lacking = [key for key, revision in stored.items() if known.get(key, 0) < revision]
    for text in _texts(connection, lacking):
        yield indexed(text.org_id, text)
    unknown = [key for key in known if key not in stored]
    present = {MemoryKey(text.org_id, text.memory_id) for text in _texts(connection, unknown)}
    for key in unknown:
        if key not in present:
            yield Gone(key.org_id, key.memory_id, known[key])


def _texts(connection: psycopg.Connection, keys: list[MemoryKey]) -> Iterator[MemoryText]:
    for first in range(0, len(keys), READ_AT_ONCE):
        yield from read_texts(connection, [Change(*key, revision=0) for key in keys[first : first + READ_AT_ONCE]])
