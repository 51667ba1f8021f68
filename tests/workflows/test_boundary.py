import io
import logging
import threading

import psycopg
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from temporalio.exceptions import ApplicationErrorCategory

from models.database import sqlalchemy_url
from models.errors import BY_CODE
from tests.stack import Stack
from tests.workflows.desks import SelectionDesk
from tests.workflows.harness import a_name, a_selection, a_worker, longest_stall_s, run, settings_for, until
from workflows.boundary import failure_of
from workflows.logs import IdsOnly
from workflows.patience import TRANSACTION
from workflows.signals import send

MARKER = "the-text-of-a-memory"


def a_database_error(stack: Stack) -> DBAPIError:
    engine = create_engine(sqlalchemy_url(stack.database_url))
    try:
        with engine.connect() as connection:
            connection.execute(text("select cast(:body as integer)"), {"body": MARKER})
    except DBAPIError as error:
        return error
    finally:
        engine.dispose()
    raise AssertionError("a text is no integer")


@pytest.mark.parametrize("code", sorted(BY_CODE))
def test_a_problem_keeps_its_code_and_whether_trying_again_helps(code: str) -> None:
    problem = BY_CODE[code]("The sentence of this one time.", detail_of="this time")
    failure = failure_of(problem)
    assert failure.type == code
    assert failure.message == problem.title
    assert failure.non_retryable is not problem.retryable
    assert failure.category is ApplicationErrorCategory.BENIGN


def test_a_failure_of_the_database_keeps_its_code_and_not_the_text_that_it_quotes(stack: Stack) -> None:
    error = a_database_error(stack)
    assert MARKER in str(error)
    failure = failure_of(error)
    assert "22P02" in failure.message
    assert MARKER not in repr(failure)
    assert not failure.non_retryable


def test_any_other_failure_keeps_its_kind_only() -> None:
    failure = failure_of(ValueError(MARKER))
    assert failure.message == "builtins.ValueError"
    assert not failure.non_retryable


def test_a_failure_of_psycopg_itself_keeps_its_code() -> None:
    assert "40P01" in failure_of(psycopg.errors.DeadlockDetected(MARKER)).message


def test_an_activity_that_runs_longer_than_its_heartbeat_time_out_stays_with_its_worker(temporal: str) -> None:
    desk, settings = SelectionDesk(), settings_for(temporal)
    gate = desk.gates["opn_1"] = threading.Event()

    async def scenario() -> None:
        async with a_worker(settings, [desk.replace_selection]) as client:
            await send(client, a_selection(a_name("prj"), "opn_1"), settings)
            await until(lambda: desk.calls == ["opn_1"])
            try:
                assert await longest_stall_s(1.3 * TRANSACTION["heartbeat_timeout"].total_seconds()) < 0.5
            finally:
                gate.set()

    run(scenario())
    assert desk.calls == ["opn_1"]


def test_a_logged_exception_shows_where_and_of_what_kind_but_not_its_text(stack: Stack) -> None:
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    handler.setFormatter(IdsOnly("%(message)s"))
    log = logging.getLogger("tests.workflows.ids_only")
    log.addHandler(handler)
    log.propagate = False
    try:
        raise a_database_error(stack)
    except DBAPIError:
        log.exception("operation %s failed", "opn_1")
    assert "operation opn_1 failed" in output.getvalue()
    assert "test_boundary.py" in output.getvalue()
    assert "22P02" in output.getvalue()
    assert MARKER not in output.getvalue()
