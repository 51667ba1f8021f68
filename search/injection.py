"""What a turn is given: the most relevant memories of an envelope, as far as the budget goes (memory.md §4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from models.memory_settings import MemorySettings
from models.rules.injection_budget import contents_within
from models.rules.memory_block import BlockMemory, memory_block
from models.rules.visibility import Envelope, Scope
from search.memory_index import MemoryIndex
from search.relevance import ScoredMemory, find


@dataclass(frozen=True, slots=True)
class Injected:
    """The block, and the memories in it, the most relevant first; `unavailable` are the scopes that were left out."""

    block: str
    memories: Sequence[ScoredMemory]
    unavailable: Sequence[tuple[Scope, str]]
    in_scope: int
    index_revision: int


def inject(
    connection: psycopg.Connection,
    index: MemoryIndex,
    envelope: Envelope,
    query: str,
    *,
    k: int,
    settings: MemorySettings,
) -> Injected:
    """The top `k` of the envelope for a query, of which nothing is relevant to an empty one.

    Raises:
        IndexNotReady: the index is being rebuilt, and the envelope is too large to be scored without it.
    """
    found = find(connection, index, envelope, query, k=k)
    contents = contents_within(
        (memory.record.content for memory in found.memories),
        each=settings.inject_max_chars,
        total=settings.inject_total_chars,
    )
    memories = found.memories[: len(contents)]
    shown = [
        BlockMemory(memory.record.name, memory.record.type, memory.record.scope, memory.record.description, content)
        for memory, content in zip(memories, contents, strict=True)
    ]
    unavailable = [(scope, problem.code) for scope, problem in envelope.refused.items()]
    block = memory_block(shown, in_scope=found.in_scope, unavailable=unavailable)
    return Injected(block, memories, unavailable, found.in_scope, found.index_revision)
