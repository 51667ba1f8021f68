"""Without Temporal commands are accepted and everything is read; with it back, each is carried out."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import httpx
import pytest
from pydantic import JsonValue
from sqlalchemy import text
from temporalio.client import Client as TemporalClient
from temporalio.service import RPCError

from models.identifiers import OrganizationId
from models.settings import Settings
from tests import commands, policies, rows
from tests.client import PREFIX, Client, Json, Organization, a_project, an_organization, items, ok
from tests.hash_reference import verify
from tests.installation import Installation, an_installation, log_text, until
from tests.invariants import check_invariants
from tests.load import ENDED, place_of
from tests.parts import restart
from tests.proposals import a_draft, a_review, append, at_version, creates, published, references, updates
from tests.rebasing import a_candidate
from tests.workflows.harness import events_of
from workflows.temporal_link import connect

READY = {"status": "ready", "database": "up", "migrations": "up", "temporal": "up"}
WITHOUT_TEMPORAL = READY | {"temporal": "down"}
SOON_S = 4
REVIEWED = ("resubmit", "withdraw", "decide", "merge")
COMMANDS = ("submit", *REVIEWED, "reconcile", "select")


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with an_installation() as running:
        yield running


@contextmanager
def stopped(installation: Installation) -> Iterator[None]:
    """No server at the address while the block runs."""
    installation.kill(installation.stack.temporal)
    try:
        yield
    finally:
        restart(installation.stack.temporal)


@contextmanager
def frozen(installation: Installation) -> Iterator[None]:
    """A server that takes connections and says nothing while the block runs."""
    os.kill(installation.stack.temporal.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(installation.stack.temporal.pid, signal.SIGCONT)


@dataclass(frozen=True)
class Desk:
    """An organization that has something for every command: Drafts, Reviews, and a project that selects nothing yet."""

    organization: Organization
    project_id: str
    selecting_project_id: str
    memory_id: str
    drafts: Mapping[str, Json]
    reviews: Mapping[str, Json]

    @property
    def owner(self) -> Client:
        return self.organization.owner

    def command(self, name: str) -> httpx.Response:  # noqa: PLR0911  (one a route)
        """A request to one of the workflow routes, without waiting for the outcome."""
        match name:
            case "submit":
                more: Json = {"project_id": self.project_id, "title": "Sent", "drafts": references([self.drafts[name]])}
                return self.owner.post("/reviews", more)
            case "resubmit":
                return self._about(name, "submissions", drafts=self._members(name))
            case "withdraw":
                return self._about(name, "withdrawals")
            case "decide":
                return self._about(name, "decisions", decision="approved")
            case "merge":
                return self._about(name, "merges")
            case "reconcile":
                draft = self.drafts[name]
                path = f"/drafts/{draft['draft_id']}/reconciliation-candidates"
                return self.owner.post(path, {"expected_draft_version": draft["version"]})
            case _:
                path = f"/projects/{self.selecting_project_id}/org-selections"
                body: Json = {"resource_ids": [self.memory_id]}
                return self.owner.put(path, body, headers=at_version(ok(self.owner.get(path))))

    def _about(self, name: str, route: str, **more: JsonValue) -> httpx.Response:
        review = self.reviews[name]
        body: Json = {"expected_review_version": review["version"], **more}
        return self.owner.post(f"/reviews/{review['review_id']}/{route}", body)

    def _members(self, name: str) -> list[JsonValue]:
        members = self.reviews[name]["drafts"]
        assert isinstance(members, list)
        return [
            {"draft_id": member["draft_id"], "expected_draft_version": member["draft_version"]}
            for member in members
            if isinstance(member, dict)
        ]

    def operation(self, location: str) -> Json:
        return ok(self.owner.get(location.removeprefix(PREFIX)))


def a_desk(installation: Installation) -> Desk:
    organization = an_organization(installation.client)
    owner = organization.owner
    project_id = a_project(owner)
    (memory_id,) = published(owner, project_id, creates("first.md", "a\nb\nc\n"))
    drafts = {name: a_draft(owner, project_id, creates(f"{name}.md")) for name in ("submit", *REVIEWED, "append")}
    drafts["reconcile"] = a_draft(owner, project_id, updates(memory_id, "ours\nb\nc\n"))
    published(owner, project_id, updates(memory_id, "a\nb\ntheirs\n"))
    reviews = {name: a_review(owner, drafts[name]) for name in REVIEWED}
    return Desk(organization, project_id, a_project(owner), memory_id, drafts, reviews)


def accept_all(desk: Desk) -> list[str]:
    """Where the operations of one command to each workflow route are found; each answers 202 within a second."""
    locations = []
    for name in COMMANDS:
        began = time.monotonic()
        answer = desk.command(name)
        assert time.monotonic() - began < 1, name
        ok(answer, 202)
        locations.append(answer.headers["Location"])
    return locations


def require_served(desk: Desk) -> None:
    """Snapshots, lists and appends."""
    for path in ("/org/commit-state", f"/projects/{desk.project_id}/commit-state"):
        verify(ok(desk.owner.get(str(ok(desk.owner.get(path))["download_url"]))))
    for path in ("/org/commits", "/org/memories", "/drafts", "/reviews", f"/projects/{desk.project_id}/commits"):
        assert items(desk.owner.get(path)), path
    draft = desk.drafts["append"]
    assert ok(append(desk.owner, draft, creates("appended.md")))["version"] == 2


def require_success(installation: Installation, desk: Desk, locations: list[str]) -> None:
    """All operations succeed, and the organization is whole."""

    def unfinished() -> list[Json]:
        operations = [desk.operation(location) for location in locations]
        return [operation for operation in operations if operation["status"] not in ENDED]

    until(lambda: not unfinished(), seconds=60, otherwise=unfinished)
    outcomes = [desk.operation(location) for location in locations]
    assert [(each["kind"], each["problem"]) for each in outcomes] == [(each["kind"], None) for each in outcomes]
    check_invariants(installation.engine, OrganizationId(desk.organization.organization_id))


@pytest.mark.parametrize("absence", [stopped, frozen])
def test_without_temporal_commands_are_accepted_at_once_and_everything_is_served(
    installation: Installation, absence: Callable[[Installation], AbstractContextManager[None]]
) -> None:
    before, after = a_desk(installation), a_desk(installation)
    with absence(installation):
        not_yet_noticed = accept_all(before)
        until(lambda: installation.readiness() == WITHOUT_TEMPORAL, otherwise=installation.readiness)
        noticed = accept_all(after)
        require_served(before)
        locations = [*not_yet_noticed, *noticed]
        assert {before.operation(location)["status"] for location in not_yet_noticed} == {"pending"}
    assert len(set(locations)) == 2 * len(COMMANDS)
    require_success(installation, before, not_yet_noticed)
    require_success(installation, after, noticed)
    until(lambda: installation.readiness() == READY, otherwise=installation.readiness)


def test_28_operations_end_although_temporal_loses_its_store_while_they_are_pending(
    installation: Installation,
) -> None:
    """Delivered and taken up, but held by locks; then the store is gone, with its search attributes."""
    desks = [a_desk(installation) for _ in range(4)]
    with held(installation, desks):
        locations = [accept_all(desk) for desk in desks]
        operations = [desk.operation(location) for desk, own in zip(desks, locations, strict=True) for location in own]
        asyncio.run(until_delivered(installation, operations))
        installation.lose_temporal_store()
        restart(installation.stack.temporal)
        still = [desk.operation(location) for desk, own in zip(desks, locations, strict=True) for location in own]
        assert not [operation for operation in still if operation["status"] in ENDED]
    assert len(still) == 28
    for desk, own in zip(desks, locations, strict=True):
        require_success(installation, desk, own)
    assert installation.api.is_running()
    assert installation.worker.is_running()
    assert "unforeseen" not in log_text(installation.worker)


@pytest.mark.long
def test_what_waits_for_its_time_or_for_a_pass_happens_once_although_temporal_loses_its_store(
    installation: Installation,
) -> None:
    """A publication and a reminder whose timers ran there, Drafts that fell behind while it was away, and a rebase."""
    organization = an_organization(installation.client)
    place = place_of(installation.engine, organization, a_project(organization.owner))
    (memory_id,) = commands.published(place, rows.creates("a.md", "a\nb\nc\n"))
    reminded, due = (commands.a_review(place, rows.a_draft(place, rows.creates(f"{name}.md"))) for name in "rd")
    commands.decided(place, due, "approved")
    policies.scheduled(place, due, policies.from_now(SOON_S))
    policies.reminds_after(place, SOON_S)
    equal = rows.a_draft(place, rows.creates("equal.md"))
    asking = rows.a_draft(place, rows.updates(memory_id, "ours\nb\nc\n"))
    waiting = "select count(*) from reviews where org_id = :o and refresh_pending"
    until(lambda: installation.count(waiting, o=place.org_id) == 0)
    installation.lose_temporal_store()
    commands.published(place, rows.updates(memory_id, "a\nb\ntheirs\n"))
    rebase = a_rebase_asked_for(installation)
    restart(installation.stack.temporal)
    until(lambda: rebase()["status"] == "succeeded", seconds=60, otherwise=rebase)
    until(lambda: commands.review(place, due).status == "merged", seconds=60)
    until(lambda: commands.review(place, reminded).reminded_submission == 1)
    until(lambda: rows.current(place, equal).base_version == rows.ref_of(place)[1])
    compared = "select count(*) from reconciliation_candidates where org_id = :o and draft_id = :d"
    until(lambda: installation.count(compared, o=place.org_id, d=asking.draft_id) > 0)
    assert len(policies.scheduled_merges(place, due)) == 1
    assert [event for event, _, _ in policies.happened(place, reminded)] == ["submitted", "reminded"]
    check_invariants(installation.engine, place.org_id)


def a_rebase_asked_for(installation: Installation) -> Callable[[], Json]:
    """A rebase in an organization of its own, accepted; what is known of its operation."""
    organization = an_organization(installation.client)
    place = place_of(installation.engine, organization, a_project(organization.owner))
    (memory_id,) = commands.published(place, rows.creates("a.md", "a\nb\nc\n"))
    draft = rows.a_draft(place, rows.updates(memory_id, "ours\nb\nc\n"))
    commands.published(place, rows.updates(memory_id, "a\nb\ntheirs\n"))
    candidate_id = a_candidate(place, draft)["candidate_id"]
    body: Json = {"expected_draft_version": draft.version, "candidate_id": candidate_id}
    answer = organization.owner.post(f"/drafts/{draft.draft_id}/rebases", body)
    ok(answer, 202)
    return lambda: ok(organization.owner.get(answer.headers["Location"].removeprefix(PREFIX)))


@contextmanager
def held(installation: Installation, desks: list[Desk]) -> Iterator[None]:
    """No command of these organizations is carried out while the block runs: each takes this row first."""
    with installation.engine.begin() as connection:
        connection.execute(text("set local idle_in_transaction_session_timeout = 0"))
        connection.execute(
            text("select from organization_refs where org_id = any(:ids) order by org_id for no key update"),
            {"ids": [desk.organization.organization_id for desk in desks]},
        )
        yield


async def until_delivered(installation: Installation, operations: list[Json]) -> None:
    """Return once the history of its workflow names each operation."""
    client = await connect(Settings(temporal_address=installation.stack.temporal_address))
    async with asyncio.timeout(30):
        for operation in operations:
            while not await _is_named(client, str(operation["workflow_id"]), str(operation["operation_id"])):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def _is_named(client: TemporalClient, workflow_id: str, operation_id: str) -> bool:
    try:
        events = await events_of(client, workflow_id)
    except RPCError:  # not started yet
        return False
    return any(operation_id.encode() in event.SerializeToString() for event in events)
