"""How fast a lane publishes what waits in it, against the same transactions in a plain loop."""

import asyncio
from collections.abc import Iterable, Sequence

import psycopg
from sqlalchemy import Engine

from activities.boundary import carry_out
from activities.messages import Command
from activities.publication import publish_review
from bench.measuring import Comparison, timed
from bench.organizations import Library, a_library, settle, vacuum
from models.database import libpq_url
from models.identifiers import ReviewId, new_review_id
from models.settings import Settings
from models.store.locks import DraftRow
from models.store.operations import CHANNEL, OperationKind, accept_operation
from tests.commands import a_merge, a_review
from tests.rows import a_draft, acting, fetch, updates
from tests.stack import Stack
from workflows.ids import publication_workflow_id, review_workflow_id
from workflows.publication_lane import PublicationLane
from workflows.states import LaneState
from workflows.temporal_link import connect

ENTRIES = 3
TARGET = 2.0  # half the throughput is twice the time
LONGEST_S = 120


def measure_lane(stack: Stack, engine: Engine, quiet: Engine, *, merges: int, rounds: int, warm_up: int) -> Comparison:
    """The time of a merge when `merges` of one organization wait.

    Args:
        stack: where a worker runs.
        engine: its database.
        quiet: the database of a server of its own, for the loop: no worker takes notice of what it publishes.
        merges: how many wait.
        rounds: how often; who begins changes from round to round.
        warm_up: how many are published before.
    """
    with asyncio.Runner() as runner, psycopg.connect(libpq_url(stack.database_url), autocommit=True) as listening:
        lane = _Lane(stack, engine, runner, listening)
        lane.publish(warm_up)
        _loop(quiet, warm_up)
        by_lane, by_loop = [], []
        for number in range(rounds):
            if number % 2:
                by_lane.append(lane.publish(merges))
            by_loop.append(_loop(quiet, merges))
            if not number % 2:
                by_lane.append(lane.publish(merges))
    return Comparison(f"merge in a lane of {merges}", by_lane, "the same transactions in a loop", by_loop, TARGET)


def _loop(engine: Engine, number: int) -> float:
    library = a_library(engine, number * ENTRIES)
    commands = _merges(library, [a_review(library.place, draft) for draft in _drafts(library)])
    vacuum(engine)
    milliseconds = timed(lambda: [carry_out(engine, command, publish_review) for command in commands])
    _require_success(library, [command.operation_id for command in commands])
    return milliseconds / number


class _Lane:
    """The lane of a new organization each time, through a real worker; the Reviews' own workflows run too."""

    def __init__(
        self, stack: Stack, engine: Engine, runner: asyncio.Runner, listening: psycopg.Connection[tuple[object, ...]]
    ) -> None:
        self._engine = engine
        self._runner = runner
        self._listening = listening
        self._settings = Settings(temporal_address=stack.temporal_address)
        self._client = runner.run(connect(self._settings))
        listening.execute(f"listen {CHANNEL}")

    def publish(self, number: int) -> float:
        """The time of a merge, from the start of the lane that holds them all to the last outcome."""
        library = a_library(self._engine, number * ENTRIES)
        commands = _merges(library, self._submit(library, _drafts(library)))
        vacuum(self._engine)
        milliseconds = timed(lambda: self._run(library, [command.operation_id for command in commands]))
        settle(self._engine, library.place.org_id)
        return milliseconds / number

    def _submit(self, library: Library, drafts: Sequence[DraftRow]) -> list[ReviewId]:
        """Have Reviews submitted by their workflows, which then know them when the lane tells of the merge."""
        submits = [_submit(library, draft) for draft in drafts]
        self._await_outcomes(library, [operation_id for operation_id, _ in submits])
        settle(self._engine, library.place.org_id)
        return [review_id for _, review_id in submits]

    def _run(self, library: Library, operation_ids: Sequence[str]) -> None:
        self._runner.run(self._start(library, operation_ids))
        self._await_outcomes(library, operation_ids)

    async def _start(self, library: Library, operation_ids: Sequence[str]) -> None:
        state = LaneState(
            library.place.org_id,
            batch_size=self._settings.lane_batch_size,
            max_batches=self._settings.lane_max_batches,
            pending=tuple(operation_ids),
        )
        workflow_id = publication_workflow_id(library.place.org_id)
        await self._client.start_workflow(
            PublicationLane.run, state, id=workflow_id, task_queue=self._settings.task_queue
        )

    def _await_outcomes(self, library: Library, operation_ids: Iterable[str]) -> None:
        awaited = set(operation_ids)
        for announcement in self._listening.notifies(timeout=LONGEST_S):
            awaited.discard(announcement.payload)
            if not awaited:
                break
        _require_success(library, operation_ids)


def _drafts(library: Library) -> list[DraftRow]:
    """One Draft for every three Memories, so that none is in another's way."""
    ids = library.memory_ids
    return [
        a_draft(
            library.place, *(updates(memory_id, f"# Changed\n\n{memory_id}\n") for memory_id in ids[start:][:ENTRIES])
        )
        for start in range(0, len(ids), ENTRIES)
    ]


def _submit(library: Library, draft: DraftRow) -> tuple[str, ReviewId]:
    """Accept a submit that is due at once, for the worker's delivery loop."""
    review_id = new_review_id()
    with acting(library.place) as tx:
        operation = accept_operation(
            tx,
            kind=OperationKind.SUBMIT,
            workflow_id=review_workflow_id(review_id),
            project_id=draft.project_id,
            review_id=review_id,
            request={
                "title": "A Review",
                "drafts": [{"draft_id": draft.draft_id, "expected_draft_version": draft.version}],
            },
            redeliver_after_s=0,
        )
    return operation.operation_id, review_id


def _merges(library: Library, review_ids: Iterable[ReviewId]) -> list[Command]:
    waiting = [a_merge(library.place, review_id) for review_id in review_ids]
    return [Command(org_id=operation.org_id, operation_id=operation.operation_id) for operation in waiting]


def _require_success(library: Library, operation_ids: Iterable[str]) -> None:
    query = "select operation_id from operations where org_id = :o and status = 'succeeded'"
    if missing := set(operation_ids).difference(row.operation_id for row in fetch(library.place, query)):
        raise AssertionError(f"{len(missing)} operations of the bench did not succeed, as {missing.pop()}")
