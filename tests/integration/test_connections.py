"""psycopg's own connections: made when needed, used again, given up when broken (`models.connections`)."""

import psycopg
import pytest
from sqlalchemy import Engine, text

from models import connections
from models.connections import Connections, ConnectionsBusy
from models.settings import Settings
from tests.databases import url_of


@pytest.fixture
def two(engine: Engine) -> Connections:
    return Connections(url_of(engine), Settings(), size=2, application_name="canonry-test")


def test_a_connection_that_is_given_back_is_used_again(two: Connections) -> None:
    with two.connection() as first:
        pass
    with two.connection() as again, two.connection() as other:
        assert again is first
        assert other is not first
    two.close_idle()
    assert first.closed
    assert other.closed


def test_a_broken_connection_and_one_within_a_transaction_are_given_up(two: Connections) -> None:
    with two.connection() as broken, pytest.raises(psycopg.OperationalError):
        broken.execute("select pg_terminate_backend(pg_backend_pid())")
    with two.connection() as open_one:
        assert open_one is not broken
        open_one.execute("begin")
    with two.connection() as fresh:
        assert fresh is not open_one
    two.close_idle()


def test_a_look_up_on_a_connection_that_had_gone_begins_again_on_a_new_one(two: Connections, engine: Engine) -> None:
    asked: list[psycopg.Connection] = []

    def look_up(connection: psycopg.Connection) -> int:
        asked.append(connection)
        return connection.info.backend_pid if connection.execute("select 1").fetchone() else 0

    first = two.serve(look_up, lambda connection, pid: (connection, pid))
    with engine.connect() as other:
        other.execute(text("select pg_terminate_backend(:pid, 5000)"), {"pid": first[1]})
    again = two.serve(look_up, lambda connection, pid: (connection, pid))
    assert asked == [first[0], first[0], again[0]]
    assert again[1] not in (0, first[1])
    two.close_idle()


def test_work_on_a_connection_that_goes_meanwhile_does_not_begin_again(two: Connections) -> None:
    worked: list[int] = []

    def work(connection: psycopg.Connection, found: int) -> None:
        worked.append(found)
        connection.execute("select pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(psycopg.OperationalError):
        two.serve(lambda _: 7, work)
    assert worked == [7]


def test_who_waits_too_long_is_told_so(two: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "WAIT_S", 0.05)
    with two.connection(), two.connection(), pytest.raises(ConnectionsBusy), two.connection():
        pass
    with two.connection() as served:
        assert served.execute("select 1").fetchone() == (1,)
    two.close_idle()
