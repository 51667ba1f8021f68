"""Record the histories that the replay tests replay: `python -m tests.replay.record`, from the repository's root.

Words after it name the cases to play, as `import/whole`; without any, all are.

Each case is carried out by the real activities on a real Postgres and Temporal. Run it when a workflow changes on
purpose, and keep the old files beside the new ones while runs of the old code may still be open.
"""

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine, text
from temporalio.client import Client, WorkflowContinuedAsNewError

from models.database import build_engine
from models.migrations import upgrade
from models.settings import Settings
from models.store.locks import DraftRow
from models.store.operations import Due, OperationKind, RefreshDue
from models.store.unreconciled import BehindDue
from search.memory_index import MemoryIndex
from tests.indexes import Filled
from tests.parts import restart
from tests.stack import Stack, start_stack
from tests.workflows.harness import a_worker, settings_for, until
from tests.workflows.owners import a_queue, an_owner, owned
from tests.workflows.rows import (
    Tenant,
    a_tenant,
    an_accepted_candidate,
    an_accepted_command,
    an_accepted_import,
    an_accepted_rebase,
    an_accepted_selection,
    an_accepted_submit,
    an_open_draft,
    operation_of,
    scheduled,
    scheduled_merges,
)
from workflows.ids import REINDEX, RETENTION, publication_workflow_id
from workflows.reindex import ReindexWorkflow
from workflows.retention import RetentionWorkflow
from workflows.signals import send
from workflows.worker import activities_of

HISTORIES = Path(__file__).parent.parent / "histories"
APPROVED: Mapping[str, str | int] = {"decision": "approved", "expected_review_version": 1}
REJECTED: Mapping[str, str | int] = {"decision": "rejected", "expected_review_version": 1}


@dataclass(frozen=True)
class Studio:
    """Where a case is played."""

    engine: Engine
    client: Client
    settings: Settings
    tenant: Tenant

    async def deliver(self, *dues: Due) -> None:
        for due in dues:
            await send(self.client, due, self.settings)

    async def finish(self, *dues: Due) -> None:
        """Deliver, and wait until all have their outcome."""
        await self.deliver(*dues)
        await until(lambda: all(operation_of(self.engine, due).finished for due in dues))
        await self.settle()

    async def settle(self) -> None:
        """Let the workflows record what became of it."""
        await asyncio.sleep(1)

    async def ended(self, workflow_id: str) -> None:
        await self.client.get_workflow_handle(workflow_id).result()

    def submit(self) -> Due:
        return an_accepted_submit(self.engine, self.tenant, "Deployment notes")

    def command(self, kind: OperationKind, submitted: Due, request: Mapping[str, str | int]) -> Due:
        return an_accepted_command(self.engine, self.tenant, kind, submitted.review_id or "", dict(request))

    def merge(self, submitted: Due, version: int = 1) -> Due:
        return self.command(OperationKind.MERGE, submitted, {"expected_review_version": version})


async def review_withdrawn(studio: Studio) -> str:
    submitted = studio.submit()
    await studio.finish(submitted)
    await studio.finish(studio.command(OperationKind.WITHDRAW, submitted, {"expected_review_version": 1}))
    await studio.ended(submitted.workflow_id)
    return submitted.workflow_id


async def review_refused(studio: Studio) -> str:
    submitted, again = studio.submit(), studio.submit()
    with studio.engine.begin() as connection:  # the Draft that it names is not there
        connection.execute(
            text(
                "update operations set request = jsonb_set(request, '{drafts,0,draft_id}', '\"drf_0\"')"
                " where operation_id = :id"
            ),
            {"id": again.operation_id},
        )
    await studio.finish(submitted, again)
    await studio.ended(again.workflow_id)
    return again.workflow_id


async def review_approved_and_merged(studio: Studio) -> str:
    submitted = studio.submit()
    await studio.finish(submitted)
    await studio.finish(studio.command(OperationKind.DECIDE, submitted, APPROVED))
    await studio.finish(studio.merge(submitted, 2))
    await studio.ended(submitted.workflow_id)
    return submitted.workflow_id


async def review_open(studio: Studio) -> str:
    submitted = studio.submit()
    await studio.finish(submitted)
    return submitted.workflow_id


async def review_started_from_its_row(studio: Studio) -> str:
    submitted = studio.submit()
    await studio.finish(submitted)
    await studio.client.get_workflow_handle(submitted.workflow_id).terminate()
    refresh = RefreshDue(
        studio.tenant.org_id, submitted.review_id or "", studio.tenant.project_id, "Deployment notes", "open"
    )
    await send(studio.client, refresh, studio.settings)
    await studio.settle()
    await studio.finish(studio.command(OperationKind.DECIDE, submitted, REJECTED))
    return submitted.workflow_id


async def review_reminded_and_expired(studio: Studio) -> str:
    with studio.engine.begin() as connection:
        connection.execute(
            text("update organizations set review_reminder_after = 2, review_expires_after = 4 where org_id = :org_id"),
            {"org_id": studio.tenant.org_id},
        )
    submitted = studio.submit()
    await studio.finish(submitted)
    await studio.ended(submitted.workflow_id)
    return submitted.workflow_id


async def review_published_on_time(studio: Studio) -> str:
    submitted = studio.submit()
    await studio.finish(submitted)
    await studio.finish(studio.command(OperationKind.DECIDE, submitted, APPROVED))
    refresh = RefreshDue(
        studio.tenant.org_id, submitted.review_id or "", studio.tenant.project_id, "Deployment notes", "approved"
    )
    scheduled(studio.engine, studio.tenant, submitted, datetime.now(UTC) + timedelta(seconds=2))
    await send(studio.client, refresh, studio.settings)
    await until(lambda: bool(scheduled_merges(studio.engine, studio.tenant)))
    await studio.finish(*scheduled_merges(studio.engine, studio.tenant))
    await studio.ended(submitted.workflow_id)
    return submitted.workflow_id


async def review_held_up(studio: Studio) -> str:
    submitted = studio.submit()
    await _held_up(studio, submitted)
    return submitted.workflow_id


async def review_continued(studio: Studio) -> str:
    submitted = studio.submit()
    await studio.finish(submitted)
    first = await studio.client.get_workflow_handle(submitted.workflow_id).describe()
    await studio.finish(*[studio.command(OperationKind.DECIDE, submitted, REJECTED) for _ in range(16)])
    return f"{submitted.workflow_id} {first.run_id}"


async def lane_one_batch(studio: Studio) -> str:
    submitted = studio.submit()
    await studio.finish(submitted)
    await studio.finish(studio.merge(submitted))
    return publication_workflow_id(studio.tenant.org_id)


async def lane_continued(studio: Studio) -> str:
    submitted = [studio.submit() for _ in range(12)]
    await studio.finish(*submitted)
    await studio.client.get_workflow_handle(submitted[0].workflow_id).terminate()  # nobody to tell about this one
    merges = [studio.merge(each) for each in submitted]
    await studio.deliver(merges[0])
    first = await studio.client.get_workflow_handle(publication_workflow_id(studio.tenant.org_id)).describe()
    await send(studio.client, merges[1], studio.settings, merges[2:])
    await studio.finish(*merges)
    return f"{publication_workflow_id(studio.tenant.org_id)} {first.run_id}"


async def lane_held_up(studio: Studio) -> str:
    submitted = studio.submit()
    await studio.finish(submitted)
    await _held_up(studio, studio.merge(submitted))
    return publication_workflow_id(studio.tenant.org_id)


async def projection_changed(studio: Studio) -> str:
    due = an_accepted_selection(studio.engine, studio.tenant)
    await studio.finish(due)
    await studio.ended(due.workflow_id)
    return due.workflow_id


async def projection_held_up(studio: Studio) -> str:
    due = an_accepted_selection(studio.engine, studio.tenant)
    await _held_up(studio, due)
    await studio.ended(due.workflow_id)
    return due.workflow_id


async def import_whole(studio: Studio) -> str:
    due = an_accepted_import(studio.engine, studio.tenant, ["a.md", "b/c.md"])
    await studio.finish(due)
    await studio.ended(due.workflow_id)
    return due.workflow_id


async def import_of_batches(studio: Studio) -> str:
    due = an_accepted_import(studio.engine, studio.tenant, [f"{number}.md" for number in range(2_001)])
    await studio.finish(due)
    await studio.ended(due.workflow_id)
    return due.workflow_id


async def import_of_nothing(studio: Studio) -> str:
    due = an_accepted_import(studio.engine, studio.tenant, [])
    await studio.finish(due)
    await studio.ended(due.workflow_id)
    return due.workflow_id


async def import_held_up(studio: Studio) -> str:
    due = an_accepted_import(studio.engine, studio.tenant, ["a.md"])
    await _held_up(studio, due)
    await studio.ended(due.workflow_id)
    return due.workflow_id


async def import_continued(studio: Studio) -> str:
    due = an_accepted_import(studio.engine, studio.tenant, ["a.md"])
    with studio.engine.begin() as connection:  # no Draft can be submitted meanwhile
        connection.execute(
            text("select 1 from organization_refs where org_id = :org_id for update"), {"org_id": due.org_id}
        )
        await studio.deliver(due)
        first = await studio.client.get_workflow_handle(due.workflow_id).describe()
        with contextlib.suppress(WorkflowContinuedAsNewError):
            await studio.client.get_workflow_handle(due.workflow_id, run_id=first.run_id).result(follow_runs=False)
    await studio.finish(due)
    return f"{due.workflow_id} {first.run_id}"


async def retention_of_keys_and_feeds(studio: Studio) -> str:
    with studio.engine.begin() as connection:
        connection.execute(
            text("""
                insert into idempotency_keys (org_id, user_id, method, path, key, body_hash, created_at)
                values (:org_id, 'usr', 'POST', '/x', 'k', 'h', now() - interval '8 days')
            """),
            {"org_id": studio.tenant.org_id},
        )
    await studio.client.execute_workflow(RetentionWorkflow.run, id=RETENTION, task_queue=studio.settings.task_queue)
    return RETENTION


async def reindex_of_owners(studio: Studio) -> str:
    """One that has an index, one that is building its own, and one that was killed."""
    async with (
        an_owner(studio.settings, studio.engine, Filled().index),
        an_owner(studio.settings, studio.engine, MemoryIndex()),
    ):
        with owned(studio.engine, a_queue()):
            await studio.client.execute_workflow(ReindexWorkflow.run, id=REINDEX, task_queue=studio.settings.task_queue)
    return REINDEX


async def reindex_of_none(studio: Studio) -> str:
    await studio.client.execute_workflow(ReindexWorkflow.run, id=REINDEX, task_queue=studio.settings.task_queue)
    return REINDEX


async def _a_draft_behind(studio: Studio) -> DraftRow:
    """A Draft that a publication has left behind, and that no loop looks after here."""
    draft = an_open_draft(studio.engine, studio.tenant)
    submitted = studio.submit()
    await studio.finish(submitted)
    await studio.finish(studio.merge(submitted))
    return draft


async def reconciliation_rebased(studio: Studio) -> str:
    draft = await _a_draft_behind(studio)
    candidate = an_accepted_candidate(studio.engine, studio.tenant, draft)
    await studio.finish(candidate)
    result = operation_of(studio.engine, candidate).result or {}
    rebase = an_accepted_rebase(studio.engine, studio.tenant, draft, str(result["candidate_id"]))
    await studio.finish(rebase)
    await studio.ended(rebase.workflow_id)
    return rebase.workflow_id


async def reconciliation_after_publication(studio: Studio) -> str:
    draft = await _a_draft_behind(studio)
    candidate = an_accepted_candidate(studio.engine, studio.tenant, draft)
    behind = BehindDue(draft.org_id, draft.draft_id, draft.project_id)
    with studio.engine.begin() as connection:  # the candidate waits until the workflow knows of both
        connection.execute(
            text("select 1 from organization_refs where org_id = :org_id for update"), {"org_id": candidate.org_id}
        )
        await studio.deliver(candidate)
        await send(studio.client, behind, studio.settings)
    await studio.finish(candidate)
    await studio.ended(candidate.workflow_id)
    return candidate.workflow_id


async def reconciliation_held_up(studio: Studio) -> str:
    draft = await _a_draft_behind(studio)
    due = an_accepted_candidate(studio.engine, studio.tenant, draft)
    await _held_up(studio, due)
    await studio.ended(due.workflow_id)
    return due.workflow_id


async def reconciliation_continued(studio: Studio) -> str:
    draft = await _a_draft_behind(studio)
    dues = [an_accepted_candidate(studio.engine, studio.tenant, draft) for _ in range(20)]
    with studio.engine.begin() as connection:  # the first waits until the workflow knows of all
        connection.execute(
            text("select 1 from organization_refs where org_id = :org_id for update"), {"org_id": draft.org_id}
        )
        await studio.deliver(*dues)
        await send(studio.client, BehindDue(draft.org_id, draft.draft_id, draft.project_id), studio.settings)
        first = await studio.client.get_workflow_handle(dues[0].workflow_id).describe()
    await studio.finish(*dues)
    return f"{dues[0].workflow_id} {first.run_id}"


async def _held_up(studio: Studio, due: Due) -> None:
    """Carry out a command while the coordination row is locked for longer than the lock time-out, twice."""
    with studio.engine.begin() as connection:
        connection.execute(
            text("select 1 from organization_refs where org_id = :org_id for update"), {"org_id": due.org_id}
        )
        await studio.deliver(due)
        await asyncio.sleep(1)
    await studio.finish(due)


CASES: Mapping[str, Callable[[Studio], Awaitable[str]]] = {
    "review/withdrawn": review_withdrawn,
    "review/refused": review_refused,
    "review/approved_and_merged": review_approved_and_merged,
    "review/open": review_open,
    "review/started_from_its_row": review_started_from_its_row,
    "review/reminded_and_expired": review_reminded_and_expired,
    "review/published_on_time": review_published_on_time,
    "review/held_up": review_held_up,
    "review/continued": review_continued,
    "publication_lane/one_batch": lane_one_batch,
    "publication_lane/continued": lane_continued,
    "publication_lane/held_up": lane_held_up,
    "projection/changed": projection_changed,
    "projection/held_up": projection_held_up,
    "reconciliation/rebased": reconciliation_rebased,
    "reconciliation/after_publication": reconciliation_after_publication,
    "reconciliation/held_up": reconciliation_held_up,
    "reconciliation/continued": reconciliation_continued,
    "import/whole": import_whole,
    "import/of_batches": import_of_batches,
    "import/of_nothing": import_of_nothing,
    "import/held_up": import_held_up,
    "import/continued": import_continued,
    "retention/of_keys_and_feeds": retention_of_keys_and_feeds,
    "reindex/of_owners": reindex_of_owners,
    "reindex/of_none": reindex_of_none,
}


async def _record(stack: Stack, cases: Mapping[str, Callable[[Studio], Awaitable[str]]]) -> None:
    settings = settings_for(stack.temporal_address, lane_batch_size=3, lane_max_batches=3, lock_timeout_ms=100)
    engine = build_engine(stack.database_url, settings, pool_size=6, application_name="canonry-record")
    async with a_worker(settings, activities_of(engine, settings)) as client:
        for name, play in cases.items():
            workflow_id, _, run_id = (await play(Studio(engine, client, settings, a_tenant(engine)))).partition(" ")
            history = await client.get_workflow_handle(workflow_id, run_id=run_id or None).fetch_history()
            _write(name, workflow_id, history.to_json())
    engine.dispose()


def _write(name: str, workflow_id: str, history: str) -> None:
    anonymous = history.replace(f"{os.getpid()}@{socket.gethostname()}", "recorder")
    document = {"workflow_id": workflow_id, "history": json.loads(anonymous)}
    file = HISTORIES / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=1) + "\n")


def main() -> None:
    """Start the servers, play every case or those that are named, write every history."""
    cases = {name: CASES[name] for name in sys.argv[1:]} or CASES
    stack = start_stack()
    try:
        upgrade(stack.database_url)
        hasty = {"limit.historyCount.suggestContinueAsNew": "90"}
        stack.temporal.options = replace(stack.temporal.options, dynamic_config=hasty)
        stack.lose_temporal_store()
        restart(stack.temporal)
        asyncio.run(_record(stack, cases))
    finally:
        stack.stop()


if __name__ == "__main__":
    main()
