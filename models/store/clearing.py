"""Clean-up: what belongs to people, workstreams and projects goes with them, in one transaction (memory.md §8).

Of a deleted user go the sessions, the user and coordinator scopes, and the owned workstreams with whatever anybody
wrote there; what the user wrote elsewhere stays, with the id in `created_by`. Injection records go with their session
and with their memory, and so does what Idempotency-Keys were answered with a memory. Each function takes its locks in
the order of `models.store.locks`, and reads what there is to clear after them.
"""

from collections.abc import Sequence

from sqlalchemy import text

from models.identifiers import ProjectId, UserId, WorkstreamId
from models.rules.visibility import Scope
from models.store.idempotency import forget_memories
from models.store.locks import lock_access, lock_user, lock_workstreams
from models.store.structured import Actor, driver_connection_of
from models.store.structured_cleanup import clear_memories, scopes_to_clear
from models.store.transaction import Transaction
from models.store.workstreams import WorkstreamRow, remove_workstream

MEMBERSHIPS = text("select project_id from project_members where org_id = :org_id and user_id = :user_id")
OWNED = text("select workstream_id from workstreams where org_id = :org_id and owner_id = :user_id")
SESSIONS_OF_USER = text("delete from sessions where org_id = :org_id and user_id = :user_id")
SESSIONS_ON = text("delete from sessions where org_id = :org_id and workstream_id = any(:workstream_ids)")
WORKSTREAMS_OF = text("delete from workstreams where org_id = :org_id and owner_id = :user_id")


def clear_user(tx: Transaction, user_id: UserId) -> None:
    """Clear what belongs to a user who is removed next, under the coordination row."""
    names = {"org_id": tx.org_id, "user_id": user_id}
    projects = tx.connection.execute(MEMBERSHIPS, names).scalars()
    lock_access(tx.connection, tx.org_id, *map(ProjectId, projects))
    lock_user(tx.connection, tx.org_id, user_id)
    owned = [WorkstreamId(found) for found in tx.connection.execute(OWNED, names).scalars()]
    lock_workstreams(tx.connection, tx.org_id, owned)
    _clear(tx, "user", user_id)
    _clear(tx, "coordinator", user_id)
    driver = driver_connection_of(tx.connection)
    for workstream_id in scopes_to_clear(driver, tx.org_id, scope="workstream", scope_ids=owned):
        _clear(tx, "workstream", workstream_id)
    _end_sessions(tx, owned)
    tx.connection.execute(SESSIONS_OF_USER, names)
    tx.connection.execute(WORKSTREAMS_OF, names)


def clear_workstream(tx: Transaction, workstream: WorkstreamRow) -> None:
    """Remove a workstream with its sessions and memories."""
    lock_workstreams(tx.connection, tx.org_id, [workstream.workstream_id])
    _clear(tx, "workstream", workstream.workstream_id)
    _end_sessions(tx, [workstream.workstream_id])
    remove_workstream(tx, workstream)


def clear_project(tx: Transaction, project_id: ProjectId) -> None:
    """Clear the memories of a project that is removed next, under its lock; sessions that are attached to it stay."""
    lock_access(tx.connection, tx.org_id, project_id)
    _clear(tx, "project", project_id)


def _end_sessions(tx: Transaction, workstream_ids: Sequence[WorkstreamId]) -> None:
    tx.connection.execute(SESSIONS_ON, {"org_id": tx.org_id, "workstream_ids": [*workstream_ids]})


def _clear(tx: Transaction, scope: Scope, scope_id: str) -> None:
    actor = Actor(tx.org_id, tx.actor_id, tx.request_id, "rest")
    clear_memories(driver_connection_of(tx.connection), actor, scope=scope, scope_id=scope_id)
    forget_memories(tx, scope_id)
