"""Idempotency keys: the key and the effect of its request commit in one transaction (publication.md §6)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import orjson
from psycopg.errors import LockNotAvailable
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from models.errors import OperationInProgress
from models.identifiers import OperationId, OrganizationId, UserId
from models.store.transaction import Transaction

KEPT = timedelta(days=7)
ACCEPTED = 202


@dataclass(frozen=True, slots=True)
class RequestKey:
    """Which request: its scope, the client's key, and the hash of its body."""

    org_id: OrganizationId
    user_id: UserId
    method: str
    path: str
    key: str
    body_hash: str


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What a key was answered: an operation, or status, headers and body. A secret body was not kept."""

    same_body: bool
    status: int
    headers: dict[str, str]
    body: str | None
    operation_id: OperationId | None


CLAIM = text("select pg_advisory_xact_lock(hashtextextended(:claimed, 2))")
READ = text("""
    select body_hash, status, headers, body, operation_id from idempotency_keys
    where org_id = :org_id and user_id = :user_id and method = :method and path = :path and key = :key
      and created_at >= clock_timestamp() - :kept
""")
KEEP = text("""
    insert into idempotency_keys as known
        (org_id, user_id, method, path, key, body_hash, status, headers, body, operation_id, created_at)
    values (:org_id, :user_id, :method, :path, :key, :body_hash, :status, cast(:headers as jsonb), :body,
            :operation_id, clock_timestamp())
    on conflict (org_id, user_id, method, path, key) do update
    set body_hash = excluded.body_hash, status = excluded.status, headers = excluded.headers, body = excluded.body,
        operation_id = excluded.operation_id, created_at = excluded.created_at
    where known.created_at < excluded.created_at - :kept
    returning key
""")


def claim_key(connection: Connection, request: RequestKey) -> StoredAnswer | None:
    """Take the key for this request, or the answer that it was given within the last 7 days.

    A concurrent request with the same key is waited for, as long as `lock_timeout` allows. Nothing is written: the
    coordination row, which may follow, is waited for by transactions that have no number yet (`models.store.locks`).

    Raises:
        OperationInProgress: it takes longer.
    """
    scope = _scope(request)
    with _soon():
        connection.execute(CLAIM, {"claimed": "\n".join(scope.values())})
    row = connection.execute(READ, {**scope, "kept": KEPT}).one_or_none()
    if row is None:
        return None
    return StoredAnswer(row.body_hash == request.body_hash, row.status, row.headers, row.body, row.operation_id)


def keep_answer(
    connection: Connection, request: RequestKey, *, status: int, headers: dict[str, str], body: str | None
) -> None:
    """Store what the key was answered; `body` None for a secret, which is never kept."""
    headers_kept = orjson.dumps(headers).decode()
    _keep(connection, request, {"status": status, "headers": headers_kept, "body": body, "operation_id": None})


def keep_operation(connection: Connection, request: RequestKey, operation_id: OperationId) -> None:
    """Store which operation the key was answered with; a replay reads its present state."""
    _keep(connection, request, {"status": ACCEPTED, "headers": "{}", "body": None, "operation_id": operation_id})


def _keep(connection: Connection, request: RequestKey, answered: Mapping[str, str | int | None]) -> None:
    """The last write of the request. A row that is there all the same is a process's that claims keys by rows."""
    names = {**_scope(request), "body_hash": request.body_hash, "kept": KEPT, **answered}
    with _soon():
        kept = connection.execute(KEEP, names).one_or_none()
    if kept is None:
        raise OperationInProgress("Another request with this key has just been answered.")


@contextmanager
def _soon() -> Iterator[None]:
    """Tell a wait that `lock_timeout` ended as what is waited for: an equal request that is not answered yet."""
    try:
        yield
    except OperationalError as error:
        if isinstance(error.orig, LockNotAvailable):
            raise OperationInProgress("The first request with this key is not answered yet.") from None
        raise


def forget_keys(tx: Transaction, user_id: UserId) -> None:
    """Drop what a user's keys were answered: the user is about to go."""
    tx.connection.execute(
        text("delete from idempotency_keys where org_id = :org_id and user_id = :user_id"),
        {"org_id": tx.org_id, "user_id": user_id},
    )


ABOUT_MEMORIES = text("""
    delete from idempotency_keys
    where org_id = :org_id and (path like '/v1/api/memories%' or path like '/v1/api/sessions/%')
      and position('"scope_id":"' || :scope_id || '"' in body) > 0
""")


def forget_memories(tx: Transaction, scope_id: str) -> None:
    """Drop what keys were answered with memories of a scope: it is about to go, and they with it."""
    tx.connection.execute(ABOUT_MEMORIES, {"org_id": tx.org_id, "scope_id": scope_id})


def _scope(request: RequestKey) -> dict[str, str]:
    return {
        "org_id": request.org_id,
        "user_id": request.user_id,
        "method": request.method,
        "path": request.path,
        "key": request.key,
    }
