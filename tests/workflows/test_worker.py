import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from models.migrations import upgrade
from models.settings import Settings, SettingsInvalid
from tests.databases import an_empty_database, url_of
from tests.parts import restart
from tests.stack import Service, Stack, start_worker
from tests.workflows.rows import Tenant, a_tenant, an_accepted_selection, an_accepted_submit, succeeded
from workflows.worker import serve

PATIENCE_S = 45


@contextlib.contextmanager
def a_worker_process(stack: Stack, **variables: str) -> Iterator[Service]:
    service = start_worker(stack, **variables)
    try:
        yield service
    finally:
        service.kill()
        print(service.log_text())  # noqa: T201  (pytest shows it when the test fails)


@contextlib.contextmanager
def a_worker_process_that_waits(
    stack: Stack, *, for_what: str, until_then: Callable[[], None], database_url: str | None = None
) -> Iterator[Service]:
    """A worker started while something it needs is away, which comes back seconds later."""
    with ThreadPoolExecutor() as threads:
        starting = threads.submit(start_worker, stack, database_url)
        time.sleep(3)
        until_then()
        service = starting.result()
    try:
        yield service
    finally:
        service.kill()
        print(service.log_text())  # noqa: T201  (pytest shows it when the test fails)
    assert service.log_text().count(f"waiting for {for_what}") == 1


@contextlib.contextmanager
def held_up(engine: Engine, tenant: Tenant) -> Iterator[None]:
    """While the block runs, no command of the organization gets on: somebody holds its coordination row."""
    with engine.begin() as connection:
        connection.execute(
            text("select 1 from organization_refs where org_id = :org_id for update"), {"org_id": tenant.org_id}
        )
        yield


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def waits_for_a_lock(engine: Engine) -> bool:
    with engine.connect() as connection:
        return bool(
            connection.execute(
                text("""
                    select count(*) from pg_stat_activity
                    where wait_event_type = 'Lock' and application_name = 'canonry-worker'
                """)
            ).scalar_one()
        )


def test_asked_to_end_it_finishes_what_it_began(stack: Stack, engine: Engine) -> None:
    tenant = a_tenant(engine)
    with a_worker_process(stack) as worker, ThreadPoolExecutor() as threads:
        with held_up(engine, tenant):
            due = an_accepted_submit(engine, tenant, "Notes")
            wait_until(lambda: waits_for_a_lock(engine))
            stopping = threads.submit(worker.stop)
            time.sleep(1)
            assert not stopping.done()
        assert stopping.result() == 0
        assert succeeded(engine, due)


def test_without_work_it_ends_at_once(stack: Stack) -> None:
    with a_worker_process(stack) as worker:
        before = time.monotonic()
        assert worker.stop() == 0
        assert time.monotonic() - before < 5


def test_the_work_of_a_killed_worker_is_taken_up_within_seconds(stack: Stack, engine: Engine) -> None:
    tenant = a_tenant(engine)
    with a_worker_process(stack) as first:
        with held_up(engine, tenant):
            due = an_accepted_submit(engine, tenant, "Notes")
            wait_until(lambda: waits_for_a_lock(engine))
            first.kill()
        killed = time.monotonic()
    with a_worker_process(stack):
        wait_until(lambda: succeeded(engine, due))
        assert time.monotonic() - killed < 20  # a start-to-close is 30 s


def test_it_waits_for_the_database(stack: Stack, engine: Engine) -> None:
    due = an_accepted_selection(engine, a_tenant(engine))
    stack.kill_postgres()
    with a_worker_process_that_waits(stack, for_what="the database", until_then=lambda: restart(stack.postgres)):
        wait_until(lambda: succeeded(engine, due))


def test_it_waits_for_the_migrations(stack: Stack, engine: Engine) -> None:
    with an_empty_database(engine) as empty:
        url = url_of(empty)
        with a_worker_process_that_waits(
            stack, for_what="the database", until_then=lambda: upgrade(url), database_url=url
        ):
            pass


def test_it_waits_for_temporal(stack: Stack, engine: Engine) -> None:
    due = an_accepted_selection(engine, a_tenant(engine))
    stack.kill_temporal()
    with a_worker_process_that_waits(stack, for_what="Temporal", until_then=lambda: restart(stack.temporal)):
        wait_until(lambda: succeeded(engine, due))


def test_it_outlives_temporal_being_killed_with_its_store(stack: Stack, engine: Engine) -> None:
    tenant = a_tenant(engine)
    with a_worker_process(stack) as worker:
        first = an_accepted_submit(engine, tenant, "Before")
        wait_until(lambda: succeeded(engine, first))
        stack.lose_temporal_store()
        dues = [an_accepted_submit(engine, tenant, "While it is away") for _ in range(20)]
        restart(stack.temporal)
        wait_until(lambda: all(succeeded(engine, due) for due in dues))
        assert worker.child.poll() is None


def test_it_ends_in_time_although_temporal_is_frozen(stack: Stack) -> None:
    with a_worker_process(stack, CANONRY_SHUTDOWN_GRACE_S="1") as worker:
        os.kill(stack.temporal.pid, signal.SIGSTOP)
        try:
            before = time.monotonic()
            assert worker.stop() == 0
            assert time.monotonic() - before < 10
        finally:
            os.kill(stack.temporal.pid, signal.SIGCONT)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (Settings(temporal_address="127.0.0.1:1"), "CANONRY_DATABASE_URL"),
        (Settings(database_url="postgresql://nobody@127.0.0.1:1/none"), "CANONRY_TEMPORAL_ADDRESS"),
    ],
)
def test_a_missing_address_stops_the_start_with_its_name(settings: Settings, named: str) -> None:
    with pytest.raises(SettingsInvalid, match=named):
        serve(settings)
