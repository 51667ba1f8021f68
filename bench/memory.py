"""The processor time of a server for reading and saving a memory, against handlers written by hand (`bare_memory`).

Both servers stand on one database and are asked in turns, on one connection each; what counts is the time that the
server's process has used, whatever else the machine does. Then follow what finding memories takes (`relevance`), and
what becomes of searches and turns as memories become many (`memory_load`).
"""

import argparse
import contextlib
import http
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import httpx

from bench import memory_load, relevance
from bench.measuring import Comparison, Schedule, interleaved, processor_time_of, table
from canonry.embedded.ports import LOOPBACK, free_port
from tests.stack import start_api, start_migrated_stack

FULL = Schedule(rounds=7, repeats=5, warm_up=2)
QUICK = Schedule(rounds=1, repeats=1, warm_up=1)
REQUESTS, QUICK_REQUESTS = 500, 5
AT_MOST = 2.0
LIMIT_S = 30
NAMES = 20
PER = 1_000
CONTENT = "A paragraph of what an agent would keep for later, with words of all kinds in it. " * 12  # 1 KB

GET, BARE_GET = "GET a memory of 1 KB, CPU of 1,000", "by hand"
SAVE, BARE_SAVE = "save a memory of 1 KB, CPU of 1,000", "by hand, same writes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: too short to mean anything")
    quick = parser.parse_args().quick
    measured = measure_requests(QUICK if quick else FULL, QUICK_REQUESTS if quick else REQUESTS)
    print(table(measured), end="\n\n", flush=True)
    relevance.measure_relevance(relevance.QUICK if quick else relevance.FULL)
    loaded = memory_load.QUICK if quick else memory_load.FULL
    extent = memory_load.QUICK_EXTENT if quick else memory_load.FULL_EXTENT
    print("\n" + table(memory_load.measure_load(loaded, extent)), end="\n\n", flush=True)


def measure_requests(schedule: Schedule, requests: int) -> list[Comparison]:
    with _servers() as (ours, bare):
        medians = interleaved(
            {
                GET: lambda: ours.cpu_of(requests, "GET"),
                BARE_GET: lambda: bare.cpu_of(requests, "GET"),
                SAVE: lambda: ours.cpu_of(requests, "POST"),
                BARE_SAVE: lambda: bare.cpu_of(requests, "POST"),
            },
            schedule,
        )
    return [
        Comparison(GET, medians[GET], BARE_GET, medians[BARE_GET], AT_MOST),
        Comparison(SAVE, medians[SAVE], BARE_SAVE, medians[BARE_SAVE], AT_MOST),
    ]


@dataclass(frozen=True)
class _Server:
    """A server, asked on one connection as one token."""

    pid: int
    connection: http.client.HTTPConnection
    token: str

    def cpu_of(self, requests: int, method: str) -> float:
        """The milliseconds of processor time that a thousand requests take, by so many one after the other."""

        def asked() -> None:
            for number in range(requests):
                self.ask(method, number % NAMES)

        return processor_time_of(self.pid, asked) * PER / requests

    def ask(self, method: str, number: int) -> None:
        """Read or save the memory of this number."""
        headers = {"Authorization": f"Bearer {self.token}"}
        if method == "GET":
            self.connection.request("GET", f"/v1/api/memories/memory_{number}", headers=headers)
        else:
            memory = {"name": f"memory_{number}", "description": "What it is about.", "content": CONTENT}
            body = json.dumps(memory)
            self.connection.request(
                "POST", "/v1/api/memories", body=body, headers={**headers, "Content-Type": "application/json"}
            )
        response = self.connection.getresponse()
        answered = response.read()
        if response.status not in (http.HTTPStatus.OK, http.HTTPStatus.CREATED):
            raise RuntimeError(f"{response.status}: {answered!r}")


@contextmanager
def _servers() -> Iterator[tuple[_Server, _Server]]:
    """Our API, and the handlers by hand, on one database."""
    with ExitStack() as closing:
        stack = start_migrated_stack()
        closing.callback(stack.stop)
        token = memory_load.an_organization(stack.database_url).token.secret
        api = start_api(stack)
        closing.callback(api.stop)
        bare_port = free_port()
        command = [sys.executable, "-m", "bench.bare_memory", stack.database_url, str(bare_port)]
        bare = subprocess.Popen(command)  # noqa: S603
        closing.callback(bare.wait)
        closing.callback(bare.terminate)
        to_ours = closing.enter_context(contextlib.closing(_connected(httpx.URL(api.url).port or 0)))
        to_theirs = closing.enter_context(contextlib.closing(_connected(bare_port)))
        ours, theirs = _Server(api.pid, to_ours, token), _Server(bare.pid, to_theirs, token)
        for number in range(NAMES):
            ours.ask("POST", number)
        yield ours, theirs


def _connected(port: int) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=LIMIT_S)
    deadline = time.perf_counter() + LIMIT_S
    while True:
        try:
            connection.connect()
        except OSError:
            if time.perf_counter() > deadline:
                raise
            time.sleep(0.05)
        else:
            return connection


if __name__ == "__main__":
    main()
