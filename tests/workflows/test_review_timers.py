"""A Review's timers over days that a server skips: reminder, expiry and scheduled publication.

Only the workflow's clock is skipped; Postgres keeps the real one.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue
from sqlalchemy import Engine, text
from temporalio.client import Client, WorkflowHandle
from temporalio.testing import TimeSkipper, TimeSkippingConfig

from models.settings import Settings
from models.store.operations import Due, OperationKind, RefreshDue
from tests.workflows.harness import a_worker, run, settings_for, until
from tests.workflows.rows import (
    Tenant,
    a_tenant,
    an_accepted_command,
    an_accepted_submit,
    scheduled,
    scheduled_merges,
    succeeded,
)
from workflows.ids import review_workflow_id
from workflows.review import ReviewWorkflow
from workflows.search_attributes import SEARCH_ATTRIBUTES
from workflows.signals import send
from workflows.visibility import register
from workflows.worker import activities_of

DAY_S = 86_400


@dataclass
class Calendar:
    """An organization whose workflows run on clocks of their own."""

    engine: Engine
    settings: Settings
    client: Client
    skipper: TimeSkipper
    tenant: Tenant

    def handle(self, due: Due) -> WorkflowHandle[ReviewWorkflow, None]:
        return self.skipper.client.get_workflow_handle_for(ReviewWorkflow.run, review_workflow_id(due.review_id or ""))

    async def submitted(self) -> Due:
        """A Review whose clock stands until it is told to go."""
        due = an_accepted_submit(self.engine, self.tenant, "Deployment notes")
        await self.carried_out(due)
        return due

    async def carried_out(self, due: Due) -> None:
        await send(self.skipper.client, due, self.settings)
        await until(lambda: succeeded(self.engine, due))

    def approval(self, due: Due) -> Due:
        request: dict[str, JsonValue] = {"decision": "approved", "expected_review_version": 1}
        return an_accepted_command(self.engine, self.tenant, OperationKind.DECIDE, due.review_id or "", request)

    async def scheduled(self, due: Due, at: datetime) -> None:
        """Have a Review published at a time, and its workflow told."""
        scheduled(self.engine, self.tenant, due, at)
        refresh = RefreshDue(due.org_id, due.review_id or "", due.project_id, "", "open")
        await send(self.skipper.client, refresh, self.settings)

    def merges(self) -> list[Due]:
        return scheduled_merges(self.engine, self.tenant)

    async def days_pass(self, due: Due, days: float) -> None:
        await self.skipper.fast_forward(self.handle(due), timedelta(days=days))

    def execute(self, statement: str, **names: object) -> None:
        with self.engine.begin() as connection:
            connection.execute(text(statement), {"o": self.tenant.org_id, **names})

    def timeline(self, due: Due) -> list[str]:
        with self.engine.connect() as connection:
            rows = connection.execute(
                text("select event from review_timeline where org_id = :o and review_id = :r order by position"),
                {"o": self.tenant.org_id, "r": due.review_id},
            )
            return list(rows.scalars())


@contextlib.asynccontextmanager
async def a_calendar(engine: Engine, address: str) -> AsyncIterator[Calendar]:
    settings = settings_for(address)
    async with a_worker(settings, activities_of(engine, settings)) as client:
        await register(client)
        skipper = TimeSkipper(client, config=TimeSkippingConfig(enabled=False))
        yield Calendar(engine, settings, client, skipper, a_tenant(engine))


def test_the_registration_of_our_search_attributes_ran_against_the_server_that_skips(skipping_temporal: str) -> None:
    async def scenario() -> None:
        async with a_worker(settings_for(skipping_temporal), [], [ReviewWorkflow]) as client:
            await register(client)
            query = " and ".join(f'{name} = "x"' for name in SEARCH_ATTRIBUTES)
            assert (await client.count_workflows(query)).count == 0

    run(scenario())


def test_a_review_is_reminded_of_after_thirty_days_and_expires_after_sixty(
    engine: Engine, skipping_temporal: str
) -> None:
    async def scenario() -> None:
        async with a_calendar(engine, skipping_temporal) as calendar:
            calendar.execute(
                "update organizations set review_reminder_after = :r, review_expires_after = :e where org_id = :o",
                r=30 * DAY_S,
                e=60 * DAY_S,
            )
            due = await calendar.submitted()
            await calendar.days_pass(due, 29)
            assert calendar.timeline(due) == ["submitted"]
            await calendar.days_pass(due, 2)
            await until(lambda: calendar.timeline(due) == ["submitted", "reminded"])
            await calendar.days_pass(due, 28)
            assert calendar.timeline(due) == ["submitted", "reminded"]
            await calendar.days_pass(due, 2)
            await calendar.handle(due).result()
            assert calendar.timeline(due) == ["submitted", "reminded", "expired"]

    run(scenario())


@pytest.mark.parametrize("approved", [True, False])
def test_a_review_is_published_in_thirty_days_by_one_merge_if_it_is_approved_then(
    engine: Engine, skipping_temporal: str, *, approved: bool
) -> None:
    async def scenario() -> None:
        async with a_calendar(engine, skipping_temporal) as calendar:
            due = await calendar.submitted()
            if approved:
                await calendar.carried_out(calendar.approval(due))
            await calendar.scheduled(due, datetime.now(UTC) + timedelta(days=30))
            before = calendar.timeline(due)
            await calendar.days_pass(due, 29)
            assert (calendar.timeline(due), calendar.merges()) == (before, [])
            await calendar.days_pass(due, 2)
            if not approved:
                await until(lambda: calendar.timeline(due) == [*before, "publish_skipped"])
                assert calendar.merges() == []
                return
            await until(lambda: len(calendar.merges()) == 1)
            (merge,) = calendar.merges()
            await calendar.carried_out(merge)
            await calendar.handle(due).result()
            assert (calendar.timeline(due), calendar.merges()) == ([*before, "merged"], [merge])

    run(scenario())
