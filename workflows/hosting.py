"""A worker as production and tests run it: the same sandbox, boundary, pollers and limits."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib.metadata import version

from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion
from temporalio.worker import PollerBehaviorAutoscaling, Worker, WorkerDeploymentConfig

from workflows.boundary import BEAT_S, ActivityBoundary
from workflows.sandbox import FAILURE_TYPES, WORKFLOWS, workflow_runner

# Autoscaling pollers cut p99 by two thirds against the fixed default (measured).
POLLERS = PollerBehaviorAutoscaling(minimum=2, initial=5, maximum=20)

# How long a workflow waits for the worker that has it in memory before another one replays it: short, because a
# killed worker cannot say so.
STICKY_PATIENCE = timedelta(seconds=5)

# Named by our version: without a name the SDK hashes every loaded module at each start (0.3 s, measured).
DEPLOYMENT = WorkerDeploymentConfig(
    version=WorkerDeploymentVersion("canonry", version("canonry")), use_worker_versioning=False
)


def build_worker(
    client: Client,
    *,
    task_queue: str,
    activities: Sequence[Callable[..., object]],
    threads: ThreadPoolExecutor,
    slots: int,
    grace_s: float,
    workflows: Sequence[type] = WORKFLOWS,
) -> Worker:
    """A worker that is not running yet.

    Args:
        client: connected, with our data converter.
        task_queue: where it takes tasks from.
        activities: the methods to register.
        threads: for the activities; at least `slots` of them.
        slots: activities at once.
        grace_s: how long it finishes what it began when it is shut down.
        workflows: the classes to register.
    """
    return Worker(
        client,
        task_queue=task_queue,
        workflows=workflows,
        activities=activities,
        activity_executor=threads,
        max_concurrent_activities=slots,
        workflow_runner=workflow_runner(),
        deployment_config=DEPLOYMENT,
        workflow_failure_exception_types=FAILURE_TYPES,
        interceptors=[ActivityBoundary()],
        workflow_task_poller_behavior=POLLERS,
        activity_task_poller_behavior=POLLERS,
        sticky_queue_schedule_to_start_timeout=STICKY_PATIENCE,
        graceful_shutdown_timeout=timedelta(seconds=grace_s),
        # By itself the SDK holds beats back for 4/5 of the time-out: a busy machine then loses activities that live.
        max_heartbeat_throttle_interval=timedelta(seconds=BEAT_S),
    )
