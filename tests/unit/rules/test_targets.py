import pytest

from models.errors import Forbidden, InvalidRequest, NotFound, Problem, ProjectArchived, ReadOnlySession
from models.rules.envelopes import SessionFacts, session_envelope
from models.rules.roles import ProjectRole, ProjectState
from models.rules.targets import Verb, inherited_scope, scopes_of, target_of
from models.rules.visibility import SCOPES, Place, Scope, SessionKind
from tests.session_facts import a_session


def target(facts: SessionFacts, scope: Scope | None, verb: Verb) -> Place | type[Problem]:
    """The place that is meant, or the kind of refusal."""
    try:
        return target_of(facts, session_envelope(facts), scope, verb)
    except Problem as problem:
        return type(problem)


PROJECT = Place("project", "prj_1")


@pytest.mark.parametrize("verb", ["read", "write"])
@pytest.mark.parametrize(
    ("facts", "place"),
    [
        (a_session(), Place("global", "")),
        (a_session("coordinator"), Place("coordinator", "usr_1")),
        (a_session(attached=True), PROJECT),
        (a_session("coordinator", attached=True), PROJECT),
    ],
)
def test_without_a_scope_the_attached_project_is_meant_else_the_kinds_own(
    facts: SessionFacts, place: Place, verb: Verb
) -> None:
    assert target(facts, None, verb) == place


@pytest.mark.parametrize("kind", ["interactive", "coordinator"])
@pytest.mark.parametrize(
    ("state", "role", "refusal"),
    [
        ("active", None, NotFound),
        ("deleted", "member", NotFound),
        (None, None, NotFound),
        ("archived", "admin", ProjectArchived),
    ],
)
def test_an_attachment_that_is_gone_is_never_replaced_by_another_scope(
    kind: SessionKind, state: ProjectState | None, role: ProjectRole | None, refusal: type[Problem]
) -> None:
    facts = a_session(kind, attached=True, state=state, role=role)
    assert inherited_scope(facts) == "project"
    for scope in (None, "project"):
        assert target(facts, scope, "read") is refusal
        assert target(facts, scope, "write") is refusal


def test_an_attachment_that_is_gone_leaves_the_other_scopes() -> None:
    assert target(a_session(attached=True, role=None), "user", "write") == Place("user", "usr_1")


def test_a_viewer_reads_the_project_and_a_write_does_not_fall_back() -> None:
    facts = a_session(attached=True, role="viewer")
    assert target(facts, None, "read") == PROJECT
    assert target(facts, None, "write") is Forbidden
    assert target(facts, "project", "write") is Forbidden
    assert target(facts, "global", "write") == Place("global", "")


def test_a_read_only_session_reads_and_does_not_write() -> None:
    facts = a_session(read_only=True)
    assert target(facts, None, "read") == Place("global", "")
    assert target(facts, None, "write") is ReadOnlySession


@pytest.mark.parametrize(
    ("facts", "scopes"),
    [
        (a_session(), ("global", "workstream", "user")),
        (a_session(attached=True), ("global", "workstream", "user", "project")),
        (a_session("coordinator"), ("coordinator",)),
        (a_session("coordinator", attached=True), ("coordinator", "project")),
    ],
)
def test_a_session_has_the_scopes_of_its_kind_and_a_project_only_with_one_attached(
    facts: SessionFacts, scopes: tuple[Scope, ...]
) -> None:
    assert scopes_of(facts) == scopes
    refused = set(SCOPES) - set(scopes)
    assert all(target(facts, scope, "read") is InvalidRequest for scope in refused)
