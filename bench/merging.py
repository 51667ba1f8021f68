"""One merge of three Memories: by size of the organization, and by the number of projects it affects."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

import psycopg
from sqlalchemy import Engine

from activities.accepting import ProposedOperation
from activities.boundary import carry_out
from activities.messages import Command
from activities.publication import publish_review
from bench.bare_writes import bare_values, write_bare
from bench.measuring import Comparison, Schedule, Timing, interleaved, timed
from bench.organizations import Library, a_library, further_projects, select, vacuum
from models.database import libpq_url
from models.identifiers import MemoryId
from models.store.operations import StoredOperation
from tests.commands import a_merge, a_review
from tests.rows import a_draft, creates, updates

ENTRIES = 3
FLAT = 1.5

READ_SIZE = 1_000
SELECTED = 50
"""Memories that a reading project selects for each number of readers it belongs to."""

Propose = Callable[[], Sequence[ProposedOperation]]


@dataclass(frozen=True)
class Extent:
    """Sizes of organizations, and numbers of affected projects; the first of each is the baseline."""

    sizes: Sequence[int]
    readers: Sequence[int]


def measure_merges(engine: Engine, extent: Extent, schedule: Schedule) -> list[Comparison]:
    """Merges by size and by affected projects, the latter also against the bare writes of the same rows."""
    libraries = {size: a_library(engine, size) for size in extent.sizes}
    growing = {size: a_library(engine, size) for size in extent.sizes}
    read, bare = (_a_read_library(engine, extent.readers) for _ in range(2))
    vacuum(engine)
    with psycopg.connect(libpq_url(engine.url.render_as_string(hide_password=False))) as connection:
        subjects: dict[str, Timing] = {
            **{_sized(size): _merging(library, _edits(library.memory_ids)) for size, library in libraries.items()},
            **{_growing(size): _merging(library, _additions) for size, library in growing.items()},
            **{_affecting(number): _merging(read.library, _edits(read.read_by[number])) for number in extent.readers},
            **{
                _bare(number): _writing(bare.library, _edits(bare.read_by[number]), connection)
                for number in extent.readers
            },
        }
        measured = interleaved(subjects, schedule)
    return _compare(measured, extent)


def _compare(measured: Mapping[str, Sequence[float]], extent: Extent) -> list[Comparison]:
    def against(subject: str, baseline: str, at_most: float | None = None) -> Comparison:
        return Comparison(subject, measured[subject], baseline, measured[baseline], at_most)

    smallest, fewest = extent.sizes[0], extent.readers[0]
    return [
        *(against(_sized(size), _sized(smallest), FLAT) for size in extent.sizes[1:]),
        *(against(_growing(size), _growing(smallest)) for size in extent.sizes[1:]),
        *(against(_affecting(number), _affecting(fewest)) for number in extent.readers[1:]),
        *(against(_affecting(number), _bare(number)) for number in extent.readers),
    ]


def _sized(size: int) -> str:
    return f"merge of 3 edits among {size:,} Memories"


def _growing(size: int) -> str:
    return f"merge of 3 additions to {size:,} Memories"


def _affecting(number: int) -> str:
    return f"merge affecting {_projects(number)}"


def _bare(number: int) -> str:
    return f"bare writes, {_projects(number)}"


def _projects(number: int) -> str:
    return "1 project" if number == 1 else f"{number:,} projects"


@dataclass(frozen=True)
class _ReadLibrary:
    """A library with further projects; `read_by` has Memories by the number of projects that select them."""

    library: Library
    read_by: Mapping[int, Sequence[MemoryId]]


def _a_read_library(engine: Engine, readers: Sequence[int]) -> _ReadLibrary:
    library = a_library(engine, READ_SIZE)
    project_ids = further_projects(library, max(readers) - 1)
    read_by = {}
    for position, number in enumerate(readers):
        read_by[number] = library.memory_ids[position * SELECTED : (position + 1) * SELECTED]
        # The library's own project is one of the readers.
        select(library, project_ids[: number - 1], read_by[number])
    return _ReadLibrary(library, read_by)


def _edits(memory_ids: Sequence[MemoryId]) -> Propose:
    """Changed bodies of any three of the Memories."""
    choice = random.Random(ENTRIES)  # noqa: S311  (any sample will do, the same in every run)
    return lambda: [
        updates(memory_id, f"# Changed\n\nTo {uuid4()}.\n") for memory_id in choice.sample(memory_ids, ENTRIES)
    ]


def _additions() -> Sequence[ProposedOperation]:
    """Three new documents."""
    return [creates(f"new/{uuid4()}.md", f"# New\n\nNumber {number}.\n") for number in range(ENTRIES)]


def _merging(library: Library, propose: Propose) -> Timing:
    """Publish a Review, as the lane's activity does: one transaction, COMMIT included."""

    def merge() -> float:
        operation = _a_waiting_merge(library, propose())
        command = Command(org_id=operation.org_id, operation_id=operation.operation_id)
        return timed(lambda: _require(carry_out(library.place.engine, command, publish_review).succeeded))

    return merge


def _writing(library: Library, propose: Propose, connection: psycopg.Connection) -> Timing:
    """Leave the rows of such a merge behind."""

    def write() -> float:
        values = bare_values(connection, _a_waiting_merge(library, propose()))
        return timed(lambda: write_bare(connection, values))

    return write


def _a_waiting_merge(library: Library, operations: Sequence[ProposedOperation]) -> StoredOperation:
    return a_merge(library.place, a_review(library.place, a_draft(library.place, *operations)))


def _require(succeeded: bool) -> None:  # noqa: FBT001  (an outcome, not a switch)
    if not succeeded:
        raise AssertionError("a merge of the bench was refused; its row says why")
