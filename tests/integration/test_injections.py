"""What is recorded of turns, and which of their nudges may be given, under a real Postgres (memory.md §4, §5)."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import psycopg

from models.errors import NotFound
from models.identifiers import SessionId, new_injection_id
from models.rules.nudges import NudgeKind
from models.store.injections import (
    Given,
    NewInjection,
    Recorded,
    charge_nudge,
    list_injections,
    record_injection,
)
from models.store.sessions import NewSession, create_session, delete_session, read_session
from models.store.structured import driver_connection_of
from tests.racing import together
from tests.rows import Somewhere, acting, execute, fetch, refused

COOLDOWN_S = 300.0
GIVEN = (Given("one", 1, 0.1 + 0.2, "structured"), Given("two", 7, 0.25, "structured"))


def a_session(place: Somewhere, *, resumes: bool = False) -> SessionId:
    with acting(place) as tx:
        session = NewSession("coordinator", place.owner, None, None, read_only=False, resumes=resumes)
        return create_session(tx, session).session_id


def an_injection(session_id: SessionId, *memories: Given) -> NewInjection:
    return NewInjection(new_injection_id(), session_id, "turn 1", 5, 37, 12, memories)


@contextmanager
def writing(place: Somewhere) -> Iterator[psycopg.Connection]:
    with place.engine.begin() as connection:
        yield driver_connection_of(connection)


def recorded(place: Somewhere, injection: NewInjection) -> Recorded:
    with writing(place) as connection:
        return record_injection(connection, place.org_id, injection, project_id=None)


def charged(place: Somewhere, session_id: SessionId, *kinds: NudgeKind, cooldown_s: float = COOLDOWN_S) -> str | None:
    with writing(place) as connection:
        return charge_nudge(connection, place.org_id, session_id, kinds, cooldown_s=cooldown_s)


def test_a_recorded_injection_is_listed_with_its_memories_in_the_order_of_the_block(place: Somewhere) -> None:
    session_id = a_session(place)
    injection = an_injection(session_id, *reversed(GIVEN))
    recorded(place, injection)
    with place.engine.connect() as connection:
        (listed,) = list_injections(connection, place.org_id, session_id, after=None, limit=5)
    assert (listed.injection_id, listed.turn_id) == (injection.injection_id, "turn 1")
    assert (listed.k, listed.in_scope, listed.index_revision) == (5, 37, 12)
    assert listed.memories == [*reversed(GIVEN)]


def test_injections_are_listed_newest_first_and_page_by_page(place: Somewhere) -> None:
    session_id = a_session(place)
    made = [an_injection(session_id) for _ in range(3)]
    for injection in made:
        recorded(place, injection)
    ids = [injection.injection_id for injection in reversed(made)]
    with place.engine.connect() as connection:
        first = list_injections(connection, place.org_id, session_id, after=None, limit=2)
        rest = list_injections(connection, place.org_id, session_id, after=ids[1], limit=2)
    assert [row.injection_id for row in [*first, *rest]] == ids


def test_nothing_is_recorded_of_a_session_that_ended_meanwhile(place: Somewhere) -> None:
    session_id = a_session(place)
    with acting(place) as tx:
        delete_session(tx, read_session(tx.connection, place.org_id, place.owner, session_id))
    assert isinstance(refused(lambda: recorded(place, an_injection(session_id, *GIVEN))), NotFound)
    assert fetch(place, "select 1 from injections where org_id = :o") == []


def test_the_end_of_a_session_takes_what_is_recorded_along(place: Somewhere) -> None:
    session_id = a_session(place)
    recorded(place, an_injection(session_id, *GIVEN))
    charged(place, session_id, "resume")
    with acting(place) as tx:
        delete_session(tx, read_session(tx.connection, place.org_id, place.owner, session_id))
    left = """
        select injection_id from injections where org_id = :o
        union all select injection_id from injected_memories where org_id = :o
        union all select kind from nudges where org_id = :o
    """
    assert fetch(place, left) == []


def test_a_session_resumes_with_its_first_turn_only(place: Somewhere) -> None:
    session_id = a_session(place, resumes=True)
    assert [recorded(place, an_injection(session_id)).resumes for _ in range(3)] == [True, False, False]


def test_of_two_first_turns_at_once_one_resumes(place: Somewhere) -> None:
    session_id = a_session(place, resumes=True)
    turns = together(*(partial(recorded, place, an_injection(session_id)) for _ in range(4)))
    assert sorted(turn.resumes for turn in turns) == [False, False, False, True]


def test_a_session_on_a_new_workstream_resumes_nothing(place: Somewhere) -> None:
    assert not recorded(place, an_injection(a_session(place))).resumes


def test_a_kind_in_cooldown_lets_the_next_one_through(place: Somewhere) -> None:
    session_id = a_session(place)
    kinds: tuple[NudgeKind, ...] = ("denial", "correction")
    assert [charged(place, session_id, *kinds) for _ in range(3)] == ["denial", "correction", None]


def test_a_cooldown_ends(place: Somewhere) -> None:
    session_id = a_session(place)
    charged(place, session_id, "denial")
    execute(place, "update nudges set at = at - interval '300 seconds' where org_id = :o")
    assert [charged(place, session_id, "denial") for _ in range(2)] == ["denial", None]


def test_without_a_cooldown_every_turn_may_be_nudged(place: Somewhere) -> None:
    session_id = a_session(place)
    assert [charged(place, session_id, "denial", cooldown_s=0) for _ in range(2)] == ["denial", "denial"]


def test_a_cooldown_is_of_one_session(place: Somewhere) -> None:
    assert [charged(place, a_session(place), "denial") for _ in range(2)] == ["denial", "denial"]


def test_of_turns_at_once_one_gets_the_nudge(place: Somewhere) -> None:
    session_id = a_session(place)
    turns = together(*(partial(charged, place, session_id, "denial") for _ in range(4)))
    assert sorted(turns, key=str) == [None, None, None, "denial"]


def test_a_nudge_whose_answer_failed_is_not_charged(place: Somewhere) -> None:
    session_id = a_session(place)
    with place.engine.connect() as connection:
        charge_nudge(driver_connection_of(connection), place.org_id, session_id, ["denial"], cooldown_s=COOLDOWN_S)
    assert charged(place, session_id, "denial") == "denial"
