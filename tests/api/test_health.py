"""Liveness and readiness (tenancy.md)."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, create_engine, text

import tests.stack
from canonry.embedded.ports import free_port
from models.database import sqlalchemy_url
from models.errors import NotFound
from models.identifiers import OperationId
from models.rules.roles import PERMISSIONS
from models.store.bootstrap import first_start
from models.store.operations import OperationKind, accept_operation, fail
from models.store.organizations import create_organization
from models.store.transaction import Transaction
from tests.client import PREFIX, Client, Json, every_route, filled, ok, problem
from tests.parts import restart
from tests.stack import Service, Stack, start_api
from tests.up import run


def test_health_needs_no_credential(api: Client) -> None:
    assert ok(api.with_token(None).get("/healthz")) == {"status": "ok"}


def test_readiness_names_each_part(api: Client) -> None:
    ready = ok(api.with_token(None).get("/readyz"))
    assert ready == {
        "status": "ready",
        "database": "up",
        "migrations": "up",
        "temporal": "up",
        "index": ready["index"],
        "feed_lag_s": ready["feed_lag_s"],
    }
    assert isinstance(ready["feed_lag_s"], float)
    index = ready["index"]
    assert isinstance(index, dict)
    assert (list(index), index["status"], index["progress"]) == (["status", "applied", "latest", "progress"], "up", 1.0)


def test_an_open_transaction_shows_as_lag_of_the_feed(api: Client, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("select pg_current_xact_id()"))
        time.sleep(0.6)
        assert 0.5 < float(str(ok(api.get("/readyz"))["feed_lag_s"])) < 10
        connection.rollback()


def eventually(client: Client, status: int, **parts: str) -> Json:
    """The readiness once it has the status and parts."""
    deadline = time.monotonic() + 20
    while True:
        answer = client.get("/readyz")
        body: Json = answer.json()
        if answer.status_code == status and body.items() >= parts.items():
            return body
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.1)


def test_a_lost_temporal_is_named_and_stays_ready(own_stack: Stack, own_api: Service) -> None:
    client = Client(own_api.url)
    os.kill(own_stack.temporal.pid, signal.SIGSTOP)
    try:
        assert eventually(client, 200, temporal="down")["status"] == "ready"
    finally:
        os.kill(own_stack.temporal.pid, signal.SIGCONT)
    eventually(client, 200, temporal="up")


def test_readiness_begins_when_all_parts_are_there(own_stack: Stack) -> None:
    os.kill(own_stack.temporal.pid, signal.SIGSTOP)
    port = free_port()
    service = tests.stack._start(
        "api", own_stack, {"CANONRY_PORT": str(port), "CANONRY_DATABASE_URL": own_stack.database_url}
    )
    client = Client(f"http://127.0.0.1:{port}")
    try:
        tests.stack._wait(service, lambda: client.get("/healthz").status_code == 200)
        unready = problem(client.get("/readyz"), 503, "unavailable")
        assert (unready["database"], unready["migrations"], unready["temporal"]) == ("up", "up", "down")
        os.kill(own_stack.temporal.pid, signal.SIGCONT)
        eventually(client, 200, temporal="up")
    finally:
        os.kill(own_stack.temporal.pid, signal.SIGCONT)
        service.stop()


@contextmanager
def a_lost_database(stack: Stack) -> Iterator[None]:
    stack.kill_postgres()
    try:
        yield
    finally:
        restart(stack.postgres)


def test_a_lost_database_is_unavailable_until_it_is_back(own_stack: Stack, own_api: Service) -> None:
    pool = create_engine(sqlalchemy_url(own_stack.database_url))
    with pool.begin() as connection:
        first = first_start(connection)
    pool.dispose()
    assert first is not None
    client = Client(own_api.url, first.secret)
    ok(client.get("/me"))
    with a_lost_database(own_stack):
        assert eventually(client, 503, database="down")["code"] == "unavailable"
        ok(client.get("/healthz"))
        routes = [*every_route(client), ("POST", f"{PREFIX}/nothing"), ("PUT", f"{PREFIX}/me")]
        for method, path in routes:
            refused = client.request(method, filled(path), headers={"Idempotency-Key": "k"})
            problem(refused, 503, "unavailable")
            assert refused.headers["retry-after"] == "1"
    eventually(client, 200, database="up")
    ok(client.post("/projects", {"name": "a"}, key="k"), 201)


def test_every_route_answers_a_defect_by_its_request_id_alone(own_stack: Stack, own_api: Service) -> None:
    pool = create_engine(sqlalchemy_url(own_stack.database_url))
    client = Client(own_api.url, "cnr_Marker-of-secrets")
    with pool.begin() as connection:
        connection.execute(text("alter table tokens rename to elsewhere"))
    try:
        for method, path in every_route(client):
            refused = client.request(method, filled(path))
            assert str(problem(refused, 500, "internal_error")["request_id"]) in own_api.log_text()
            assert "elsewhere" not in refused.text
            assert "tokens does not exist" not in refused.text
    finally:
        with pool.begin() as connection:
            connection.execute(text("alter table elsewhere rename to tokens"))
        pool.dispose()
    assert "Marker-of-secrets" not in own_api.log_text()


def test_a_restart_while_temporal_is_down_stays_ready_where_an_operation_has_ever_ended(own_stack: Stack) -> None:
    pool = create_engine(sqlalchemy_url(own_stack.database_url))
    service = start_api(own_stack)
    os.kill(own_stack.temporal.pid, signal.SIGSTOP)
    restarted: Service | None = None
    try:
        with pool.begin() as connection:
            operation_id = a_failed_operation(connection)
        service.stop()
        port = free_port()
        named = {"CANONRY_PORT": str(port), "CANONRY_DATABASE_URL": own_stack.database_url}
        restarted = tests.stack._start("api", own_stack, named)
        client = Client(f"http://127.0.0.1:{port}")
        tests.stack._wait(restarted, lambda: client.get("/healthz").status_code == 200)
        ready = ok(client.get("/readyz"))
        assert (ready["status"], ready["temporal"]) == ("ready", "down")
        with pool.begin() as connection:
            connection.execute(text("delete from operations where operation_id = :id"), {"id": operation_id})
    finally:
        os.kill(own_stack.temporal.pid, signal.SIGCONT)
        service.stop()
        if restarted is not None:
            restarted.stop()
        pool.dispose()


def a_failed_operation(connection: Connection) -> OperationId:
    """An operation that has ended, and nothing that it would have been about."""
    made = create_organization(
        connection, name="o", owner_name="o", owner_email=None, permissions=[*PERMISSIONS], request_id="test"
    )
    tx = Transaction(connection, made.organization.org_id, made.owner.user_id, "test")
    operation = accept_operation(
        tx,
        kind=OperationKind.SELECT,
        workflow_id="projection/none",
        project_id="prj_none",
        review_id=None,
        request={},
        redeliver_after_s=3600,
    )
    fail(tx, operation.operation_id, NotFound("There is no such project."))
    return operation.operation_id


MANY = text("""
    insert into structured_memories (org_id, scope, scope_id, name, memory_id, type, description, content, created,
                                     updated, revision, created_by, updated_by, content_hash)
    select :org_id, 'global', '', 'n' || n, lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000', 'general',
           'A note.', 'lighthouse', now(), now(), 1, :user_id, :user_id, ''
    from generate_series(1, 1501) n
""")


def test_an_index_that_is_being_rebuilt_is_named_and_answers_for_few_memories(own_stack: Stack, tmp_path: Path) -> None:
    pool = create_engine(sqlalchemy_url(own_stack.database_url))
    with pool.begin() as connection:
        made = create_organization(
            connection, name="o", owner_name="o", owner_email=None, permissions=[*PERMISSIONS], request_id="test"
        )
        names = {"org_id": made.organization.org_id, "user_id": made.owner.user_id}
        connection.execute(MANY, names)
    port = free_port()
    named = {"CANONRY_PORT": str(port), "CANONRY_DATABASE_URL": own_stack.database_url, "CANONRY_DATA": str(tmp_path)}
    client = Client(f"http://127.0.0.1:{port}", made.token.secret)
    with pool.begin() as holding:
        holding.execute(text("lock table feed_epochs"))  # without which nothing is read to be indexed
        service = tests.stack._start("api", own_stack, named)
        try:
            tests.stack._wait(service, lambda: client.get("/healthz").status_code == 200)
            index = eventually(client, 503, database="up", temporal="up")["index"]
            assert isinstance(index, dict)
            assert (index["status"], index["progress"]) == ("rebuilding", 0)
            refused = problem(client.post("/memories/search", {"query": "lighthouse"}), 503, "index_not_ready")
            assert refused["progress"] == 0
            problem(client.get("/admin/memories/search", q="lighthouse"), 503, "index_not_ready")
            mine: Json = {"name": "a", "description": "A note.", "content": "lighthouse", "scope": "user"}
            ok(client.post("/memories", mine), 201)
            assert ok(client.post("/memories/search", {"query": "lighthouse", "scope": "user"}))["total"] == 1
            holding.rollback()
            eventually(client, 200)
            assert ok(client.post("/memories/search", {"query": "lighthouse"}))["total"] == 1502
        finally:
            holding.close()
            service.stop()
            pool.dispose()


def test_missing_migrations_are_named_and_a_defect_tells_no_contents(own_stack: Stack) -> None:
    """A database that lost a table and its revision: readiness sees the one, requests meet the other."""
    pool = create_engine(sqlalchemy_url(own_stack.database_url))
    service = start_api(own_stack)
    with pool.begin() as connection:
        made = create_organization(
            connection, name="o", owner_name="o", owner_email=None, permissions=[*PERMISSIONS], request_id="test"
        )
        connection.execute(text("alter table projects rename to elsewhere"))
        connection.execute(text("delete from alembic_version"))
    client = Client(service.url, made.token.secret)
    try:
        unready = problem(client.get("/readyz"), 503, "unavailable")
        assert (unready["database"], unready["migrations"]) == ("up", "down")
        refused = client.post("/projects", {"name": "Marker-of-contents"}, key="k")
        defect = problem(refused, 500, "internal_error")
        assert "elsewhere" not in refused.text
        assert "projects" not in str(defect["detail"])
        log = service.log_text()
        assert str(defect["request_id"]) in log
        assert "UndefinedTable" in log or "42P01" in log
        assert "Marker-of-contents" not in log
        with pool.begin() as connection:
            connection.execute(text("alter table elsewhere rename to projects"))
        ok(client.post("/projects", {"name": "Marker-of-contents"}, key="k"), 201)
    finally:
        pool.dispose()
        service.stop()


@pytest.mark.parametrize("missing", ["CANONRY_DATABASE_URL", "CANONRY_TEMPORAL_ADDRESS"])
def test_an_api_without_its_servers_named_does_not_start(missing: str, tmp_path: Path) -> None:
    named = {"CANONRY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x", "CANONRY_TEMPORAL_ADDRESS": "127.0.0.1:1"}
    del named[missing]
    ended = run("api", **named, CANONRY_DATA=str(tmp_path))
    assert ended.returncode != 0
    assert missing in ended.stderr
