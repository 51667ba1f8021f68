"""Sessions as rules know them."""

from models.identifiers import OrganizationId, ProjectId, SessionId, UserId, WorkstreamId
from models.rules.envelopes import SessionFacts
from models.rules.roles import ProjectRole, ProjectState
from models.rules.visibility import SessionKind


def a_session(
    kind: SessionKind = "interactive",
    *,
    attached: bool = False,
    state: ProjectState | None = "active",
    role: ProjectRole | None = "member",
    read_only: bool = False,
) -> SessionFacts:
    """A session of `usr_1` on `wks_1`, with `prj_1` attached or without a project."""
    return SessionFacts(
        org_id=OrganizationId("org_1"),
        session_id=SessionId("ses_1"),
        kind=kind,
        user_id=UserId("usr_1"),
        opened_by=UserId("usr_1"),
        workstream_id=WorkstreamId("wks_1") if kind == "interactive" else None,
        project_id=ProjectId("prj_1") if attached else None,
        read_only=read_only,
        memory_enabled=True,
        org_role="member",
        project_state=state if attached else None,
        project_role=role if attached else None,
        global_write="member",
    )
