"""Which one place a `save`, `get` or `delete` of a session means (memory.md §2, "Inherited target")."""

from typing import Literal

from models.errors import InvalidRequest
from models.rules.envelopes import SessionFacts
from models.rules.visibility import SCOPES_OF, Envelope, Place, Scope

Verb = Literal["read", "write"]


def inherited_scope(facts: SessionFacts) -> Scope:
    """The scope where none is given: that of the attached project, whatever has become of it, else the kind's own."""
    if facts.project_id is not None:
        return "project"
    return "global" if facts.kind == "interactive" else "coordinator"


def scopes_of(facts: SessionFacts) -> tuple[Scope, ...]:
    """The scopes that a call of the session may name: those of its kind, `project` only with one attached."""
    return tuple(scope for scope in SCOPES_OF[facts.kind] if scope != "project" or facts.project_id is not None)


def target_of(facts: SessionFacts, envelope: Envelope, scope: Scope | None, verb: Verb) -> Place:
    """The one place that is meant; there is no other when it cannot be read or written.

    Args:
        facts: the session.
        envelope: what it sees now.
        scope: as given; None inherits it.
        verb: what is to happen there.

    Raises:
        InvalidRequest: the session has no such scope.
        NotFound, ProjectArchived: the attached project is gone, or archived.
        Forbidden, ReadOnlySession: it is read here, and not written.
    """
    chosen = scope or inherited_scope(facts)
    if chosen not in scopes_of(facts):
        raise InvalidRequest.of("scope", "not_allowed")
    place = envelope.place_of(chosen)
    if place is None:
        raise envelope.refused[chosen]
    if verb == "write" and chosen in envelope.unwritable:
        raise envelope.unwritable[chosen]
    return place
