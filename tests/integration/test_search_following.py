"""The index follows the database, whoever writes and however it comes to start (memory.md §4)."""

import threading
import time
from pathlib import Path

import psycopg
import pytest

from models.errors import IndexNotReady
from models.rules.visibility import Envelope
from models.store.structured import count_memories
from models.store.structured_feed import (
    FeedPosition,
    MemoryText,
    current_position,
    reaches_back_to,
    read_changes,
    read_page,
)
from models.store.structured_removals import delete_memory, restore_memory
from search.corpus import Corpus
from search.index_file import FILE, read
from search.memory_index import MemoryIndex
from search.relevance import find
from tests.indexes import a_document, a_follower, following, found, in_scope, wait_until
from tests.rows import Somewhere, execute
from tests.structured import GLOBAL, a_connection, a_memory, an_actor, saved, seeing


def everything(place: Somewhere) -> Envelope:
    return seeing(place.org_id, GLOBAL)


def test_what_was_saved_before_the_start_is_found(place: Somewhere, connection: psycopg.Connection) -> None:
    memory = saved(connection, place, memory=a_memory(content="The harbour opens at six.")).record
    with following(place) as index:
        assert found(index, place, [GLOBAL], "harbour") == [memory.memory_id]


def test_what_others_save_change_and_delete_is_found_within_a_second(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    with following(place) as index:
        memory = saved(connection, place, memory=a_memory(content="The harbour opens at six.")).record
        assert wait_until(lambda: found(index, place, [GLOBAL], "harbour") == [memory.memory_id]) < 1
        saved(connection, place, memory=a_memory(content="The station opens at six."))
        assert wait_until(lambda: found(index, place, [GLOBAL], "harbour") == []) < 1
        delete_memory(connection, an_actor(place), everything(place), GLOBAL, "a_name")
        assert wait_until(lambda: in_scope(index, everything(place)) == 0) < 1
        restore_memory(connection, an_actor(place), everything(place), GLOBAL, "a_name")
        assert wait_until(lambda: found(index, place, [GLOBAL], "station") == [memory.memory_id]) < 1


def test_a_transaction_that_stays_open_holds_back_nobody_elses_saves(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    with following(place) as index, a_connection(place) as slow, a_connection(place) as other:
        with slow.transaction():
            late = saved(slow, place, memory=a_memory("late", "The harbour is closed.")).record
            early = saved(other, place, memory=a_memory("early", "The harbour is open.")).record
            assert wait_until(lambda: found(index, place, [GLOBAL], "harbour") == [early.memory_id]) < 1
        both = sorted([early.memory_id, late.memory_id])
        assert wait_until(lambda: sorted(found(index, place, [GLOBAL], "harbour")) == both) < 1


def test_a_reading_tells_each_change_once_although_transactions_commit_out_of_order(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    position, _ = current_position(connection)
    with a_connection(place) as slow, slow.transaction():
        saved(slow, place, memory=a_memory("late"))
        early = saved(connection, place, memory=a_memory("early")).record
        reading = read_changes(connection, position)
        assert reading.changes is not None
        assert [change.memory_id for change in reading.changes if change.org_id == place.org_id] == [early.memory_id]
    rest = read_changes(connection, reading.position)
    assert rest.changes is not None
    assert [change.memory_id for change in rest.changes if change.org_id == place.org_id] != [early.memory_id]
    assert len([change for change in rest.changes if change.org_id == place.org_id]) == 1


def test_a_start_goes_on_from_the_disk(place: Somewhere, connection: psycopg.Connection, tmp_path: Path) -> None:
    kept = saved(connection, place, memory=a_memory("kept", "The harbour.")).record
    changed = saved(connection, place, memory=a_memory("changed", "The harbour.")).record
    with following(place, tmp_path) as index:
        before = index.revision_of(place.org_id)
    stored = read(tmp_path)
    assert stored is not None
    assert stored.corpus.see(everything(place), None, []).documents == 2
    saved(connection, place, memory=a_memory("changed", "The station."))
    with following(place, tmp_path) as index:
        assert found(index, place, [GLOBAL], "harbour") == [kept.memory_id]
        assert found(index, place, [GLOBAL], "station") == [changed.memory_id]
        assert index.revision_of(place.org_id) > before


@pytest.mark.parametrize("damage", ["removed", "truncated", "flipped", "empty", "another version"])
def test_a_damaged_index_is_built_anew_at_the_start(
    place: Somewhere, connection: psycopg.Connection, tmp_path: Path, damage: str
) -> None:
    memory = saved(connection, place, memory=a_memory(content="The harbour.")).record
    with following(place, tmp_path):
        pass
    file = tmp_path / FILE
    content = file.read_bytes()
    if damage == "removed":
        file.unlink()
    elif damage == "truncated":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        file.write_bytes(content[:-100] + bytes([content[-100] ^ 1]) + content[-99:])
    elif damage == "empty":
        file.write_bytes(b"")
    else:
        file.write_bytes(content.replace(b'"version":"2/', b'"version":"0/'))
    assert read(tmp_path) is None
    with following(place, tmp_path) as index:
        assert found(index, place, [GLOBAL], "harbour") == [memory.memory_id]
    assert read(tmp_path) is not None


def test_an_index_that_loses_its_folder_while_it_serves_goes_on_and_writes_it_again(
    place: Somewhere, connection: psycopg.Connection, tmp_path: Path
) -> None:
    folder = tmp_path / "0"
    with following(place, folder) as index:
        wait_until((folder / FILE).exists)
        (folder / FILE).unlink()
        folder.rmdir()
        memory = saved(connection, place, memory=a_memory(content="The harbour.")).record
        wait_until(lambda: found(index, place, [GLOBAL], "harbour") == [memory.memory_id])
    assert read(folder) is not None


def test_an_index_that_could_not_be_written_is_written_later_although_nothing_changed_since(
    place: Somewhere, connection: psycopg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.following.STORE_S", 0.1)
    folder = tmp_path / "index" / "0"
    folder.parent.write_text("in the way")
    with following(place, folder):
        time.sleep(0.5)
        folder.parent.unlink()
        wait_until((folder / FILE).exists)


def test_the_position_on_disk_does_not_grow_old_where_nothing_changes(
    place: Somewhere, connection: psycopg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.following.STORE_S", 0.1)
    monkeypatch.setattr("search.following.STALE_S", 0.1)
    with following(place, tmp_path):
        wait_until((tmp_path / FILE).exists)
        first = (tmp_path / FILE).stat().st_mtime_ns
        wait_until(lambda: (tmp_path / FILE).stat().st_mtime_ns != first)


def test_a_position_that_retention_has_passed_has_everything_read_again(
    place: Somewhere, connection: psycopg.Connection, tmp_path: Path
) -> None:
    with following(place, tmp_path):
        pass
    stored = read(tmp_path)
    assert stored is not None
    memory = saved(connection, place, memory=a_memory(content="The harbour.")).record
    execute(
        place,
        """
        with gone as (delete from events where org_id = :o returning xid, id, at)
        insert into feed_floors (org_id, xid, id, at)
        select :o, max(xid::text::bigint)::text::xid8, max(id), max(at) from gone
        """,
    )
    assert not reaches_back_to(connection, stored.position)
    with following(place, tmp_path) as index:
        assert found(index, place, [GLOBAL], "harbour") == [memory.memory_id]


def test_two_indexes_on_one_database_find_each_others_saves(place: Somewhere, connection: psycopg.Connection) -> None:
    with following(place) as one, following(place) as other:
        first = saved(connection, place, memory=a_memory("first", "The harbour.")).record
        one.apply([a_document(place.org_id, GLOBAL, "The harbour.", memory_id=first.memory_id)])
        assert found(one, place, [GLOBAL], "harbour") == [first.memory_id]
        assert wait_until(lambda: found(other, place, [GLOBAL], "harbour") == [first.memory_id]) < 1


def test_an_index_that_the_feed_no_longer_tells_what_changed_answers_nothing_until_it_is_built_anew(
    place: Somewhere, connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = saved(connection, place, memory=a_memory(content="The harbour.")).record
    index = MemoryIndex()
    follower = a_follower(place, index)
    building, reading = threading.Event(), threading.Event()
    with follower.following():
        wait_until(lambda: index.state.ready)
        before = index.revision_of(place.org_id)

        def held(*arguments: object) -> list[MemoryText]:
            building.set()
            assert reading.wait(20)
            return read_page(*arguments)  # type: ignore[arg-type]  # as it was called

        monkeypatch.setattr("search.following.read_page", held)
        follower._position = FeedPosition("another life of the database", "1:1:")
        assert building.wait(20)
        with pytest.raises(IndexNotReady):
            index.rank(everything(place), "harbour", k=5)
        assert index.revision_of(place.org_id) >= before
        reading.set()
        wait_until(lambda: index.state.ready)
        assert found(index, place, [GLOBAL], "harbour") == [memory.memory_id]
        assert index.revision_of(place.org_id) >= before


def test_while_the_index_is_built_small_envelopes_are_scored_from_postgres(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    saved(connection, place, memory=a_memory("one", "The harbour opens at six."))
    saved(connection, place, memory=a_memory("two", "The harbour, the harbour."))
    with following(place) as index:
        ready = find(connection, index, everything(place), "the harbour at six", k=5, count=True)
    building = MemoryIndex()
    building.prepare(Corpus())
    shown = find(connection, building, everything(place), "the harbour at six", k=5, count=True)
    assert shown.memories == ready.memories
    assert (shown.total, shown.in_scope) == (ready.total, ready.in_scope) == (2, 2)


def test_while_the_index_is_built_large_envelopes_are_refused_with_the_progress(
    place: Somewhere, connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.relevance.SCORED_FROM_POSTGRES", 1)
    saved(connection, place, memory=a_memory("one", "The harbour opens at six."))
    saved(connection, place, memory=a_memory("two", "The harbour, the harbour."))
    building = MemoryIndex()
    building.prepare(Corpus())
    building.load([], progress=0.25)
    with pytest.raises(IndexNotReady) as refused:
        find(connection, building, everything(place), "harbour", k=5)
    assert refused.value.context == {"progress": 0.25}
    assert count_memories(connection, everything(place)) == 2


def test_a_search_that_hits_nothing_asks_postgres_nothing(place: Somewhere, connection: psycopg.Connection) -> None:
    saved(connection, place, memory=a_memory("one", "The harbour."))
    with following(place) as index:
        pass
    connection.close()
    missed = find(connection, index, everything(place), "lighthouse", k=5, count=True)
    assert (missed.memories, missed.total, missed.in_scope) == ((), 0, 1)


def test_a_hit_that_another_process_changed_is_ranked_as_it_is_now(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    memory = saved(connection, place, memory=a_memory("one", "The harbour.")).record
    other = saved(connection, place, memory=a_memory("two", "The harbour and the station.")).record
    with following(place) as index:
        pass  # it follows no more
    saved(connection, place, memory=a_memory("one", "The station."))
    shown = find(connection, index, everything(place), "harbour", k=5, count=True)
    assert [scored.record.memory_id for scored in shown.memories] == [other.memory_id]
    assert shown.total == 1
    delete_memory(connection, an_actor(place), everything(place), GLOBAL, "two")
    assert find(connection, index, everything(place), "harbour", k=5).memories == ()
    assert [
        scored.record.revision for scored in find(connection, index, everything(place), "station", k=5).memories
    ] == [2]
    assert memory.revision == 1


def test_every_save_is_found_by_the_next_search_under_sixteen_writers_and_readers(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    missed: list[str] = []

    def write_and_read(number: int) -> None:
        with a_connection(place) as own:
            for turn in range(12):
                word = f"word{number}x{turn}"
                done = saved(own, place, memory=a_memory(f"memory_{number}", f"harbour {word}"))
                index.apply(
                    [
                        a_document(
                            place.org_id,
                            GLOBAL,
                            f"harbour {word}",
                            memory_id=done.record.memory_id,
                            revision=done.record.revision,
                        )
                    ]
                )
                shown = find(own, index, everything(place), f"harbour {word}", k=1)
                if [scored.record.memory_id for scored in shown.memories] != [done.record.memory_id]:
                    missed.append(word)

    with following(place) as index:
        writers = [threading.Thread(target=write_and_read, args=(number,)) for number in range(16)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        wait_until(lambda: in_scope(index, everything(place)) == 16)
    assert missed == []
