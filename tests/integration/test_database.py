"""Connections: every one carries the time-outs of the settings, and the isolation that is asked for."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from models.database import build_engine
from models.settings import Settings
from tests.stack import Stack

PATIENCE_S = 20


@contextmanager
def a_pool(stack: Stack, **settings: int) -> Iterator[Engine]:
    chosen = Settings.model_validate(settings)
    pool = build_engine(stack.database_url, chosen, pool_size=1, application_name="canonry-test")
    try:
        yield pool
    finally:
        pool.dispose()


def setting(connection: Connection, name: str) -> str:
    return str(connection.execute(text("select current_setting(:name)"), {"name": name}).scalar_one())


def keep_busy(connection: Connection) -> None:
    """One short statement after the other: neither idle nor slow."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        connection.execute(text("select pg_sleep(0.05)"))


def test_every_connection_carries_the_timeouts_of_the_settings(stack: Stack) -> None:
    with a_pool(stack, lock_timeout_ms=101, statement_timeout_ms=102, transaction_timeout_ms=1_003) as pool:
        for _ in range(2):
            with pool.connect() as connection:
                assert setting(connection, "lock_timeout") == "101ms"
                assert setting(connection, "statement_timeout") == "102ms"
                assert setting(connection, "transaction_timeout") == "1003ms"
                connection.rollback()
                connection.invalidate()  # the pool makes another one


def test_a_transaction_that_is_busy_beyond_the_setting_is_ended(stack: Stack) -> None:
    with a_pool(stack, transaction_timeout_ms=1_000) as pool:
        before = time.monotonic()
        with pool.connect() as connection, pytest.raises(DBAPIError) as ended:
            keep_busy(connection)
        assert ended.value.connection_invalidated
        assert 0.9 < time.monotonic() - before < PATIENCE_S / 2


def test_after_an_ended_transaction_the_pool_gives_a_connection_that_works(stack: Stack) -> None:
    with a_pool(stack, transaction_timeout_ms=1_000) as pool:
        with pool.connect() as connection, pytest.raises(DBAPIError):
            keep_busy(connection)
        with pool.connect() as connection:
            assert connection.execute(text("select 1")).scalar_one() == 1


def test_transactions_one_after_the_other_may_last_longer_than_the_setting_together(stack: Stack) -> None:
    with a_pool(stack, transaction_timeout_ms=1_000) as pool, pool.connect() as connection:
        deadline = time.monotonic() + 1.5
        while time.monotonic() < deadline:
            connection.execute(text("select pg_sleep(0.1)"))
            connection.rollback()


def test_an_engine_made_of_the_pool_for_snapshots_reads_from_snapshots_and_the_pool_does_not(stack: Stack) -> None:
    with a_pool(stack) as pool:
        snapshots = pool.execution_options(isolation_level="REPEATABLE READ")
        for _ in range(2):
            with snapshots.connect() as connection:
                assert setting(connection, "transaction_isolation") == "repeatable read"
            with pool.connect() as connection:
                assert setting(connection, "transaction_isolation") == "read committed"
