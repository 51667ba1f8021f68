"""The border of every command: its outcome and its effect commit together, once, whatever happens around it."""

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from psycopg import OperationalError as PsycopgOperationalError
from pydantic import BaseModel
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from activities.messages import Command, CommandOutcome
from models.errors import InternalError, Problem
from models.identifiers import OperationId, OrganizationId
from models.store.locks import lock_coordination
from models.store.operations import MAX_FAILURES, StoredOperation, count_failure, fail, lock_operation, succeed
from models.store.transaction import Transaction

log = logging.getLogger(__name__)

Handler = Callable[[Transaction, StoredOperation], BaseModel | None]
"""Carries a command out and returns its result; None when only a step of it is done, which commits all the same."""

CleanUp = Callable[[Transaction, OperationId], None]
"""Takes back some of what earlier steps left, in the transaction in which the command fails."""

# Deadlock, serialization failure, lock time-out, and connections that the server ended or does not take now.
TRANSIENT_STATES = frozenset({"40P01", "40001", "55P03", "57P01", "57P02", "57P03", "25P03", "53300"})
CONNECTION_LOST = "08"
# Statement and transaction time-out: a command that always runs into them has to end.
TOO_LONG = frozenset({"57014", "25P04"})


def carry_out(
    engine: Engine,
    command: Command,
    handler: Handler,
    *,
    clean_up: Sequence[CleanUp] = (),
    takes_coordination: bool = True,
) -> CommandOutcome:
    """Run a command, or the next step of it, in one transaction: its effect and its outcome, or neither.

    A refusal (`Problem`) is an outcome. A lost connection, deadlock or lock time-out leaves the command as it was.
    Anything else is counted, and the fifth time ends it as `internal_error` (architecture.md §3). A command that has
    its outcome is not run again.

    Args:
        engine: one process's pool.
        command: which operation.
        handler: what to do.
        clean_up: what else to do when it fails, whether refused or for the fifth time; after the fifth, each is done
            whether or not the others can be.
        takes_coordination: whether the coordination row is locked for it; a step that publishes nothing does without.
    """
    try:
        return _once(engine, command, handler, clean_up, takes_coordination=takes_coordination)
    except Exception as error:
        if is_transient(error):
            log.warning("operation %s: database not reachable or busy, will retry", command.operation_id)
            return CommandOutcome(finished=False)
        log.exception("operation %s failed for an unforeseen reason", command.operation_id)
        return _count(engine, command, clean_up, takes_coordination=takes_coordination)


def is_transient(error: BaseException) -> bool:
    """Whether the database refused for a reason that passes by itself."""
    if isinstance(error, PoolTimeout | InterfaceError):
        return True
    if not isinstance(error, DBAPIError):
        return False
    state: str | None = getattr(error.orig, "sqlstate", None)
    if state in TOO_LONG:
        return False
    if state is None:
        return error.connection_invalidated or isinstance(error.orig, PsycopgOperationalError)
    return error.connection_invalidated or state in TRANSIENT_STATES or state.startswith(CONNECTION_LOST)


def _once(
    engine: Engine, command: Command, handler: Handler, clean_up: Sequence[CleanUp], *, takes_coordination: bool
) -> CommandOutcome:
    org_id = OrganizationId(command.org_id)
    with engine.begin() as connection:
        now = time_of_turn(connection, org_id) if takes_coordination else datetime.now(UTC)
        operation = lock_operation(connection, org_id, OperationId(command.operation_id))
        if operation is None:
            return CommandOutcome(finished=True)
        if operation.finished:
            return _outcome(operation, succeeded=operation.status == "succeeded")
        tx = Transaction(connection, operation.org_id, operation.user_id, operation.request_id, now)
        try:
            with connection.begin_nested():
                result = handler(tx, operation)
        except Problem as problem:
            for keep in tx.kept_if_refused:
                keep(tx)
            fail(tx, operation.operation_id, problem)
            for clean in clean_up:
                clean(tx, operation.operation_id)
            return _outcome(operation, succeeded=False)
        if result is None:
            return CommandOutcome(finished=False, advanced=True)
        succeed(tx, operation.operation_id, result.model_dump(mode="json"))
        return _outcome(operation, succeeded=True)


def time_of_turn(connection: Connection, org_id: OrganizationId) -> datetime:
    """The time of everything a command writes: read under the coordination row, which it takes first.

    Read before, a commit that waited for the row would carry an earlier time than the commit it follows.
    """
    ref = lock_coordination(connection, org_id)
    return max(datetime.now(UTC), ref.updated_at)


def _outcome(operation: StoredOperation, *, succeeded: bool) -> CommandOutcome:
    return CommandOutcome(finished=True, succeeded=succeeded, review_id=operation.review_id or "")


def _count(
    engine: Engine, command: Command, clean_up: Sequence[CleanUp], *, takes_coordination: bool
) -> CommandOutcome:
    org_id, operation_id = OrganizationId(command.org_id), OperationId(command.operation_id)
    try:
        with engine.begin() as connection:
            if clean_up and takes_coordination:  # which a clean-up may need, and which is locked before the operation
                lock_coordination(connection, org_id)
            failing = count_failure(connection, org_id, operation_id)
            if failing is None:
                return CommandOutcome(finished=True)
            if failing.failures < MAX_FAILURES:
                return CommandOutcome(finished=False)
            tx = Transaction(connection, org_id, failing.user_id, failing.request_id)
            problem = InternalError("The operation failed repeatedly; the logs name it.", request_id=failing.request_id)
            fail(tx, operation_id, problem)
            for clean in clean_up:
                _try_to_clean_up(tx, operation_id, clean)
            return CommandOutcome(finished=True, review_id=failing.review_id or "")
    except (DBAPIError, PoolTimeout):
        log.warning("operation %s: could not count its failure, will retry", command.operation_id)
        return CommandOutcome(finished=False)


def _try_to_clean_up(tx: Transaction, operation_id: OperationId, clean: CleanUp) -> None:
    """What failed five times may fail in its clean-up as well, which is not to keep it from ending."""
    try:
        with tx.connection.begin_nested():
            clean(tx, operation_id)
    except Exception as error:
        if is_transient(error):
            raise
        log.exception("operation %s has failed and could not be cleaned up", operation_id)
