"""Several things done at once by real threads, on a pool that notices deadlocks early."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from sqlalchemy import Engine, text

from models.database import build_engine
from models.errors import Problem
from models.settings import Settings
from models.store.operations import StoredOperation
from tests.commands import carried_out
from tests.databases import url_of
from tests.rows import Somewhere

T = TypeVar("T")

SUCCEEDED = "succeeded"

# Two transactions started at one moment still meet at different statements.
LONGEST_HEAD_START_S = 0.004


def together(*actions: Callable[[], T]) -> list[T]:
    """Run actions at once, each in a thread of its own; what they return, in the order given."""
    gate = threading.Barrier(len(actions))

    def run(action: Callable[[], T]) -> T:
        gate.wait()
        time.sleep(random.uniform(0, LONGEST_HEAD_START_S))  # noqa: S311
        return action()

    with ThreadPoolExecutor(len(actions)) as threads:
        return [future.result() for future in [threads.submit(run, action) for action in actions]]


@contextmanager
def without_deadlocks(engine: Engine, *, connections: int) -> Iterator[Engine]:
    """A pool of its own; leaving the block asserts that the server has broken no deadlock meanwhile."""
    before = _deadlocks(engine)
    name = f"canonry-race-{random.getrandbits(32)}"
    pool = build_engine(url_of(engine), Settings(), pool_size=connections, application_name=name)
    try:
        yield pool
    finally:
        pool.dispose()
    _wait_for_the_end_of(engine, name)
    assert _deadlocks(engine) == before


def _deadlocks(engine: Engine) -> int:
    with engine.connect() as connection:
        counted = text("select deadlocks from pg_stat_database where datname = current_database()")
        return int(connection.execute(counted).scalar_one())


def _wait_for_the_end_of(engine: Engine, application_name: str) -> None:
    """A backend reports what it counted at the latest when it ends."""
    alive = text("select 1 from pg_stat_activity where application_name = :name")
    while True:
        with engine.connect() as connection:
            if not connection.execute(alive, {"name": application_name}).all():
                return
        time.sleep(0.01)


def verdict(operation: StoredOperation) -> str:
    """`succeeded`, or the code it was refused with; one that has to be tried again is a defect here."""
    assert operation.status in ("succeeded", "failed"), operation
    return SUCCEEDED if operation.problem is None else str(operation.problem["code"])


def verdict_of(place: Somewhere, operation: StoredOperation) -> str:
    return verdict(carried_out(place, operation))


def answer_to(action: Callable[..., object], *arguments: object) -> str:
    """`succeeded`, or the code that an action is refused with."""
    try:
        action(*arguments)
    except Problem as problem:
        return problem.code
    return SUCCEEDED


def race(place: Somewhere, *operations: StoredOperation) -> list[str]:
    return together(*(partial(verdict_of, place, operation) for operation in operations))
