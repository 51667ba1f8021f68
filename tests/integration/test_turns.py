"""A turn under a real Postgres: what is asked of the database, and what happens meanwhile (memory.md §2, §4)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import psycopg
import pytest
from psycopg.abc import Params
from sqlalchemy import Engine, text

from activities.turns import DISABLED, Asked, take_turn
from models.errors import JsonObject, NotFound
from models.identifiers import SessionId
from models.memory_settings import MemorySettings
from models.rules.envelopes import SessionFacts, session_envelope
from models.rules.structured_fields import MemoryInput
from models.rules.visibility import Place
from models.store.locks import lock_access
from models.store.sessions import NewSession, create_session, read_session_facts
from models.store.structured import Actor
from models.store.structured_saves import save_memory
from search.memory_index import MemoryIndex
from search.ranking import Ranking
from tests.databases import url_of
from tests.rows import Somewhere, acting, an_organization, execute, fetch, joins, refused

WAITING_S = 10.0
ASKED = Asked(["Write.", "No, alpha."], ["denial"])


class RecordingConnection(psycopg.Connection):
    """A connection that remembers what it was asked."""

    statements: tuple[str, ...] = ()

    def execute(self, query: str, params: Params | None = None) -> psycopg.Cursor:  # type: ignore[override]  # ours only
        self.statements = (*self.statements, query)
        return super().execute(query, params)

    def forget(self) -> None:
        """Begin anew."""
        self.statements = ()


class RecordingIndex(MemoryIndex):
    """An index that remembers how often it was asked."""

    asked = 0

    def rank(self, *arguments: object, **names: object) -> Ranking:
        self.asked += 1
        return super().rank(*arguments, **names)  # type: ignore[arg-type]


@pytest.fixture
def place(engine: Engine) -> Somewhere:
    """An organization whose owner is a member of its project, too."""
    made = an_organization(engine)
    joins(made, made.owner)
    return made


@contextmanager
def connected(place: Somewhere) -> Iterator[RecordingConnection]:
    with RecordingConnection.connect(url_of(place.engine), autocommit=True) as connection:
        yield connection


def a_session(place: Somewhere) -> SessionId:
    with acting(place) as tx:
        session = NewSession("coordinator", place.owner, None, place.project_id, read_only=False, resumes=False)
        return create_session(tx, session).session_id


def facts_of(connection: psycopg.Connection, place: Somewhere, session_id: SessionId) -> SessionFacts:
    facts = read_session_facts(connection, place.org_id, session_id)
    assert facts is not None
    return facts


def saved(connection: psycopg.Connection, session: SessionFacts, scope: Place, name: str) -> None:
    actor = Actor(session.org_id, session.user_id, "test", "tool", session.session_id)
    save_memory(connection, actor, session_envelope(session), scope, MemoryInput(name, "About it", "Of alpha.", None))


def own(session: SessionFacts) -> Place:
    return Place("coordinator", session.user_id)


def of_the_project(session: SessionFacts) -> Place:
    return Place("project", str(session.project_id))


def taken(connection: psycopg.Connection, session: SessionFacts, asked: Asked = ASKED) -> JsonObject:
    return take_turn(connection, RecordingIndex(), session, asked, MemorySettings())


def names_of(given: JsonObject) -> list[str]:
    memories = given["memories"]
    assert isinstance(memories, list)
    return sorted(str(memory["name"]) for memory in memories if isinstance(memory, dict))


def test_with_the_lever_off_no_memory_is_read_and_the_index_is_not_asked(place: Somewhere) -> None:
    index = RecordingIndex()
    with connected(place) as connection:
        session = facts_of(connection, place, a_session(place))
        saved(connection, session, own(session), "mine")
        connection.forget()
        off = replace(session, memory_enabled=False)
        assert take_turn(connection, index, off, ASKED, MemorySettings()) == DISABLED
        assert (connection.statements, index.asked) == ((), 0)
        assert names_of(take_turn(connection, index, session, ASKED, MemorySettings())) == ["mine"]
    assert any("structured_memories" in statement for statement in connection.statements)
    assert index.asked == 1


def test_access_that_is_taken_during_a_turn_is_honoured(place: Somewhere) -> None:
    with connected(place) as connection, ThreadPoolExecutor(1) as threads:
        session = facts_of(connection, place, a_session(place))
        saved(connection, session, own(session), "mine")
        saved(connection, session, of_the_project(session), "ours")
        assert names_of(taken(connection, session)) == ["mine", "ours"]
        with place.engine.begin() as taking:
            lock_access(taking, place.org_id, place.project_id)
            taking.execute(text("delete from project_members where org_id = :o"), {"o": place.org_id})
            turn = threads.submit(taken, connection, session)
            wait_until_somebody_waits(place, connection)
        given = turn.result(WAITING_S)
    assert names_of(given) == ["mine"]
    assert given["unavailable"] == [{"scope": "project", "code": "not_found"}]


def wait_until_somebody_waits(place: Somewhere, connection: psycopg.Connection) -> None:
    waiting = "select pg_sleep(0.01), wait_event_type = 'Lock' as waits from pg_stat_activity where pid = :pid"
    for _ in range(1_000):
        (row,) = fetch(place, waiting, pid=connection.info.backend_pid)
        if row.waits:
            return
    raise AssertionError("the turn did not wait")


def test_a_turn_of_a_session_that_ended_is_refused_and_not_recorded(place: Somewhere) -> None:
    with connected(place) as connection:
        session = facts_of(connection, place, a_session(place))
        saved(connection, session, own(session), "mine")
        execute(place, "delete from sessions where org_id = :o")
        assert isinstance(refused(lambda: taken(connection, session)), NotFound)
    assert fetch(place, "select 1 from injections where org_id = :o") == []


def test_a_turn_within_a_transaction_is_recorded_with_it(place: Somewhere) -> None:
    with connected(place) as connection:
        session = facts_of(connection, place, a_session(place))
        with connection.transaction(force_rollback=True):
            taken(connection, session)
    assert fetch(place, "select 1 from injections where org_id = :o") == []


def test_without_nudges_none_is_charged(place: Somewhere) -> None:
    with connected(place) as connection:
        session = facts_of(connection, place, a_session(place))
        quiet = MemorySettings(nudges=False)
        assert take_turn(connection, MemoryIndex(), session, ASKED, quiet)["nudge"] is None
    assert fetch(place, "select 1 from nudges where org_id = :o") == []


def test_the_settings_say_how_much_is_given(place: Somewhere) -> None:
    with connected(place) as connection:
        session = facts_of(connection, place, a_session(place))
        for number in range(4):
            saved(connection, session, own(session), f"note {number}")
        few = MemorySettings(relevance_k=3, inject_total_chars=18)
        given = take_turn(connection, MemoryIndex(), session, ASKED, few)
    assert (len(names_of(given)), given["in_scope"]) == (2, 4)
