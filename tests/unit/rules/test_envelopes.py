"""Who sees and writes which scope (memory.md §2), for every session and caller there can be."""

from dataclasses import replace
from itertools import product
from typing import get_args

import pytest

from models.errors import Forbidden, InvalidRequest, MemoryDisabled, NotFound, Problem, ProjectArchived, ReadOnlySession
from models.identifiers import OrganizationId, ProjectId, SessionId, UserId, WorkstreamId
from models.rules.envelopes import (
    CallerFacts,
    SessionFacts,
    admin_envelope,
    rest_envelope,
    session_envelope,
)
from models.rules.roles import GlobalWrite, OrgRole, ProjectRole, ProjectState
from models.rules.visibility import Place, SessionKind

ORG, USER, OPENER = OrganizationId("org_1"), UserId("usr_1"), UserId("usr_2")
WORKSTREAM, PROJECT = WorkstreamId("wks_1"), ProjectId("prj_1")

GLOBAL = Place("global", "")
OWN_WORKSTREAM = Place("workstream", WORKSTREAM)
OWN_USER = Place("user", USER)
COORDINATOR = Place("coordinator", USER)
ATTACHED = Place("project", PROJECT)

INTERACTIVE = SessionFacts(
    org_id=ORG,
    session_id=SessionId("ses_1"),
    kind="interactive",
    user_id=USER,
    opened_by=USER,
    workstream_id=WORKSTREAM,
    project_id=None,
    read_only=False,
    memory_enabled=True,
    org_role="member",
    project_state=None,
    project_role=None,
    global_write="member",
)
COORDINATING = replace(INTERACTIVE, kind="coordinator", workstream_id=None)
OUTSIDE: dict[SessionKind, tuple[Place, ...]] = {
    "interactive": (GLOBAL, OWN_WORKSTREAM, OWN_USER),
    "coordinator": (COORDINATOR,),
}

KINDS: tuple[SessionKind, ...] = get_args(SessionKind)
ORG_ROLES: tuple[OrgRole, ...] = get_args(OrgRole)
POLICIES: tuple[GlobalWrite, ...] = get_args(GlobalWrite)
STATES: tuple[ProjectState | None, ...] = (*get_args(ProjectState), None)
PROJECT_ROLES: tuple[ProjectRole | None, ...] = (*get_args(ProjectRole), None)
YES_OR_NO = (True, False)


def a_session(kind: SessionKind) -> SessionFacts:
    return {"interactive": INTERACTIVE, "coordinator": COORDINATING}[kind]


def attached(
    kind: SessionKind, state: ProjectState | None = "active", role: ProjectRole | None = "member"
) -> SessionFacts:
    return replace(a_session(kind), project_id=PROJECT, project_state=state, project_role=role)


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_reads_and_writes_the_scopes_of_its_kind_and_nothing_else(kind: SessionKind) -> None:
    envelope = session_envelope(a_session(kind))
    assert envelope.org_id == ORG
    assert envelope.readable == envelope.writable == OUTSIDE[kind]
    assert (envelope.refused, envelope.unwritable, envelope.whole) == ({}, {}, False)


# What somebody of each role gets of a project in each state; everything else is refused as unknown.
OF_A_PROJECT: dict[tuple[ProjectState | None, ProjectRole | None], type[Problem] | None] = {
    ("active", "admin"): None,
    ("active", "member"): None,
    ("active", "viewer"): None,
    ("archived", "admin"): ProjectArchived,
    ("archived", "member"): ProjectArchived,
    ("archived", "viewer"): ProjectArchived,
}


@pytest.mark.parametrize(("kind", "state", "role"), [*product(KINDS, STATES, PROJECT_ROLES)])
def test_an_attached_project_is_read_by_its_members_while_it_is_active(
    kind: SessionKind, state: ProjectState | None, role: ProjectRole | None
) -> None:
    envelope = session_envelope(attached(kind, state, role))
    refusal = OF_A_PROJECT.get((state, role), NotFound)
    assert envelope.readable == (OUTSIDE[kind] if refusal else (*OUTSIDE[kind], ATTACHED))
    assert {scope: type(problem) for scope, problem in envelope.refused.items()} == (
        {"project": refusal} if refusal else {}
    )


@pytest.mark.parametrize(("kind", "org_role", "state"), [*product(KINDS, ORG_ROLES, STATES)])
def test_no_role_in_the_organization_stands_in_for_membership_in_a_session(
    kind: SessionKind, org_role: OrgRole, state: ProjectState | None
) -> None:
    envelope = session_envelope(replace(attached(kind, state, None), org_role=org_role))
    assert envelope.readable == OUTSIDE[kind]
    assert isinstance(envelope.refused["project"], NotFound)


@pytest.mark.parametrize(("kind", "role", "read_only"), [*product(KINDS, get_args(ProjectRole), YES_OR_NO)])
def test_viewers_and_read_only_sessions_read_a_project_and_do_not_write_it(
    kind: SessionKind, role: ProjectRole, *, read_only: bool
) -> None:
    envelope = session_envelope(replace(attached(kind, "active", role), read_only=read_only))
    refusal = Forbidden if role == "viewer" else ReadOnlySession if read_only else None
    assert ATTACHED in envelope.readable
    assert (ATTACHED in envelope.writable) == (refusal is None)
    assert type(envelope.unwritable.get("project")) is (refusal or type(None))


@pytest.mark.parametrize("kind", KINDS)
def test_a_read_only_session_reads_everything_and_writes_nothing(kind: SessionKind) -> None:
    envelope = session_envelope(replace(attached(kind), read_only=True))
    assert envelope.readable == (*OUTSIDE[kind], ATTACHED)
    assert envelope.writable == ()
    assert envelope.unwritable.keys() == {place.scope for place in envelope.readable}
    assert {type(problem) for problem in envelope.unwritable.values()} == {ReadOnlySession}


@pytest.mark.parametrize(("org_role", "policy", "read_only"), [*product(ORG_ROLES, POLICIES, YES_OR_NO)])
def test_the_policy_of_the_organization_says_who_writes_global_memories(
    org_role: OrgRole, policy: GlobalWrite, *, read_only: bool
) -> None:
    facts = replace(INTERACTIVE, org_role=org_role, global_write=policy, read_only=read_only)
    refusal = Forbidden if (org_role, policy) == ("member", "admin") else ReadOnlySession if read_only else None
    envelope = session_envelope(facts)
    assert GLOBAL in envelope.readable
    assert (GLOBAL in envelope.writable) == (refusal is None)
    assert type(envelope.unwritable.get("global")) is (refusal or type(None))


@pytest.mark.parametrize("kind", KINDS)
def test_with_the_lever_off_a_session_sees_nothing_whatever_it_is_attached_to(kind: SessionKind) -> None:
    envelope = session_envelope(replace(attached(kind), memory_enabled=False))
    assert (envelope.readable, envelope.writable) == ((), ())
    assert envelope.refused.keys() == {*(place.scope for place in OUTSIDE[kind]), "project"}
    assert {type(problem) for problem in envelope.refused.values()} == {MemoryDisabled}


def test_a_guest_sees_global_the_workstream_and_the_guests_own_user_scope() -> None:
    envelope = session_envelope(replace(INTERACTIVE, opened_by=OPENER))
    assert envelope.readable == envelope.writable == (GLOBAL, OWN_WORKSTREAM, OWN_USER)


def test_a_coordinator_session_without_a_user_cannot_be_constructed() -> None:
    with pytest.raises(InvalidRequest) as refused:
        replace(COORDINATING, user_id=UserId(""))
    assert refused.value.context["errors"] == [{"field": "user_id", "rule": "missing"}]


def test_an_interactive_session_without_a_workstream_cannot_be_constructed() -> None:
    with pytest.raises(InvalidRequest):
        replace(INTERACTIVE, workstream_id=None)


def test_a_coordinator_with_a_workstream_does_not_see_its_memories() -> None:
    assert session_envelope(replace(COORDINATING, workstream_id=WORKSTREAM)).readable == (COORDINATOR,)


@pytest.mark.parametrize(("user_id", "uses"), [(USER, True), (OPENER, True), (UserId("usr_3"), False)])
def test_a_session_is_used_by_its_acting_user_and_by_whoever_opened_it(user_id: UserId, *, uses: bool) -> None:
    assert replace(INTERACTIVE, opened_by=OPENER).is_used_by(user_id) == uses


CALLER = CallerFacts(org_id=ORG, user_id=USER, org_role="member", global_write="member")


def test_a_caller_outside_of_sessions_reaches_global_and_the_own_user_scope() -> None:
    envelope = rest_envelope(CALLER)
    assert envelope.readable == envelope.writable == (GLOBAL, OWN_USER)
    assert not envelope.refused


@pytest.mark.parametrize(("owner", "serves"), [*product((USER, OPENER), YES_OR_NO)])
def test_a_named_workstream_is_reached_by_its_owner_and_service_tokens(owner: UserId, *, serves: bool) -> None:
    envelope = rest_envelope(replace(CALLER, workstream_id=WORKSTREAM, workstream_owner=owner, serves=serves))
    reached = owner == USER or serves
    assert (OWN_WORKSTREAM in envelope.readable) == (OWN_WORKSTREAM in envelope.writable) == reached
    assert type(envelope.refused.get("workstream")) is (type(None) if reached else Forbidden)


@pytest.mark.parametrize(("org_role", "policy"), [*product(ORG_ROLES, POLICIES)])
def test_the_same_policy_holds_outside_of_sessions(org_role: OrgRole, policy: GlobalWrite) -> None:
    envelope = rest_envelope(replace(CALLER, org_role=org_role, global_write=policy))
    assert envelope.readable == (GLOBAL, OWN_USER)
    assert (GLOBAL in envelope.writable) == ((org_role, policy) != ("member", "admin"))
    assert OWN_USER in envelope.writable


def test_the_administrator_sees_the_whole_organization() -> None:
    assert admin_envelope(ORG).whole
