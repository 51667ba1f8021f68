"""Postgres killed under saves: none that was acknowledged is lost, and the next ones are served (memory.md §1)."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine

from models.database import sqlalchemy_url
from models.store.bootstrap import first_start
from tests.client import Client, Json, items, ok, problem
from tests.parts import restart
from tests.stack import Service, Stack

WRITERS = 8
LIMIT_S = 30


@pytest.fixture(scope="module")
def owner(own_stack: Stack, own_api: Service) -> Client:
    pool = create_engine(sqlalchemy_url(own_stack.database_url))
    with pool.begin() as connection:
        first = first_start(connection)
    pool.dispose()
    assert first is not None
    return Client(own_api.url, first.secret)


def a_memory(name: str, content: str) -> Json:
    return {"name": name, "description": "Saved while the database is killed.", "content": content}


def save_until(ended: threading.Event, owner: Client, name: str, writer: int) -> dict[int, str]:
    """Save again and again; the contents that were acknowledged, by their revision. All else is a 503."""
    acknowledged: dict[int, str] = {}
    number = 0
    while not ended.is_set():
        number += 1
        content = f"{writer} {number}"
        response = owner.post("/memories", a_memory(name, content))
        if response.status_code in (200, 201):
            acknowledged[int(response.json()["revision"])] = content
        else:
            problem(response, 503, "unavailable")
            time.sleep(0.05)
    return acknowledged


def history_of(owner: Client, name: str) -> dict[int, str]:
    versions: dict[int, str] = {}
    cursor = ""
    while True:
        query = {"limit": "200"} | ({"cursor": cursor} if cursor else {})
        page = owner.request("GET", f"/memories/{name}/history", query=query)
        for version in items(page):
            versions[int(str(version["revision"]))] = str(version["content"])
        cursor = str(page.json()["next_cursor"] or "")
        if not cursor:
            return versions


def save_through_kills(owner: Client, stack: Stack, name: str, kills: int) -> None:
    ended = threading.Event()
    with ThreadPoolExecutor(WRITERS) as threads:
        saving = [threads.submit(save_until, ended, owner, name, writer) for writer in range(WRITERS)]
        try:
            for _ in range(kills):
                time.sleep(0.5)
                stack.kill_postgres()
                restart(stack.postgres)
                await_saves(owner)
            time.sleep(0.2)
        finally:
            ended.set()
    acknowledged = [save for future in saving for save in future.result().items()]
    history = history_of(owner, name)
    assert len(acknowledged) > WRITERS
    assert len(dict(acknowledged)) == len(acknowledged)
    assert {revision: history.get(revision) for revision, _ in acknowledged} == dict(acknowledged)
    assert sorted(history) == list(range(1, len(history) + 1))


def await_saves(owner: Client) -> None:
    deadline = time.monotonic() + LIMIT_S
    while owner.post("/memories", a_memory("awaited", "a")).status_code not in (200, 201):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_no_acknowledged_save_is_lost_when_postgres_is_killed(owner: Client, own_stack: Stack) -> None:
    save_through_kills(owner, own_stack, "killed_once", kills=1)


@pytest.mark.long
def test_no_acknowledged_save_is_lost_however_often_postgres_is_killed(owner: Client, own_stack: Stack) -> None:
    save_through_kills(owner, own_stack, "killed_often", kills=12)


def test_the_first_request_after_a_restart_is_answered_on_a_new_connection(owner: Client, own_stack: Stack) -> None:
    with ThreadPoolExecutor(WRITERS) as threads:  # several connections, which all go
        made = threads.map(lambda number: owner.post("/memories", a_memory(f"m_{number}", "a")), range(WRITERS))
    assert {response.status_code for response in made} == {201}
    own_stack.kill_postgres()
    while (refused := owner.get("/memories")).status_code == 200:  # backends end a moment after their parent
        time.sleep(0.01)
    problem(refused, 503, "unavailable")
    restart(own_stack.postgres)
    ok(owner.get("/memories"))
    ok(owner.get("/memories/m_1"))
