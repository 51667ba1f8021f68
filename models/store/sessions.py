"""Sessions: what an agent acts in, fixed when it is made (tenancy.md), and what holds of it now."""

from dataclasses import dataclass
from datetime import datetime

import psycopg
from sqlalchemy import Connection, text

from models.errors import NotFound
from models.identifiers import OrganizationId, ProjectId, SessionId, UserId, WorkstreamId, new_session_id
from models.rules.envelopes import SessionFacts
from models.rules.visibility import SessionKind
from models.store.audit import record_audit
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as it was made."""

    session_id: SessionId
    kind: SessionKind
    user_id: UserId
    opened_by: UserId
    workstream_id: WorkstreamId | None
    project_id: ProjectId | None
    read_only: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that the actor opens; its user and workstream are held by the transaction."""

    kind: SessionKind
    user_id: UserId
    workstream_id: WorkstreamId | None
    project_id: ProjectId | None
    read_only: bool
    resumes: bool


FACTS = """
    select s.org_id, s.session_id, s.kind, s.user_id, s.opened_by, s.workstream_id, s.project_id, s.read_only,
           coalesce(w.memory_enabled, true), u.role, p.state, m.role, o.global_write
    from sessions s
    join organizations o on o.org_id = s.org_id
    join users u on u.org_id = s.org_id and u.user_id = s.user_id
    left join workstreams w on w.org_id = s.org_id and w.workstream_id = s.workstream_id
    left join projects p on p.org_id = s.org_id and p.project_id = s.project_id
    left join project_members m on m.org_id = s.org_id and m.project_id = s.project_id and m.user_id = s.user_id
    where s.org_id = %(org_id)s and s.session_id = %(session_id)s
"""
COLUMNS = "session_id, kind, user_id, opened_by, workstream_id, project_id, read_only, created_at"
READ = text(f"""
    select {COLUMNS} from sessions
    where org_id = :org_id and session_id = :session_id and :user_id in (user_id, opened_by)
""")  # noqa: S608  (a constant of ours)
INSERT = text(f"""
    insert into sessions (org_id, session_id, kind, user_id, opened_by, workstream_id, project_id, read_only, resumes,
                          created_at)
    values (:org_id, :session_id, :kind, :user_id, :opened_by, :workstream_id, :project_id, :read_only, :resumes, :now)
    returning {COLUMNS}
""")  # noqa: S608  (a constant of ours)
DELETE = text("delete from sessions where org_id = :org_id and session_id = :session_id returning session_id")


def read_session_facts(
    connection: psycopg.Connection, org_id: OrganizationId, session_id: SessionId
) -> SessionFacts | None:
    """A session and what holds of its acting user now, in one statement; None where the organization has none.

    Whether somebody may use it says `SessionFacts.is_used_by`.
    """
    row = connection.execute(FACTS, {"org_id": org_id, "session_id": session_id}).fetchone()
    return None if row is None else SessionFacts(*row)


def read_session(connection: Connection, org_id: OrganizationId, user_id: UserId, session_id: SessionId) -> SessionRow:
    """A session, for its acting user and for whoever opened it.

    Raises:
        NotFound: there is none, or none that the user may know of.
    """
    names = {"org_id": org_id, "user_id": user_id, "session_id": session_id}
    row = connection.execute(READ, names).one_or_none()
    if row is None:
        raise no_session()
    return SessionRow(*row)


def no_session() -> NotFound:
    """The refusal of a session that is not there, or is not to be known of."""
    return NotFound("There is no such session.")


def create_session(tx: Transaction, session: NewSession) -> SessionRow:
    """Open a session; its user is held by `hold_user` and its workstream by `lock_workstream`."""
    names = {
        "org_id": tx.org_id,
        "session_id": new_session_id(),
        "kind": session.kind,
        "user_id": session.user_id,
        "opened_by": tx.actor_id,
        "workstream_id": session.workstream_id,
        "project_id": session.project_id,
        "read_only": session.read_only,
        "resumes": session.resumes,
        "now": tx.now,
    }
    row = SessionRow(*tx.connection.execute(INSERT, names).one())
    _record(tx, "session.create", row)
    return row


def delete_session(tx: Transaction, session: SessionRow) -> None:
    """End a session, with what is known of its injections and nudges.

    Raises:
        NotFound: somebody else ended it meanwhile.
    """
    names = {"org_id": tx.org_id, "session_id": session.session_id}
    if tx.connection.execute(DELETE, names).one_or_none() is None:
        raise no_session()
    _record(tx, "session.delete", session)


def _record(tx: Transaction, action: str, session: SessionRow) -> None:
    record_audit(
        tx,
        action,
        "session",
        session.session_id,
        session_id=session.session_id,
        detail={
            "kind": session.kind,
            "user_id": session.user_id,
            "workstream_id": session.workstream_id,
            "project_id": session.project_id,
            "read_only": session.read_only,
        },
    )
