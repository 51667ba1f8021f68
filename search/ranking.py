"""What a ranking answers, and how far the index has come."""

from dataclasses import dataclass
from typing import NamedTuple

from models.identifiers import StructuredMemoryId


class Hit(NamedTuple):
    """A memory that matches, as of a revision; `score` is above zero."""

    memory_id: StructuredMemoryId
    revision: int
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best hits, the highest score first and then by id.

    `total` is how many match at all, where that was asked, and `in_scope` how many could: all of the envelope. Both and
    the hits hold of one moment, that of the organization's `revision`.
    """

    hits: tuple[Hit, ...]
    total: int | None
    in_scope: int
    revision: int


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index has come.

    `ready` is whether it answers for envelopes of any size; until then `progress` is the part of the memories that it
    has read, from 0 to 1. `applied` and `latest` number the last event it took in and the last there was, when the feed
    was last read.
    """

    ready: bool
    applied: int
    latest: int
    progress: float
