"""The worker that a process with a search index runs beside its other work: one activity, and no workflow."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
from temporalio.worker import PollerBehaviorSimpleMaximum, Worker

from activities.reindexing import ReindexActivities
from models.settings import Settings
from search.memory_index import MemoryIndex
from workflows.boundary import BEAT_S, ActivityBoundary
from workflows.hosting import DEPLOYMENT
from workflows.temporal_link import connect


async def build_index_worker(
    settings: Settings,
    task_queue: str,
    index: MemoryIndex,
    database: Callable[[], psycopg.Connection],
    threads: ThreadPoolExecutor,
) -> Worker:
    """A worker that is not running yet, and ends what it does at once when it is shut down: that is begun again.

    Args:
        settings: where Temporal is.
        task_queue: where it takes repairs from, which no other process does.
        index: what is repaired.
        database: makes an autocommit connection.
        threads: one is used.

    Raises:
        RuntimeError: Temporal does not answer.
    """
    return Worker(
        await connect(settings),
        task_queue=task_queue,
        activities=[ReindexActivities(database, index).repair_index],
        activity_executor=threads,
        max_concurrent_activities=1,
        activity_task_poller_behavior=PollerBehaviorSimpleMaximum(1),
        deployment_config=DEPLOYMENT,
        interceptors=[ActivityBoundary()],
        max_heartbeat_throttle_interval=timedelta(seconds=BEAT_S),
    )
