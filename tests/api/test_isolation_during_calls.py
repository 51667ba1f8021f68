"""Access that ends while a call is under way, held at a lock of the database, counts for that call (memory.md §2)."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import psycopg
import pytest
from sqlalchemy import Engine

from models.database import connect
from models.identifiers import OrganizationId, ProjectId
from models.settings import Settings
from models.store.locks import keep_access
from tests.client import Client, Json, Organization, Person, a_member, a_project, an_organization, ok
from tests.databases import url_of
from tests.tools import Tool, a_tool
from tests.turns import says

LIMIT_S = 10

# What a session of the server waits with, as it looks in `pg_stat_activity`.
WRITE = "%into structured_memories%"
READ = "%m.org_id = $%"
ENDING = "%pg_advisory_xact_lock(%"
KEEPING = "%pg_advisory_xact_lock_shared(%"

# What holds a call, and whatever ends the access to a project.
Lock = Callable[[psycopg.Connection, Organization, str], None]
End = Callable[[Organization, str, Person], httpx.Response]


def remove(organization: Organization, project_id: str, member: Person) -> httpx.Response:
    return organization.owner.delete(f"/projects/{project_id}/members/{member.user_id}")


def make_viewer(organization: Organization, project_id: str, member: Person) -> httpx.Response:
    return organization.owner.patch(f"/projects/{project_id}/members/{member.user_id}", {"role": "viewer"})


def archive(organization: Organization, project_id: str, _member: Person) -> httpx.Response:
    return organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1)


def delete(organization: Organization, project_id: str, _member: Person) -> httpx.Response:
    return organization.owner.delete(f"/projects/{project_id}", version=1)


def the_row(connection: psycopg.Connection, organization: Organization, project_id: str) -> None:
    at = (organization.organization_id, project_id)
    rows = "select from structured_memories where org_id = %s and scope = 'project' and scope_id = %s for update"
    assert connection.execute(rows, at).rowcount == 1


def the_table(connection: psycopg.Connection, _organization: Organization, _project_id: str) -> None:
    connection.execute("lock table structured_memories in access exclusive mode")


def the_access(connection: psycopg.Connection, organization: Organization, project_id: str) -> None:
    keep_access(connection, OrganizationId(organization.organization_id), ProjectId(project_id))


@dataclass(frozen=True)
class Scene:
    """A project with a note, a member of it with a session, and threads to ask from."""

    organization: Organization
    project_id: str
    member: Person
    tool: Tool
    threads: ThreadPoolExecutor

    def call(self, action: str) -> Future[httpx.Response]:
        """Use the tool in a thread."""
        arguments: Json = {"action": action}
        arguments |= {"query": "lighthouse"} if action == "search" else {}
        arguments |= {"name": "note"} if action in ("get", "save", "delete") else {}
        arguments |= {"description": "Another.", "content": "Another."} if action == "save" else {}
        return self.threads.submit(self.tool.send, arguments)

    def turn(self) -> Future[httpx.Response]:
        path = f"/sessions/{self.tool.session_id}/context"
        return self.threads.submit(self.member.client.post, path, says("lighthouse"))

    def end(self, how: End) -> Future[httpx.Response]:
        """End the member's access in a thread."""
        return self.threads.submit(how, self.organization, self.project_id, self.member)

    def notes(self) -> list[tuple[str, str]]:
        """Name and content of all that is in the project."""
        listed = ok(self.organization.owner.get("/admin/memories", scope="project"))["memories"]
        assert isinstance(listed, list)
        return [(str(each["name"]), str(each["content"])) for each in listed if isinstance(each, dict)]


@pytest.fixture
def scene(api: Client) -> Iterator[Scene]:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    member = a_member(organization, project_id)
    tool = a_tool(member.client, project_id=project_id)
    tool.saved("note", "lighthouse")
    with ThreadPoolExecutor(2) as threads:
        yield Scene(organization, project_id, member, tool, threads)


@contextmanager
def held(engine: Engine, lock: Lock, scene: Scene) -> Iterator[Callable[[str], None]]:
    """Hold a lock; the block is given how to wait until a statement that looks so waits for one."""
    url, settings = url_of(engine), Settings()
    with (
        connect(url, settings, application_name="canonry-test") as watching,
        connect(url, settings, application_name="canonry-test") as holding,
        holding.transaction(),
    ):
        lock(holding, scene.organization, scene.project_id)
        yield lambda words: until_it_waits(watching, words)


def until_it_waits(connection: psycopg.Connection, words: str) -> None:
    waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and query like %s"
    give_up_at = time.monotonic() + LIMIT_S
    while not connection.execute(waiting, (words,)).rowcount:
        assert time.monotonic() < give_up_at, f"nothing waits with {words}"
        time.sleep(0.01)


@pytest.mark.parametrize("how", [remove, make_viewer, archive, delete])
def test_access_ends_after_the_save_that_was_under_way(engine: Engine, scene: Scene, how: End) -> None:
    with held(engine, the_row, scene) as until:
        saving = scene.call("save")
        until(WRITE)
        ending = scene.end(how)
        until(ENDING)
    ok(saving.result())
    assert ending.result().is_success
    assert scene.notes() == ([] if how is delete else [("note", "Another.")])
    assert scene.call("save").result().status_code in (403, 404, 409)


@pytest.mark.parametrize(("how", "status"), [(remove, 404), (make_viewer, 403), (archive, 409), (delete, 404)])
@pytest.mark.parametrize("action", ["save", "delete"])
def test_a_write_that_waited_while_access_ended_is_refused(
    engine: Engine, scene: Scene, action: str, how: End, status: int
) -> None:
    with held(engine, the_access, scene) as until:
        ending = scene.end(how)
        until(ENDING)
        writing = scene.call(action)
        until(KEEPING)
    assert ending.result().is_success
    assert writing.result().status_code == status
    assert scene.notes() == ([] if how is delete else [("note", "lighthouse")])


@pytest.mark.parametrize(("how", "code"), [(remove, "not_found"), (archive, "project_archived")])
@pytest.mark.parametrize("action", ["get", "search", "list"])
def test_a_read_during_which_access_ended_shows_nothing(
    engine: Engine, scene: Scene, action: str, how: End, code: str
) -> None:
    with held(engine, the_table, scene) as until:
        reading = scene.call(action)
        until(READ)
        assert scene.end(how).result().is_success
    answered = reading.result()
    assert "About note" not in answered.text
    told = answered.json()
    assert (told["code"] if action == "get" else told["result"]["unavailable"][0]["code"]) == code


@pytest.mark.parametrize(("how", "code"), [(remove, "not_found"), (archive, "project_archived"), (delete, "not_found")])
def test_a_turn_during_which_access_ended_is_given_nothing(engine: Engine, scene: Scene, how: End, code: str) -> None:
    with held(engine, the_access, scene) as until:
        ending = scene.end(how)
        until(ENDING)
        turning = scene.turn()
        until(KEEPING)
    assert ending.result().is_success
    given = ok(turning.result())
    assert given["memories"] == []
    assert given["unavailable"] == [{"scope": "project", "code": code}]
    assert "lighthouse" not in turning.result().text
