"""The baseline of an operation's latency: a workflow of one activity that does nothing, in a worker as ours."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from temporalio import activity, workflow

with workflow.unsafe.imports_passed_through():
    from models.settings import Settings
    from workflows.hosting import build_worker
    from workflows.temporal_link import connect

TASK_QUEUE = "bench-empty"
SLOTS = 9  # those of a worker with our default pool


@activity.defn
def nothing() -> None:
    """Do nothing."""


@workflow.defn
class EmptyWorkflow:
    """Runs the activity, and ends."""

    @workflow.run
    async def run(self) -> None:
        """Run it."""
        await workflow.execute_activity(nothing, start_to_close_timeout=timedelta(seconds=30))


async def serve(temporal_address: str) -> None:
    """Work with the pollers, sandbox, threads and heartbeat of `canonry worker` until the process is ended."""
    with ThreadPoolExecutor(SLOTS) as threads:
        worker = build_worker(
            await connect(Settings(temporal_address=temporal_address)),
            task_queue=TASK_QUEUE,
            activities=[nothing],
            threads=threads,
            slots=SLOTS,
            grace_s=1,
            workflows=[EmptyWorkflow],
        )
        await worker.run()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
