"""Finding memories by relevance: ranked by the index, and shown as Postgres has them now.

A hit is shown if the row still has the revision that was scored. Where another process has written meanwhile, what was
read is indexed and everything ranked again. While the index is being rebuilt, small envelopes are scored from Postgres.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import psycopg

from models.errors import IndexNotReady
from models.identifiers import OrganizationId, StructuredMemoryId
from models.rules.structured_fields import MemoryType
from models.rules.visibility import Envelope, Place
from models.store.structured import MemoryRecord, count_memories, list_memories, read_memories_by_id
from search.analysis import document_terms, query_terms
from search.documents import Gone, Indexed, indexed
from search.memory_index import MemoryIndex
from search.ranking import Hit
from search.scoring import score_exhaustively

SCORED_FROM_POSTGRES = 1_500
"""Memories of an envelope that are scored without the index while it is being rebuilt (memory.md §4)."""

ATTEMPTS = 8
"""How often a search is repeated whose hits change while they are read."""


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory as it is stored now, with its score."""

    record: MemoryRecord
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """The best memories, the highest score first and then by id.

    `total` is how many match, where that was asked; `in_scope` how many the envelope, or the asked part of it, holds.
    """

    memories: tuple[ScoredMemory, ...]
    total: int | None
    in_scope: int
    index_revision: int


def find(
    connection: psycopg.Connection,
    index: MemoryIndex,
    envelope: Envelope,
    query: str,
    *,
    k: int,
    type: MemoryType | None = None,  # noqa: A002  (the field's name in the contract)
    places: Sequence[Place] | None = None,
    count: bool = False,
) -> Found:
    """The `k` memories of an envelope that matter most to a query; the arguments are those of `MemoryIndex.rank`.

    Raises:
        IndexNotReady: the index is being rebuilt, and the envelope holds more than 1,500 memories.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            ranking = index.rank(envelope, query, k=k, type=type, places=places, count=count)
        except IndexNotReady:
            return _find_in_postgres(connection, index, envelope, query, k=k, type=type, places=places)
        ids = [hit.memory_id for hit in ranking.hits]
        records = read_memories_by_id(connection, envelope, ids) if ids else {}
        changes = list(_changes(envelope.org_id, ranking.hits, records))
        if not changes or attempt == ATTEMPTS:
            break
        index.apply(changes)
    memories = tuple(
        ScoredMemory(record, hit.score)
        for hit in ranking.hits
        if (record := records.get(hit.memory_id)) is not None and record.revision == hit.revision
    )
    return Found(memories, ranking.total, ranking.in_scope, ranking.revision)


def _changes(
    org_id: OrganizationId, hits: Sequence[Hit], records: Mapping[StructuredMemoryId, MemoryRecord]
) -> Iterator[Indexed | Gone]:
    """What the index does not know yet of the hits: a later revision, or that a memory is gone."""
    for hit in hits:
        record = records.get(hit.memory_id)
        if record is None:
            yield Gone(org_id, hit.memory_id, hit.revision)
        elif record.revision != hit.revision:
            yield indexed(org_id, record)


def _find_in_postgres(
    connection: psycopg.Connection,
    index: MemoryIndex,
    envelope: Envelope,
    query: str,
    *,
    k: int,
    type: MemoryType | None,  # noqa: A002  (the field's name in the contract)
    places: Sequence[Place] | None,
) -> Found:
    most = SCORED_FROM_POSTGRES
    if count_memories(connection, envelope, places=places) > most:
        raise index.not_ready()
    records = {
        record.memory_id: record for record in list_memories(connection, envelope, places=places, limit=most + 1)
    }
    if len(records) > most:
        raise index.not_ready()
    documents = []
    for record in records.values():
        terms = Counter(document_terms(record.name, record.description, record.content))
        documents.append((record.memory_id, terms, terms.total()))
    ranked = score_exhaustively(documents, query_terms(query))
    wanted = [ScoredMemory(records[memory], score) for memory, score in ranked if type in (None, records[memory].type)]
    return Found(tuple(wanted[:k]), len(wanted), len(records), index.revision_of(envelope.org_id))
