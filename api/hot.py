"""The hot path: requests of agents on every turn, on psycopg's own connections (docs/decisions/0015).

Much as `api.running`: authenticated first, a deadlock tried again, once per Idempotency-Key. Yet the statements of a
request commit one by one, unless the function says otherwise, and its connection is asked for nothing before the
credential is looked up: where it had gone, so have all that idle, and the look-up begins again on a new one.
"""

from collections.abc import Callable
from functools import partial

import psycopg

from api.answers import Answer
from api.calls import Hot
from api.headers import IDEMPOTENCY_KEY, bearer_secret
from api.requests import Incoming
from api.running import (
    Accepted,
    HotFunction,
    authenticate,
    once,
    request_key,
    require_admission,
    require_credential,
)
from models.lost_transactions import retried
from models.store.structured import driver_connection_of
from models.store.tokens import Credential, find_credential_with


def run_hot(incoming: Incoming, function: HotFunction, only_reads: Callable[[Hot], bool]) -> Answer:
    """Answer a request to a hot route; one that `only_reads` is never answered by what its key was answered before."""
    if incoming.method == "POST" and IDEMPOTENCY_KEY in incoming.headers:
        return retried(partial(_run_keyed, incoming, function, only_reads))
    return retried(partial(_run, incoming, function))


def _run(incoming: Incoming, function: HotFunction) -> Answer:
    def ask(connection: psycopg.Connection, principal: Credential) -> tuple[Hot, Answer]:
        call = Hot(incoming, principal, connection)
        return call, _perform(function, call)

    call, answered = incoming.services.hot.serve(partial(_authenticate, incoming), ask)
    _tell(call)
    return answered


def _authenticate(incoming: Incoming, connection: psycopg.Connection) -> Credential:
    secret = bearer_secret(incoming.headers)
    return require_credential(None if secret is None else find_credential_with(connection, secret))


def _run_keyed(incoming: Incoming, function: HotFunction, only_reads: Callable[[Hot], bool]) -> Answer:
    """Key and effect commit together, in a transaction of the engine, which keeps the keys."""
    with incoming.services.engine.begin() as connection:
        principal = authenticate(connection, incoming)
        call = Hot(incoming, principal, driver_connection_of(connection))
        request = request_key(incoming, principal)
        perform = partial(_perform, function, call)
        if request is None:
            answered: Answer | Accepted = perform()
        else:
            answered = once(request, connection, incoming, perform, only_reads=only_reads(call))
    if not isinstance(answered, Answer):
        raise AssertionError("a hot route accepts no operation")  # noqa: TRY004  (a defect, not a type)
    _tell(call)
    return answered


def _perform(function: HotFunction, call: Hot) -> Answer:
    answered = function(call)
    require_admission(call)
    return answered


def _tell(call: Hot) -> None:
    for tell in call.after_commit:
        tell()
