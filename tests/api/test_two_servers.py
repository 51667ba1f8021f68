"""Two API processes on one database: what is saved through one is soon in the turns of the other (memory.md §4)."""

from collections.abc import Iterator
from functools import partial

import pytest

from tests.client import Client, an_organization, ok
from tests.indexes import wait_until
from tests.stack import Stack, start_api
from tests.turns import an_open_session, names_of, saves, turn

SOON_S = 1.0
"""What the contract promises; beside it, a busy machine takes its time for each request."""
REQUESTS_S = 4.0


@pytest.fixture(scope="module")
def second(stack: Stack) -> Iterator[str]:
    """Where the other process listens."""
    service = start_api(stack)
    yield service.url
    service.stop()


def test_a_save_through_one_server_is_injected_by_the_other(api: Client, second: str) -> None:
    here = an_organization(api).owner
    there = Client(second, here.token)
    session = an_open_session(here)
    for number in range(5):
        name = f"note_{number}"
        saves(here, session, name, f"The lighthouse number {number} is closed.")
        shown = partial(_shows, there, session, name)
        assert wait_until(shown) < SOON_S + REQUESTS_S


def test_what_one_server_changes_and_deletes_the_other_never_shows_as_it_was(api: Client, second: str) -> None:
    here = an_organization(api).owner
    there = Client(second, here.token)
    session = an_open_session(here)
    saves(here, session, "note", "The lighthouse is closed.")
    wait_until(lambda: names_of(turn(there, session, "lighthouse")) == ["note"])
    saves(here, session, "note", "The harbour is closed.")
    assert names_of(turn(there, session, "lighthouse")) == []
    ok(here.delete("/memories/note"))
    assert names_of(turn(there, session, "harbour")) == []


def _shows(server: Client, session_id: str, name: str) -> bool:
    return name in names_of(turn(server, session_id, "Which lighthouse is closed?", k=50))
