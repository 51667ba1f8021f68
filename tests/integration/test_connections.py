"""psycopg's own connections: made when needed, used again, given up when broken (`models.connections`)."""

import psycopg
import pytest
from sqlalchemy import Engine

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


def test_who_waits_too_long_is_told_so(two: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "WAIT_S", 0.05)
    with two.connection(), two.connection(), pytest.raises(ConnectionsBusy), two.connection():
        pass
    with two.connection() as served:
        assert served.execute("select 1").fetchone() == (1,)
    two.close_idle()
