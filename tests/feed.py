"""The change feed for tests: read page by page, and followed as a stream."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from tests.client import PREFIX, Client, Json, items, ok

STREAM = "/events/stream"


def every_event(client: Client, path: str = "/events", *, limit: int = 200, **query: str) -> list[Json]:
    """Every event that may be read now, page by page."""
    cursor = "after" if path == "/events" else "cursor"
    page = _page(client, path, {"limit": limit, **query})
    found = items(page)
    while len(items(page)) == limit:
        page = _page(client, path, {"limit": limit, cursor: str(ok(page)["next_cursor"])})
        found += items(page)
    return found


def _page(client: Client, path: str, query: Mapping[str, str | int]) -> httpx.Response:
    return client.request("GET", path, query=query)


def now(client: Client) -> str:
    """The cursor of what happens from now on."""
    return str(ok(client.get("/events", after="latest"))["next_cursor"])


def kinds(events: list[Json]) -> list[str]:
    return [str(event["kind"]) for event in events]


@dataclass
class Streamed:
    """A stream that is being read: the blocks that have arrived."""

    response: httpx.Response
    lines: Iterator[str]
    ids: list[str] = field(default_factory=list)

    def comment(self) -> str:
        """The next comment; the id that comes with it is kept."""
        block = self._block()
        assert block[0].startswith(": "), block
        return block[0].removeprefix(": ")

    def event(self) -> Json:
        """The next event; comments before it are passed."""
        while True:
            block = self._block()
            data = [line.removeprefix("data: ") for line in block if line.startswith("data: ")]
            if data:
                body: Json = json.loads("\n".join(data))
                return body

    def rest(self) -> list[str]:
        """All lines until the server ends the stream."""
        return list(self.lines)

    def _block(self) -> list[str]:
        block: list[str] = []
        for line in self.lines:
            if not line:
                break
            block.append(line)
        assert block, "the stream has ended"
        self.ids += [line.removeprefix("id: ") for line in block if line.startswith("id: ")]
        return block


@contextmanager
def a_stream(client: Client, *, headers: Mapping[str, str] | None = None, **query: str) -> Iterator[Streamed]:
    """Follow the feed; the stream's first comment has been read."""
    sent = {"Authorization": f"Bearer {client.token}", **(headers or {})}
    with (
        httpx.Client(base_url=client.base_url + PREFIX, timeout=15, trust_env=False) as connection,
        connection.stream("GET", STREAM, headers=sent, params=query) as response,
    ):
        assert response.status_code == httpx.codes.OK, response.read()
        stream = Streamed(response, response.iter_lines())
        assert stream.comment() == "following"
        yield stream
