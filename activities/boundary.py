"""The border of every command: its outcome and its effect commit together, once, whatever happens around it."""

import logging
from collections.abc import Callable

from psycopg import OperationalError as PsycopgOperationalError
from pydantic import BaseModel
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlmodel import Session

from activities.messages import Command, CommandOutcome
from models.errors import InternalError, Problem
from models.identifiers import OperationId, OrganizationId
from models.store.operations import MAX_FAILURES, StoredOperation, count_failure, fail, lock_operation, succeed
from models.store.transaction import Transaction

log = logging.getLogger(__name__)

Handler = Callable[[Transaction, StoredOperation], BaseModel]

# Deadlock, serialization failure, lock and statement time-out, and the server going away or coming up.
TRANSIENT_STATES = frozenset({"40P01", "40001", "55P03", "57014", "57P01", "57P02", "57P03", "25P03", "25P04"})


def carry_out(engine: Engine, command: Command, handler: Handler) -> CommandOutcome:
    """Run a command in one transaction: its effect and its outcome, or neither.

    A refusal (`Problem`) is an outcome. A lost connection, deadlock or time-out leaves the command as it was. Anything
    else is counted, and the fifth time ends it as `internal_error` (architecture.md §3). A command that has its
    outcome is not run again.
    """
    try:
        return _once(engine, command, handler)
    except Exception as error:
        if is_transient(error):
            log.warning("operation %s: database not reachable or busy, will retry", command.operation_id)
            return CommandOutcome(finished=False)
        log.exception("operation %s failed for an unforeseen reason", command.operation_id)
        return _count(engine, command)


def is_transient(error: BaseException) -> bool:
    """Whether the database refused for a reason that passes by itself."""
    if isinstance(error, PoolTimeout | InterfaceError):
        return True
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", None)
    if error.connection_invalidated or state in TRANSIENT_STATES:
        return True
    return state is None and isinstance(error.orig, PsycopgOperationalError)


def _once(engine: Engine, command: Command, handler: Handler) -> CommandOutcome:
    with engine.begin() as connection, Session(connection, expire_on_commit=False) as session:
        operation = lock_operation(connection, OrganizationId(command.org_id), OperationId(command.operation_id))
        if operation is None:
            return CommandOutcome(finished=True)
        if operation.finished:
            return _outcome(operation, succeeded=operation.status == "succeeded")
        tx = Transaction(connection, session, operation.org_id, operation.user_id, operation.request_id)
        try:
            with connection.begin_nested():
                result = handler(tx, operation)
                session.flush()
        except Problem as problem:
            fail(tx, operation.operation_id, problem)
            return _outcome(operation, succeeded=False)
        succeed(tx, operation.operation_id, result.model_dump(mode="json"))
        return _outcome(operation, succeeded=True)


def _outcome(operation: StoredOperation, *, succeeded: bool) -> CommandOutcome:
    return CommandOutcome(finished=True, succeeded=succeeded, review_id=operation.review_id or "")


def _count(engine: Engine, command: Command) -> CommandOutcome:
    try:
        with engine.begin() as connection, Session(connection) as session:
            operation = lock_operation(connection, OrganizationId(command.org_id), OperationId(command.operation_id))
            if operation is None or operation.finished:
                return CommandOutcome(finished=True)
            if count_failure(connection, operation.org_id, operation.operation_id) < MAX_FAILURES:
                return CommandOutcome(finished=False)
            tx = Transaction(connection, session, operation.org_id, operation.user_id, operation.request_id)
            problem = InternalError(
                "The operation failed repeatedly; the logs name it.", request_id=operation.request_id
            )
            fail(tx, operation.operation_id, problem)
            return _outcome(operation, succeeded=False)
    except DBAPIError:
        log.warning("operation %s: could not count its failure, will retry", command.operation_id)
        return CommandOutcome(finished=False)
