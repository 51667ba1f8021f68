"""What searches and turns take of a server as memories become many, over HTTP, against the same at 1,000 memories.

Eight clients search at once, each on a connection of its own; and one client asks for turns one after the other, of
which the processor time of the server counts. Three organizations stand in one database: one of 1,000 memories, one of
100,000 that its caller sees all of, and one of 100,000 of a hundred users, of whose the caller sees the own.
"""

import argparse
import http
import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count

import httpx

from bench.measuring import Comparison, Schedule, interleaved, processor_time_of, table, timed
from bench.organizations import with_an_owner
from bench.relevance import INSERT, Texts
from canonry.embedded.ports import LOOPBACK
from models.database import build_engine, connect
from models.identifiers import uuid7
from models.settings import Settings
from models.store.organizations import NewOrganization
from tests.stack import start_api, start_migrated_stack

LIMIT_S = 60
READY_WITHIN_S = 900
USERS = 100
TERMS = 8
QUERIES = 200
PER = 1_000
THROUGHPUT = 0.7
AT_MOST = 1 / THROUGHPUT


@dataclass(frozen=True)
class Extent:
    """How many memories there are, few and many, how many clients, and how many requests a turn of the measuring is."""

    few: int = 1_000
    many: int = 100_000
    clients: int = 8
    requests: int = 400


FULL, FULL_EXTENT = Schedule(rounds=5, repeats=3, warm_up=1), Extent()
QUICK, QUICK_EXTENT = Schedule(rounds=1, repeats=1, warm_up=1), Extent(few=20, many=200, clients=2, requests=5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: too short to mean anything")
    quick = parser.parse_args().quick
    measured = measure_load(QUICK if quick else FULL, QUICK_EXTENT if quick else FULL_EXTENT)
    print(table(measured), end="\n\n", flush=True)


def measure_load(schedule: Schedule, extent: Extent) -> list[Comparison]:
    """Searches by the time that all of them take at once, turns by the server's processor time."""
    few, seen, spread = (
        f"{extent.few:,} memories",
        f"{extent.many:,} memories, all visible",
        f"{extent.many:,} memories of {USERS} users",
    )
    with _callers(extent) as callers:
        named = dict(zip((few, seen, spread), callers, strict=True))
        searches = {
            f"search, {extent.clients} clients, ms of 1,000; {name}": partial(caller.search, extent)
            for name, caller in named.items()
        }
        turns = {
            f"turn, server CPU of 1,000; {name}": partial(caller.take_turns, extent) for name, caller in named.items()
        }
        medians = interleaved({**searches, **turns}, schedule)
    return [
        Comparison(name, medians[name], first, medians[first], at_most)
        for (first, *others), at_most in (([*searches], AT_MOST), ([*turns], None))
        for name in others
    ]


@dataclass(frozen=True)
class _Caller:
    """A user of one organization, with a session, and the server that is asked."""

    pid: int
    port: int
    token: str
    queries: Sequence[str]
    session_id: str

    def search(self, extent: Extent) -> float:
        """The milliseconds that a thousand searches take, by so many as are asked, shared by the clients."""
        numbers = count()
        lock = threading.Lock()

        def one_client() -> None:
            connection = _connected(self.port)
            while True:
                with lock:
                    number = next(numbers)
                if number >= extent.requests:
                    break
                query = self.queries[number % len(self.queries)]
                self._ask(connection, "/v1/api/memories/search", {"query": query, "limit": 5})
            connection.close()

        def all_clients() -> None:
            with ThreadPoolExecutor(extent.clients) as threads:
                for client in [threads.submit(one_client) for _ in range(extent.clients)]:
                    client.result()

        return timed(all_clients) * PER / extent.requests

    def take_turns(self, extent: Extent) -> float:
        """The milliseconds of processor time that a thousand turns take, by some of them one after the other."""
        connection = _connected(self.port)

        def turns() -> None:
            for number in range(extent.requests):
                messages = [{"role": "user", "content": self.queries[number % len(self.queries)]}]
                self._ask(connection, f"/v1/api/sessions/{self.session_id}/context", {"messages": messages})

        used = processor_time_of(self.pid, turns)
        connection.close()
        return used * PER / extent.requests

    def _ask(self, connection: http.client.HTTPConnection, path: str, body: object) -> None:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("POST", path, body=json.dumps(body), headers=headers)
        response = connection.getresponse()
        answered = response.read()
        if response.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{response.status}: {answered!r}")


@contextmanager
def _callers(extent: Extent) -> Iterator[list[_Caller]]:
    """Of the organization with few memories, of the one that sees all, of the one with many users."""
    texts = Texts(seed=3)
    contents = [texts.text() for _ in range(extent.many)]
    queries = [texts.query(TERMS) for _ in range(QUERIES)]
    with ExitStack() as closing:
        stack = start_migrated_stack()
        closing.callback(stack.stop)
        organizations = [an_organization(stack.database_url) for _ in range(3)]
        few, seen, spread = organizations
        _fill(stack.database_url, few, contents[: extent.few], users=1)
        _fill(stack.database_url, seen, contents, users=1)
        _fill(stack.database_url, spread, contents, users=USERS)
        api = start_api(stack, ready_within_s=READY_WITHIN_S)
        closing.callback(api.stop)
        port = httpx.URL(api.url).port or 0
        yield [
            _Caller(api.pid, port, made.token.secret, queries, _a_session(api.url, made.token.secret))
            for made in organizations
        ]


def an_organization(database_url: str) -> NewOrganization:
    """A new organization, in which its owner reads and writes memories."""
    engine = build_engine(database_url, Settings(), pool_size=1, application_name="canonry-bench")
    made = with_an_owner(engine, "read", "write")
    engine.dispose()
    return made


def _fill(database_url: str, made: NewOrganization, contents: Sequence[str], *, users: int) -> None:
    """The contents as memories of the owner and of other users, as saves would have left them."""
    org_id, owner = made.organization.org_id, made.owner.user_id
    owners = [owner, *(f"usr_{number}" for number in range(1, users))]
    with connect(database_url, Settings(), application_name="canonry-bench") as connection:
        with connection.cursor() as cursor, cursor.copy(INSERT) as copy:
            for number, content in enumerate(contents):
                identity = (org_id, "user", owners[number % users], f"memory_{number}", str(uuid7()), "general")
                copy.write_row((*identity, "What it is.", content, "now", "now", 1, owner, owner, "-"))
        connection.execute("vacuum analyze structured_memories")


def _a_session(url: str, token: str) -> str:
    headers = {"Authorization": f"Bearer {token}"}
    made = httpx.post(f"{url}/v1/api/sessions", json={"kind": "interactive"}, headers=headers, trust_env=False)
    return str(made.raise_for_status().json()["session_id"])


def _connected(port: int) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=LIMIT_S)
    connection.connect()
    return connection


if __name__ == "__main__":
    main()
