"""How long a command takes from its POST to its outcome, over HTTP and through a real API and worker."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Engine

from bench.empty_workflow import TASK_QUEUE, EmptyWorkflow
from bench.measuring import Comparison, Schedule, Timing, interleaved, timed
from bench.organizations import settle, with_an_owner
from canonry.embedded.processes import spawn
from models.rules.roles import PERMISSIONS
from models.settings import Settings
from tests.client import Client, Json, a_project, ok
from tests.proposals import a_draft, a_review, creates, merge
from tests.stack import Stack
from workflows.temporal_link import connect

ENTRIES = 3
TARGET = 1.6

EMPTY = "empty one-activity workflow, start to result"
SUBMITTED = "POST /reviews to succeeded"
MERGED = "POST /reviews/{id}/merges to succeeded"


def measure_latency(stack: Stack, engine: Engine, api_url: str, schedule: Schedule) -> list[Comparison]:
    """Submits and merges, one at a time, against an empty workflow on the same Temporal server."""
    author = _Author(engine, api_url)
    with _empty_worker(stack), asyncio.Runner() as runner:
        subjects = {EMPTY: _empty(stack, runner), SUBMITTED: author.submit, MERGED: author.merge}
        measured = interleaved(subjects, schedule)
    return [
        Comparison(SUBMITTED, measured[SUBMITTED], EMPTY, measured[EMPTY], TARGET),
        Comparison(MERGED, measured[MERGED], EMPTY, measured[EMPTY]),
    ]


class _Author:
    """The owner of an organization, who submits Drafts of three new documents and merges them."""

    def __init__(self, engine: Engine, api_url: str) -> None:
        made = with_an_owner(engine, *PERMISSIONS)
        self._engine = engine
        self._org_id = made.organization.org_id
        self._client = Client(api_url, made.token.secret)
        self._project_id = a_project(self._client)
        self._numbers = count()

    def submit(self) -> float:
        """From the POST to the 201."""
        draft = self._draft()
        milliseconds = timed(lambda: a_review(self._client, draft))
        settle(self._engine, self._org_id)
        return milliseconds

    def merge(self) -> float:
        """From the POST to the 200."""
        review = a_review(self._client, self._draft())
        settle(self._engine, self._org_id)
        milliseconds = timed(lambda: ok(merge(self._client, review)))
        settle(self._engine, self._org_id)
        return milliseconds

    def _draft(self) -> Json:
        folder = next(self._numbers)
        contents = (creates(f"{folder}/{number}.md", f"# Document {number}\n") for number in range(ENTRIES))
        return a_draft(self._client, self._project_id, *contents)


def _empty(stack: Stack, runner: asyncio.Runner) -> Timing:
    client = runner.run(connect(Settings(temporal_address=stack.temporal_address)))

    async def from_start_to_result() -> None:
        await client.execute_workflow(EmptyWorkflow.run, id=f"empty/{uuid4()}", task_queue=TASK_QUEUE)

    return lambda: timed(lambda: runner.run(from_start_to_result()))


@contextmanager
def _empty_worker(stack: Stack) -> Iterator[None]:
    child = spawn(
        [sys.executable, "-m", "bench.empty_workflow", stack.temporal_address],
        log=stack.root / "logs" / "empty-worker.log",
        cwd=Path.cwd(),
        environment=os.environ,
        death_signal=signal.SIGKILL,
    )
    try:
        yield
    finally:
        child.terminate()
        child.wait()
