"""Large answers are sent while they are read, compressed where that is asked for, and never cut unnoticed."""

import gzip
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import httpx
import orjson
import pytest
from sqlalchemy import Engine, text

from bench.organizations import a_library
from models.store.tokens import issue_token
from tests.client import Client, ok, problem
from tests.hash_reference import verify
from tests.proposals import a_place, all_items, creates, inside, published
from tests.rows import Somewhere, acting, execute

pytestmark = pytest.mark.usefixtures("worker")

MEMORIES = 2_000
AT_ONCE = 12
"""More clients than an API process has threads and database connections."""


@dataclass(frozen=True)
class Large:
    """An organization of some megabytes, all of which its project selects, and a client of its owner."""

    place: Somewhere
    owner: Client

    def url(self, chain: str = "/org") -> str:
        return str(ok(self.owner.get(f"{chain}/commit-state"))["download_url"])


@pytest.fixture(scope="module")
def large(api: Client, engine: Engine) -> Large:
    place = a_library(engine, MEMORIES).place
    with acting(place) as tx:
        issued = issue_token(tx, user_id=place.owner, name="Reader", permissions=["read"], expires_at=None)
    return Large(place, api.with_token(issued.secret))


@contextmanager
def answering(
    client: Client, url: str, accepted: str | None = "identity", *, buffer: int = 2**20
) -> Iterator[httpx.Response]:
    """An answer of which nothing but the head was taken yet, by a client that buffers so many bytes."""
    headers = {"Authorization": f"Bearer {client.token}"}
    if accepted is not None:
        headers["Accept-Encoding"] = accepted
    transport = httpx.HTTPTransport(socket_options=[(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)])
    with httpx.Client(transport=transport, timeout=60) as connection:
        request = connection.build_request("GET", client.base_url + url, headers=headers)
        if accepted is None:
            del request.headers["Accept-Encoding"]
        answer = connection.send(request, stream=True)
        try:
            yield answer
        finally:
            answer.close()


def raw(client: Client, url: str, accepted: str | None) -> tuple[httpx.Headers, bytes]:
    """The head of an answer, and its bytes as they come over the wire."""
    with answering(client, url, accepted) as answer:
        return answer.headers, b"".join(answer.iter_raw())


def test_a_large_snapshot_comes_in_parts_and_is_whole(large: Large) -> None:
    for chain in ("/org", f"/projects/{large.place.project_id}"):
        headers, content = raw(large.owner, large.url(chain), "identity")
        assert (headers["transfer-encoding"], headers["content-type"]) == ("chunked", "application/json")
        assert "content-length" not in headers
        verify(orjson.loads(content))


def test_a_small_one_comes_at_once_with_its_length(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    url = str(ok(organization.owner.get("/org/commit-state"))["download_url"])
    for coding in ("identity", "gzip"):
        headers, content = raw(organization.owner, url, coding)
        assert int(headers["content-length"]) == len(content)


@pytest.mark.parametrize("accepted", ["gzip", "deflate, gzip;q=0.5", "*", "x, GZIP ; q=1.0"])
def test_it_is_compressed_where_that_is_accepted(large: Large, accepted: str) -> None:
    plain, whole = raw(large.owner, large.url(), "identity")
    headers, content = raw(large.owner, large.url(), accepted)
    assert (headers["content-encoding"], headers["vary"], plain["vary"]) == (
        "gzip",
        "Accept-Encoding",
        "Accept-Encoding",
    )
    assert headers["etag"] == plain["etag"]
    assert gzip.decompress(content) == whole
    assert len(content) < len(whole) / 2


@pytest.mark.parametrize("accepted", [None, "", "identity", "br", "gzip;q=0", "*;q=0.0, deflate", "gzip;q=0, *"])
def test_it_is_sent_as_it_is_where_it_is_not(large: Large, accepted: str | None) -> None:
    headers, content = raw(large.owner, large.url(), accepted)
    assert ("content-encoding" in headers, content[:11]) == (False, b'{"commit":{')


def test_a_text_that_several_memories_have_is_sent_once(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, *(creates(f"{number}.md", f"{number % 3}\n") for number in range(9)))
    for chain in ("/org", f"/projects/{project_id}"):
        snapshot = ok(organization.owner.get(str(ok(organization.owner.get(f"{chain}/commit-state"))["download_url"])))
        blobs = snapshot["blobs"]
        assert isinstance(blobs, list)
        assert len(blobs) == 3 + (chain != "/org")
        verify(snapshot)


def test_clients_that_do_not_read_on_hold_neither_threads_nor_transactions(large: Large, engine: Engine) -> None:
    url = large.url()
    with ExitStack() as opened:
        for _ in range(AT_ONCE):
            opened.enter_context(answering(large.owner, url, buffer=4_096))
        began = time.monotonic()
        ok(large.owner.get("/me"))
        assert time.monotonic() - began < 5
        busy = text("""
            select count(*) from pg_stat_activity
            where application_name = 'canonry-api' and datname = current_database() and state <> 'idle'
              and xact_start < clock_timestamp() - interval '1 second'
        """)
        time.sleep(1.2)
        with engine.connect() as connection:
            assert connection.execute(busy).scalar_one() == 0


def test_what_goes_wrong_midway_ends_the_connection(large: Large, engine: Engine) -> None:
    """The last entry of a projection is taken away; that the tree is another one is only seen at its end."""
    place = a_library(engine, MEMORIES).place
    with acting(place) as tx:
        token = issue_token(tx, user_id=place.owner, name="Reader", permissions=["read"], expires_at=None).secret
    owner = large.owner.with_token(token)
    url = str(ok(owner.get(f"/projects/{place.project_id}/commit-state"))["download_url"])
    execute(
        place,
        """
        delete from projection_versions
        where org_id = :o and memory_id = (select max(memory_id) from memories where org_id = :o)
        """,
    )
    for coding in ("identity", "gzip"):
        with answering(owner, url, coding) as answer:
            assert answer.status_code == httpx.codes.OK
            with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
                answer.read()
    ok(owner.get("/me"))


def test_what_has_gone_before_the_first_part_is_not_found(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    state = ok(organization.owner.get(f"/projects/{project_id}/commit-state"))
    commit = inside(state, "latest")
    with engine.begin() as connection:
        gone = text("delete from projection_versions where org_id = :o and project_id = :p and path is not null")
        connection.execute(gone, {"o": organization.organization_id, "p": project_id})
    problem(organization.owner.get(f"/commits/{commit['commit_id']}"), 404, "not_found")


def test_listing_commits_and_reviews_touches_no_text(api: Client, engine: Engine) -> None:
    """An exclusive lock on all texts is held meanwhile: what read one would wait for it."""
    organization, project_id = a_place(api)
    for number in range(3):
        published(organization.owner, project_id, creates(f"{number}.md"))
    lists = ("/org/commits", f"/projects/{project_id}/commits", "/reviews")
    with engine.begin() as connection:
        connection.execute(text("lock table blobs in access exclusive mode"))
        shown = [all_items(organization.owner, path, limit=2) for path in lists]
    assert [len(each) for each in shown] == [3, 3, 3]
