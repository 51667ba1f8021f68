"""Submit and poll: a caller may wait, and waiting costs nobody else anything (publication.md §6)."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest
from sqlalchemy import Engine, text

from models.errors import DraftEmpty
from models.identifiers import OperationId, OrganizationId, UserId
from models.settings import Settings
from models.store.operations import OperationKind, accept_operation, fail, succeed
from models.store.transaction import transaction
from tests.client import (
    PREFIX,
    Client,
    Json,
    Organization,
    a_name,
    a_person,
    a_project,
    an_organization,
    ok,
    problem,
    refused_fields,
)
from tests.proposals import a_draft, creates, references, submit
from tests.stack import Stack, start_api

NEVER_S = 86_400.0


def an_operation(engine: Engine, organization: Organization, user_id: str | None = None) -> OperationId:
    """An accepted operation that no delivery loop takes up during the test."""
    org_id, actor_id = OrganizationId(organization.organization_id), UserId(user_id or organization.owner_id)
    with transaction(engine, org_id=org_id, actor_id=actor_id, request_id="test") as tx:
        operation = accept_operation(
            tx,
            kind=OperationKind.MERGE,
            workflow_id=f"publication/{org_id}",
            project_id="prj_x",
            review_id=None,
            request={},
            redeliver_after_s=NEVER_S,
        )
    return operation.operation_id


def end(engine: Engine, organization: Organization, operation_id: OperationId, *, well: bool = True) -> None:
    """End an operation as an activity does."""
    org_id, actor_id = OrganizationId(organization.organization_id), UserId(organization.owner_id)
    with transaction(engine, org_id=org_id, actor_id=actor_id, request_id="test") as tx:
        if well:
            succeed(tx, operation_id, {"review": "rev_x"})
        else:
            fail(tx, operation_id, DraftEmpty("Nothing.", draft_id="drf_x"))


@contextmanager
def waiting(client: Client, operation_id: OperationId, seconds: int) -> Iterator[Future[httpx.Response]]:
    """A request that waits for the operation, begun a moment ago."""
    with ThreadPoolExecutor(1) as threads:
        request = threads.submit(client.get, f"/operations/{operation_id}", wait=seconds)
        time.sleep(0.3)
        assert not request.done()
        yield request


def test_an_operation_is_shown_with_its_progress_and_outcome(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    operation_id = an_operation(engine, organization)
    pending = ok(organization.owner.get(f"/operations/{operation_id}"))
    assert pending == {
        "operation_id": operation_id,
        "kind": "review.merge",
        "status": "pending",
        "progress": {"step": "accepted", "done": 0, "total": 1},
        "result": None,
        "problem": None,
        "workflow_id": f"publication/{organization.organization_id}",
        "created_at": pending["created_at"],
        "updated_at": pending["created_at"],
    }
    assert len(str(pending["created_at"])) == len("2026-01-01T00:00:00.000000Z")
    end(engine, organization, operation_id)
    ended = ok(organization.owner.get(f"/operations/{operation_id}"))
    assert (ended["status"], ended["result"], ended["problem"]) == ("succeeded", {"review": "rev_x"}, None)


def test_a_failed_operation_holds_its_problem(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    operation_id = an_operation(engine, organization)
    end(engine, organization, operation_id, well=False)
    failed = ok(organization.owner.get(f"/operations/{operation_id}"))
    assert (failed["status"], failed["result"]) == ("failed", None)
    assert isinstance(failed["problem"], dict)
    assert failed["problem"].items() >= {"code": "draft_empty", "status": 422, "draft_id": "drf_x"}.items()


def test_an_operation_is_read_by_its_caller_owners_and_admins(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    caller, admin, other = (a_person(organization, role) for role in ("member", "admin", "member"))
    operation_id = an_operation(engine, organization, caller.user_id)
    for client in (caller.client, admin.client, organization.owner):
        ok(client.get(f"/operations/{operation_id}"))
    problem(other.client.get(f"/operations/{operation_id}"), 404, "not_found")
    problem(an_organization(api).owner.get(f"/operations/{operation_id}"), 404, "not_found")


@pytest.mark.parametrize(("wait", "rule"), [("31", "too_large"), ("-1", "type"), ("1.5", "type"), ("x", "type")])
def test_a_wait_is_0_to_30_seconds(api: Client, engine: Engine, wait: str, rule: str) -> None:
    organization = an_organization(api)
    refused = organization.owner.get(f"/operations/{an_operation(engine, organization)}", wait=wait)
    assert refused_fields(refused) == {("wait", rule)}


def test_a_wait_ends_with_the_operation(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    operation_id = an_operation(engine, organization)
    with waiting(organization.owner, operation_id, 30) as request:
        end(engine, organization, operation_id)
        assert ok(request.result(timeout=3))["status"] == "succeeded"


def test_a_wait_in_vain_answers_what_is_known(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    operation_id = an_operation(engine, organization)
    begun = time.monotonic()
    assert ok(organization.owner.get(f"/operations/{operation_id}", wait=1))["status"] == "pending"
    assert 1 <= time.monotonic() - begun < 2.5


def test_a_finished_operation_is_not_waited_for(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    operation_id = an_operation(engine, organization)
    end(engine, organization, operation_id)
    begun = time.monotonic()
    ok(organization.owner.get(f"/operations/{operation_id}", wait=30))
    assert time.monotonic() - begun < 2


def test_an_outcome_that_was_not_announced_is_found_all_the_same(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    operation_id = an_operation(engine, organization)
    with waiting(organization.owner, operation_id, 30) as request:
        with engine.begin() as connection:
            silently = text("""
                update operations set status = 'succeeded', result = '{}', next_delivery_at = null
                where operation_id = :operation_id
            """)
            connection.execute(silently, {"operation_id": operation_id})
        assert ok(request.result(timeout=8))["status"] == "succeeded"


def test_a_wait_survives_the_loss_of_the_listening_connection(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    operation_id = an_operation(engine, organization)
    with waiting(organization.owner, operation_id, 30) as request:
        with engine.begin() as connection:
            kill = "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = :name"
            assert connection.execute(text(kill), {"name": "canonry-listen"}).scalar_one() > 0
        end(engine, organization, operation_id)
        assert ok(request.result(timeout=4))["status"] == "succeeded"


def test_waiting_requests_are_answered_when_the_server_ends(stack: Stack, api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    operation_id = an_operation(engine, organization)
    service = start_api(stack)
    client = Client(service.url, organization.owner.token)
    ok(client.get("/me"))
    with waiting(client, operation_id, 30) as request:
        begun = time.monotonic()
        assert service.stop() == 0
        assert ok(request.result())["status"] == "pending"
        assert time.monotonic() - begun < 5


@pytest.mark.usefixtures("worker")
def test_a_command_that_is_done_in_time_answers_as_if_it_were_synchronous(api: Client) -> None:
    owner = an_organization(api).owner
    submitted = submit(owner, a_draft(owner, a_project(owner), creates("a.md")))
    review = ok(submitted, 201)
    assert submitted.headers["preference-applied"] == "wait=25"
    assert submitted.headers["etag"] == f'"{review["version"]}"'
    operation = ok(owner.get(submitted.headers["location"]))
    assert (operation["status"], operation["result"]) == ("succeeded", review)


@pytest.mark.usefixtures("worker")
def test_a_command_that_is_refused_in_time_answers_with_its_problem(api: Client) -> None:
    owner = an_organization(api).owner
    draft = a_draft(owner, a_project(owner), creates("a.md"))
    refused = submit(owner, {**draft, "version": 7})
    document = problem(refused, 409, "version_conflict")
    assert (document["expected"], document["actual"]) == (7, 1)
    assert refused.headers["preference-applied"] == "wait=25"
    stored = ok(owner.get(refused.headers["location"]))["problem"]
    assert isinstance(stored, dict)
    assert document.items() >= stored.items()


@pytest.mark.parametrize("preference", [None, "", "wait", "wait=0", "wait=-1", "wait=x", "respond-async", "wait=1.5"])
def test_without_a_valid_preference_a_command_is_accepted_at_once(api: Client, preference: str | None) -> None:
    owner = an_organization(api).owner
    draft = a_draft(owner, a_project(owner), creates("a.md"))
    body: Json = {"project_id": draft["project_id"], "title": "t", "drafts": references([draft])}
    accepted = owner.post("/reviews", body, headers={} if preference is None else {"Prefer": preference})
    operation = ok(accepted, 202)
    assert accepted.headers["location"] == f"{PREFIX}/operations/{operation['operation_id']}"
    assert "preference-applied" not in accepted.headers
    assert operation["kind"] == "review.submit"


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("preference", "applied"),
    [("wait=99", "wait=30"), ('respond-async, Wait="20"', "wait=20"), ("wait=20; x=y", "wait=20")],
)
def test_a_preference_is_read_leniently_and_capped(api: Client, preference: str, applied: str) -> None:
    owner = an_organization(api).owner
    draft = a_draft(owner, a_project(owner), creates("a.md"))
    body: Json = {"project_id": draft["project_id"], "title": "t", "drafts": references([draft])}
    submitted = owner.post("/reviews", body, headers={"Prefer": preference})
    ok(submitted, 201)
    assert submitted.headers["preference-applied"] == applied


def connections(engine: Engine) -> int:
    """How many connections the API processes have open."""
    with engine.connect() as connection:
        named = "select count(*) from pg_stat_activity where application_name in ('canonry-api', 'canonry-listen')"
        return int(connection.execute(text(named)).scalar_one())


def test_300_waiting_requests_hold_nobody_up(api: Client, engine: Engine) -> None:
    """100 reads and 20 writes are answered while all 300 wait, over no more connections than a process may hold."""
    organization = an_organization(api)
    operation_ids = [an_operation(engine, organization) for _ in range(300)]
    project_id = a_project(organization.owner)
    answered, waited, most_connections = asyncio.run(_crowd(organization.owner, operation_ids, project_id, engine))
    assert answered == [200] * 100 + [201] * 20
    assert waited == 300
    assert most_connections <= 2 * Settings().api_pool_size + 3


async def _crowd(
    client: Client, operation_ids: list[OperationId], project_id: str, engine: Engine
) -> tuple[list[int], int, int]:
    limits = httpx.Limits(max_connections=None)
    headers = {"Authorization": f"Bearer {client.token}"}
    async with httpx.AsyncClient(
        base_url=client.base_url + PREFIX,
        headers=headers,
        limits=limits,
        timeout=60,
        trust_env=False,
        verify=False,  # noqa: S501  (loopback, no TLS)
    ) as http:
        waits = [
            asyncio.create_task(http.get(f"/operations/{operation_id}", params={"wait": 30}))
            for operation_id in operation_ids
        ]
        await asyncio.sleep(2)
        reads = [http.get(f"/projects/{project_id}") for _ in range(100)]
        writes = [http.post("/projects", json={"name": a_name("Crowded")}) for _ in range(20)]
        answers = await asyncio.gather(*reads, *writes)
        open_connections = await asyncio.to_thread(connections, engine)
        still_waiting = sum(not wait.done() for wait in waits)
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
    return [answer.status_code for answer in answers], still_waiting, open_connections
