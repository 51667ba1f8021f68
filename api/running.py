"""How a router's function runs: authenticated, in one transaction, once per Idempotency-Key, with its problems told.

Everything here runs in a worker thread; there are as many threads as pooled connections.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, Engine

from api.answers import Answer, refusal
from api.calls import Call, Held, Hot, Later, Read, Write
from api.headers import IDEMPOTENCY_KEY, bearer_secret, broken_key_rule
from api.requests import Incoming
from models.errors import IdempotencyKeyReused, IdempotencyKeyUsed, Problem, Unauthenticated
from models.lost_transactions import retried
from models.store.idempotency import RequestKey, StoredAnswer, claim_key, keep_answer, keep_operation
from models.store.operations import Due, StoredOperation, read_operation
from models.store.tokens import Credential, find_credential
from models.store.transaction import Transaction

REPLAYED = {"Idempotency-Replayed": "true"}
NOT_STORED = (401, 413, 429)
SERVER_ERROR = 500


@dataclass(frozen=True, slots=True)
class Accepted:
    """An operation that a workflow route accepted, now or, by its key, before."""

    operation: StoredOperation
    replayed: bool = False


Outcome = Answer | StoredOperation
ReadFunction = Callable[[Read], Answer | Held | Later]
WriteFunction = Callable[[Write], Outcome]
HotFunction = Callable[[Hot], Answer]


def authenticate(connection: Connection, incoming: Incoming) -> Credential:
    """Who asks.

    Raises:
        Unauthenticated: no bearer token, or one that is unknown, expired or revoked.
    """
    secret = bearer_secret(incoming.headers)
    return require_credential(None if secret is None else find_credential(connection, secret))


def require_credential(credential: Credential | None) -> Credential:
    """The credential, or Unauthenticated where there is none."""
    if credential is None:
        raise Unauthenticated("Send a valid token as `Authorization: Bearer …`.")
    return credential


def run_read(incoming: Incoming, function: ReadFunction) -> Answer | Held | Later:
    """Answer a GET from one read-only snapshot.

    A Review, its Drafts and the heads they meet are several statements: read at different moments, beside a merge,
    they showed blockers that never were.
    """
    with open_reading(incoming.services.engine) as connection:
        call = Read(incoming, authenticate(connection, incoming), connection)
        outcome = function(call)
    require_admission(call)
    return outcome


def open_reading(engine: Engine) -> Connection:
    """A connection whose transaction only reads, from one snapshot; whoever asked closes it."""
    return engine.connect().execution_options(postgresql_readonly=True, isolation_level="REPEATABLE READ")


def run_write(incoming: Incoming, function: WriteFunction) -> Answer | Accepted:
    """Make a change in one transaction; a deadlock is tried again, with jitter."""
    return retried(partial(_write, incoming, function))


def run_trial(incoming: Incoming, function: WriteFunction, *, only_reads: bool) -> Answer:
    """Answer what a command would come to, in a transaction that is rolled back.

    Nothing is stored, so no Idempotency-Key is either: the command itself may come with the same one later.

    Args:
        incoming: the request.
        function: the route's.
        only_reads: whether it reads from one snapshot; otherwise it does what the command does, and under its locks.
    """
    return retried(partial(_try, incoming, function, only_reads=only_reads))


def _try(incoming: Incoming, function: WriteFunction, *, only_reads: bool) -> Answer:
    with incoming.services.engine.connect() as connection:
        if only_reads:
            connection.execution_options(isolation_level="REPEATABLE READ")
        principal = authenticate(connection, incoming)
        tx = Transaction(connection, principal.org_id, principal.user_id, incoming.request_id)
        outcome = _perform(function, Write(incoming, principal, connection, tx, dry_run=True))
    if isinstance(outcome, StoredOperation):
        raise AssertionError("a dry run accepts nothing")  # noqa: TRY004  (a defect, not a type)
    return outcome


def _write(incoming: Incoming, function: WriteFunction) -> Answer | Accepted:
    with incoming.services.engine.begin() as connection:
        principal = authenticate(connection, incoming)
        tx = Transaction(connection, principal.org_id, principal.user_id, incoming.request_id)
        call = Write(incoming, principal, connection, tx)
        request = request_key(incoming, principal)
        perform = partial(_perform, function, call)
        result = _result(perform()) if request is None else once(request, connection, incoming, perform)
    _deliver(incoming, result, wake=call.wakes_delivery)
    return result


def _deliver(incoming: Incoming, result: Answer | Accepted, *, wake: bool) -> None:
    """After COMMIT: hand a fresh operation over, without waiting for anything."""
    if wake:
        incoming.services.delivery.wake()
    if isinstance(result, Accepted) and not result.operation.finished:
        incoming.services.delivery.deliver(_due(result.operation))


def _due(operation: StoredOperation) -> Due:
    return Due(
        operation.org_id,
        operation.operation_id,
        operation.kind.value,
        operation.workflow_id,
        operation.project_id,
        operation.review_id,
        str(operation.request.get("title", "")),
    )


def once(
    request: RequestKey,
    connection: Connection,
    incoming: Incoming,
    perform: Callable[[], Outcome],
    *,
    only_reads: bool = False,
) -> Answer | Accepted:
    """Carry a key's first request out and keep its answer; answer the same request again by what was kept.

    Another body under the key is carried out too, and rolled back, because any other refusal comes before that one.
    Of a request that only reads no answer is kept: the same one again is answered from what may be read by then.
    """
    known = claim_key(connection, request)
    if known is not None and known.same_body:
        return _result(perform()) if only_reads else _replay(connection, request, known)
    outcome = _try_within_savepoint(connection, perform)
    if known is not None:
        raise outcome if isinstance(outcome, Problem) else IdempotencyKeyReused("The key was used for another body.")
    return _keep(connection, request, incoming, outcome, only_reads=only_reads)


def _perform(function: WriteFunction, call: Write) -> Outcome:
    outcome = function(call)
    require_admission(call)
    return outcome


def _try_within_savepoint(connection: Connection, perform: Callable[[], Outcome]) -> Outcome | Problem:
    """What the function answers; a refusal that is to be stored leaves nothing else behind."""
    savepoint = connection.begin_nested()
    try:
        outcome = perform()
    except Problem as problem:
        if problem.status in NOT_STORED or problem.status >= SERVER_ERROR:
            raise
        savepoint.rollback()
        return problem
    savepoint.commit()
    return outcome


def request_key(incoming: Incoming, principal: Credential) -> RequestKey | None:
    """The key of a POST that names a valid one.

    A body that is too large has no hash, and its 413 is not stored; an implausible path is 404 for ever.
    """
    key = incoming.headers.get(IDEMPOTENCY_KEY)
    if incoming.method != "POST" or key is None or broken_key_rule(incoming.headers):
        return None
    if incoming.body is None or not incoming.has_plausible_path:
        return None
    # The query belongs to what is asked, too: a restoration names its scope there.
    sent = incoming.body + b"?" + incoming.query if incoming.query else incoming.body
    body_hash = hashlib.sha256(sent).hexdigest()
    return RequestKey(principal.org_id, principal.user_id, incoming.method, incoming.path, key, body_hash)


def _replay(connection: Connection, request: RequestKey, known: StoredAnswer) -> Answer | Accepted:
    if known.operation_id is not None:
        operation = read_operation(connection, request.org_id, known.operation_id)
        if operation is not None:
            return Accepted(operation, replayed=True)
    if known.body is None:
        raise IdempotencyKeyUsed("The answer to this key held a secret, which is not kept.")
    return Answer(known.status, known.body.encode(), {**known.headers, **REPLAYED})


def _keep(
    connection: Connection, request: RequestKey, incoming: Incoming, outcome: Outcome | Problem, *, only_reads: bool
) -> Answer | Accepted:
    if isinstance(outcome, Problem):
        outcome = refusal(outcome, instance=incoming.path, request_id=incoming.request_id)
    if isinstance(outcome, StoredOperation):
        keep_operation(connection, request, outcome.operation_id)
    else:
        body = None if outcome.secret or only_reads or outcome.body is None else outcome.body.decode()
        keep_answer(connection, request, status=outcome.status, headers=outcome.headers, body=body)
    return _result(outcome)


def _result(outcome: Outcome) -> Answer | Accepted:
    return Accepted(outcome) if isinstance(outcome, StoredOperation) else outcome


def require_admission(call: Call) -> None:
    """A function that never asked for `query` or `body` has checked no permission: a defect, not an answer."""
    if not call.admitted:
        raise AssertionError("the route checks no permission")
