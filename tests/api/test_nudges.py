"""Nudges beside the block: at most one an answer, each kind at most once in its cooldown (memory.md §5)."""

from functools import partial

import pytest

from tests.client import Client, Json, a_person, an_organization, ok, problem
from tests.racing import together
from tests.sessions import a_workstream
from tests.turns import an_open_session, saves, says, turn

CORRECTION = ("Write it.", "No, with tabs.")


@pytest.fixture
def agent(api: Client) -> Client:
    return a_person(an_organization(api)).client


@pytest.fixture
def session_id(agent: Client) -> str:
    """A session with one memory in scope."""
    made = an_open_session(agent)
    saves(agent, made, "tabs", "Tabs, not spaces.")
    return made


def kind_of(given: Json) -> str | None:
    nudge = given["nudge"]
    assert nudge is None or isinstance(nudge, dict)
    return None if nudge is None else str(nudge["kind"])


def test_a_correction_is_nudged_once_in_its_cooldown(agent: Client, session_id: str) -> None:
    given = turn(agent, session_id, *CORRECTION)
    assert given["nudge"] == {
        "kind": "correction",
        "text": "The user seems to correct you. If this should hold in future too, save it with "
        "memory(action='save', type='feedback', …).",
    }
    assert kind_of(turn(agent, session_id, *CORRECTION)) is None


def test_a_cooldown_is_of_one_session(agent: Client, session_id: str) -> None:
    assert kind_of(turn(agent, session_id, *CORRECTION)) == "correction"
    assert kind_of(turn(agent, an_open_session(agent), *CORRECTION)) == "correction"


def test_a_kind_in_cooldown_lets_the_next_one_through(agent: Client, session_id: str) -> None:
    everything = partial(
        turn, agent, session_id, "Write it.", "Done, don't.", events=["resume", "tool_error", "denial", "denial"]
    )
    kinds = [kind_of(everything()) for _ in range(6)]
    assert kinds == ["denial", "tool_error", "correction", "completion", "resume", None]


def test_of_turns_at_once_one_is_nudged(agent: Client, session_id: str) -> None:
    given = together(*[partial(turn, agent, session_id, *CORRECTION)] * 4)
    assert [kind_of(each) for each in given if each["nudge"]] == ["correction"]


def test_the_first_user_message_is_not_nudged(agent: Client, session_id: str) -> None:
    assert kind_of(turn(agent, session_id, "No, with tabs.", events=["denial", "tool_error"])) is None
    assert kind_of(turn(agent, session_id, "No, with tabs.", events=["resume"])) == "resume"


def test_a_refused_turn_is_not_charged(agent: Client, session_id: str) -> None:
    problem(agent.post(f"/sessions/{session_id}/context", {**says(*CORRECTION), "k": 0}), 400, "invalid_request")
    assert kind_of(turn(agent, session_id, *CORRECTION)) == "correction"


def test_a_failed_tool_is_nudged_only_where_there_is_something_to_find(agent: Client) -> None:
    session_id = an_open_session(agent)
    assert kind_of(turn(agent, session_id, "One.", "Two.", events=["tool_error"])) is None
    saves(agent, session_id, "tabs", "Tabs, not spaces.")
    assert kind_of(turn(agent, session_id, "One.", "Two.", events=["tool_error"])) == "tool_error"


def test_a_read_only_session_is_not_asked_to_save(agent: Client, session_id: str) -> None:
    assert session_id
    reading = an_open_session(agent, read_only=True)
    assert kind_of(turn(agent, reading, "Write it.", "Done, don't.", events=["denial"])) is None
    assert kind_of(turn(agent, reading, "Write it.", "Done, don't.", events=["tool_error"])) == "tool_error"


def test_the_first_turn_on_a_workstream_that_had_a_session_resumes(agent: Client) -> None:
    workstream_id = a_workstream(agent)
    first = an_open_session(agent, workstream_id=workstream_id)
    saves(agent, first, "tabs", "Tabs, not spaces.", scope="workstream")
    assert kind_of(turn(agent, first, "Write it.")) is None
    second = an_open_session(agent, workstream_id=workstream_id)
    assert kind_of(turn(agent, second, "Write it.")) == "resume"
    third = an_open_session(agent, workstream_id=workstream_id)
    assert kind_of(turn(agent, third, *CORRECTION)) == "correction"
    assert kind_of(turn(agent, third, "Write it.", "Go on.")) is None


def test_nothing_is_resumed_where_nothing_was_saved(agent: Client) -> None:
    workstream_id = a_workstream(agent)
    an_open_session(agent, workstream_id=workstream_id)
    assert kind_of(turn(agent, an_open_session(agent, workstream_id=workstream_id), "Write it.")) is None


def test_with_the_lever_off_there_is_no_nudge(agent: Client) -> None:
    workstream_id = a_workstream(agent, memory_enabled=False)
    session_id = an_open_session(agent, workstream_id=workstream_id)
    assert kind_of(turn(agent, session_id, *CORRECTION, events=["denial", "resume"])) is None
    ok(agent.patch(f"/workstreams/{workstream_id}", {"memory_enabled": True}, version=1))
    assert kind_of(turn(agent, session_id, *CORRECTION)) == "correction"
