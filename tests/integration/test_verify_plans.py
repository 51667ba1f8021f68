"""How the database carries verification out where it knows nothing of the rows: after a restore, or a large import."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, create_engine, event, text

from models.store.verification.organization import verify
from models.store.verification.snapshot import reading
from tests.lives import a_lived_in_organization
from tests.rows import Somewhere


@pytest.fixture(scope="module")
def place(engine: Engine) -> Somewhere:
    return a_lived_in_organization(engine)


@pytest.fixture(scope="module")
def superuser(engine: Engine) -> Iterator[Engine]:
    pool = create_engine(engine.url.set(username="postgres"))
    yield pool
    pool.dispose()


def without_statistics(connection: Connection) -> None:
    """Leave the database what it has after a restore, for this transaction."""
    connection.execute(text("set local allow_system_table_mods = on"))
    ours = "(select oid from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'i'))"
    connection.execute(text(f"delete from pg_statistic where starelid in {ours}"))  # noqa: S608
    connection.execute(text(f"update pg_class set reltuples = -1, relpages = 0 where oid in {ours}"))  # noqa: S608


def statements(place: Somewhere) -> dict[str, dict[str, object]]:
    """Every statement of a verification, with its last parameters."""
    read: dict[str, dict[str, object]] = {}

    def keep(_: Connection, _cursor: object, statement: str, parameters: dict[str, object], *_rest: object) -> None:
        read[statement] = parameters

    with reading(place.engine) as connection:
        event.listen(connection, "before_cursor_execute", keep)
        verify(connection, place.org_id)
    return read


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


def compares_all_with_all(node: dict[str, Any]) -> bool:
    """Whether a part of a plan is carried out once for every row of another part."""
    return node["Node Type"] == "Nested Loop" or node.get("Parent Relationship") == "SubPlan"


def test_no_statement_of_a_verification_compares_all_rows_with_all_however_little_is_known(
    place: Somewhere, superuser: Engine
) -> None:
    read = statements(place)
    assert len(read) > 50
    with reading(superuser) as connection:
        connection.rollback()
        without_statistics(connection)
        for statement, parameters in read.items():
            explained = connection.exec_driver_sql(f"explain (format json) {statement}", parameters).scalar_one()
            found = [node["Node Type"] for node in nodes(explained[0]["Plan"]) if compares_all_with_all(node)]
            assert not found, f"{statement}\n{json.dumps(explained, indent=1)}"
        connection.rollback()
