"""A snapshot takes as much memory to write for a large tree as for a small one (publication.md §5)."""

import tracemalloc

from sqlalchemy import Engine, text

from bench.organizations import Library, a_library
from models.store.snapshots import snapshot_parts

SMALL, LARGE = 2_000, 6_000
SLACK = 1.3


def peak_of(library: Library) -> int:
    """The bytes that Python holds at most while a snapshot is read to its end, part by part."""
    place = library.place
    with place.engine.connect() as connection:
        statement = text("select * from commits where org_id = :o and scope = 'org'")
        commit = connection.execute(statement, {"o": place.org_id}).mappings().one()
        tracemalloc.start()
        try:
            for part in snapshot_parts(lambda: connection, commit):
                assert part
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def test_a_snapshot_of_three_times_as_much_takes_no_more_memory(engine: Engine) -> None:
    small, large = a_library(engine, SMALL), a_library(engine, LARGE)
    peak_of(small)  # what the first statement of its kind leaves behind is no matter of size
    assert peak_of(large) < SLACK * peak_of(small)
