"""Workstreams: lines of work of one user, with the persona memory lever (tenancy.md)."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import Connection, TextClause, text

from models.errors import NotFound
from models.identifiers import OrganizationId, ProjectId, UserId, WorkstreamId, new_workstream_id
from models.store.audit import record_audit
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class WorkstreamRow:
    """A workstream; `project_id` is what its sessions are attached to unless they say otherwise.

    `had_session` is whether one was ever opened on it, those that ended since included.
    """

    workstream_id: WorkstreamId
    owner_id: UserId
    title: str
    project_id: ProjectId | None
    memory_enabled: bool
    had_session: bool
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class WorkstreamChange:
    """What a workstream is to be; fields as they are now where nothing changes."""

    title: str
    project_id: ProjectId | None
    memory_enabled: bool


COLUMNS = "workstream_id, owner_id, title, project_id, memory_enabled, had_session, version, created_at, updated_at"
READ = text(f"""
    select {COLUMNS} from workstreams where org_id = :org_id and workstream_id = :workstream_id
""")  # noqa: S608  (a constant of ours)
LOCKED = text(f"""
    select {COLUMNS} from workstreams where org_id = :org_id and workstream_id = :workstream_id for no key update
""")  # noqa: S608  (a constant of ours)
LIST = text(f"""
    select {COLUMNS} from workstreams
    where org_id = :org_id and (cast(:owner_id as text) is null or owner_id = :owner_id)
      and workstream_id < coalesce(:before, '~')
    order by workstream_id desc limit :limit
""")  # noqa: S608  (a constant of ours)
HOLD_USER = text("select user_id from users where org_id = :org_id and user_id = :user_id for key share")
INSERT = text(f"""
    insert into workstreams (org_id, workstream_id, owner_id, title, project_id, memory_enabled, version, created_at,
                             updated_at)
    values (:org_id, :workstream_id, :owner_id, :title, :project_id, :memory_enabled, 1, :now, :now)
    returning {COLUMNS}
""")  # noqa: S608  (a constant of ours)
UPDATE = text(f"""
    update workstreams
    set title = :title, project_id = :project_id, memory_enabled = :memory_enabled, version = version + 1,
        updated_at = :now
    where org_id = :org_id and workstream_id = :workstream_id
    returning {COLUMNS}
""")  # noqa: S608  (a constant of ours)
OPENED = text("update workstreams set had_session = true where org_id = :org_id and workstream_id = :workstream_id")
DELETE = text("delete from workstreams where org_id = :org_id and workstream_id = :workstream_id")


def read_workstream(connection: Connection, org_id: OrganizationId, workstream_id: WorkstreamId) -> WorkstreamRow:
    """A workstream; whether somebody may see it is asked of the row.

    Raises:
        NotFound: the organization has no such workstream.
    """
    return _found(connection, READ, org_id, workstream_id)


def lock_workstream(connection: Connection, org_id: OrganizationId, workstream_id: WorkstreamId) -> WorkstreamRow:
    """The same, and nobody else changes it until COMMIT."""
    return _found(connection, LOCKED, org_id, workstream_id)


def list_workstreams(
    connection: Connection, org_id: OrganizationId, owner_id: UserId | None, *, before: str | None, limit: int
) -> list[WorkstreamRow]:
    """The workstreams of an owner, or of everybody, newest first, those older than `before`."""
    names = {"org_id": org_id, "owner_id": owner_id, "before": before, "limit": limit}
    return [WorkstreamRow(*row) for row in connection.execute(LIST, names)]


def hold_user(tx: Transaction, user_id: UserId) -> None:
    """Have a user stay until COMMIT, to whom something is about to belong.

    Raises:
        NotFound: the organization has no such user, or not any more.
    """
    if tx.connection.execute(HOLD_USER, {"org_id": tx.org_id, "user_id": user_id}).one_or_none() is None:
        raise NotFound("There is no such user.")


def create_workstream(tx: Transaction, owner_id: UserId, new: WorkstreamChange) -> WorkstreamRow:
    """Make a workstream for a user, who is held by `hold_user`."""
    names = {
        "org_id": tx.org_id,
        "workstream_id": new_workstream_id(),
        "owner_id": owner_id,
        "title": new.title,
        "project_id": new.project_id,
        "memory_enabled": new.memory_enabled,
        "now": tx.now,
    }
    workstream = WorkstreamRow(*tx.connection.execute(INSERT, names).one())
    _record(tx, "workstream.create", workstream, {"project_id": new.project_id, "memory_enabled": new.memory_enabled})
    return workstream


def change_workstream(tx: Transaction, before: WorkstreamRow, change: WorkstreamChange) -> WorkstreamRow:
    """Change a workstream that is locked; equal values change nothing. Its open sessions keep their project."""
    changed: list[JsonValue] = [
        field for field in ("title", "project_id", "memory_enabled") if getattr(before, field) != getattr(change, field)
    ]
    if not changed:
        return before
    names = {
        "org_id": tx.org_id,
        "workstream_id": before.workstream_id,
        "title": change.title,
        "project_id": change.project_id,
        "memory_enabled": change.memory_enabled,
        "now": tx.now,
    }
    workstream = WorkstreamRow(*tx.connection.execute(UPDATE, names).one())
    detail: dict[str, JsonValue] = {"changed": changed, "memory_enabled": change.memory_enabled}
    _record(tx, "workstream.update", workstream, {**detail, "project_id": change.project_id})
    return workstream


def note_session(tx: Transaction, workstream: WorkstreamRow) -> None:
    """Remember that a session was opened on a workstream that is locked, or was made just now."""
    if not workstream.had_session:
        tx.connection.execute(OPENED, {"org_id": tx.org_id, "workstream_id": workstream.workstream_id})


def remove_workstream(tx: Transaction, workstream: WorkstreamRow) -> None:
    """Remove a workstream that nothing belongs to any more (`models.store.clearing`)."""
    tx.connection.execute(DELETE, {"org_id": tx.org_id, "workstream_id": workstream.workstream_id})
    _record(tx, "workstream.delete", workstream, {})


def _found(
    connection: Connection, statement: TextClause, org_id: OrganizationId, workstream_id: WorkstreamId
) -> WorkstreamRow:
    row = connection.execute(statement, {"org_id": org_id, "workstream_id": workstream_id}).one_or_none()
    if row is None:
        raise no_workstream()
    return WorkstreamRow(*row)


def no_workstream() -> NotFound:
    """The refusal of a workstream that is not there, or is not to be known of."""
    return NotFound("There is no such workstream.")


def _record(tx: Transaction, action: str, workstream: WorkstreamRow, detail: dict[str, JsonValue]) -> None:
    detail = {"owner_id": workstream.owner_id, **detail}
    record_audit(tx, action, "workstream", workstream.workstream_id, detail=detail)
