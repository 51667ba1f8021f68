"""What the worker adds to every activity: a heartbeat while it runs, and failures without contents."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory, FailureError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from models.errors import Problem
from workflows.logs import kind_of

BEAT_S = 1.0


class ActivityBoundary(Interceptor):
    """Wraps every activity of a worker."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        """Wrap one."""
        return _Boundary(next)


class _Boundary(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> object:  # noqa: A002
        async with _beating():
            try:
                return await super().execute_activity(input)
            except FailureError:
                raise
            except Exception as error:  # noqa: BLE001  (whatever it is, its text goes no further)
                raise failure_of(error).with_traceback(error.__traceback__) from None


def failure_of(error: Exception) -> ApplicationError:
    """What Temporal keeps of an activity's failure.

    A `Problem` keeps its code and is not tried again unless it is retryable. Of anything else only the kind is kept,
    because a database quotes the rows that it refuses, and histories and logs hold no contents.
    """
    if isinstance(error, Problem):
        return ApplicationError(
            error.title,
            type=error.code,
            non_retryable=not error.retryable,
            category=ApplicationErrorCategory.BENIGN,
        )
    return ApplicationError(kind_of(error), type=type(error).__name__)


@contextlib.asynccontextmanager
async def _beating() -> AsyncIterator[None]:
    """Tell Temporal that this process lives, so that the work of a killed one is taken up within seconds."""
    beat = asyncio.create_task(_beat())
    try:
        yield
    finally:
        beat.cancel()


async def _beat() -> None:
    while True:
        await asyncio.sleep(BEAT_S)
        # In a thread: for an activity that is not async the SDK hands the beat to this loop and blocks until it is out.
        await asyncio.to_thread(activity.heartbeat)
