"""Who sees which structured memories: the one rule that every verb and surface asks (memory.md §2).

A place is one scope with its id, of one organization. What somebody may read is a set of places, the envelope; what
they may write is a part of it. The SQL side is `models/store/structured_visibility.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from models.errors import Problem
from models.identifiers import OrganizationId

Scope = Literal["global", "workstream", "user", "coordinator", "project"]
SCOPES: tuple[Scope, ...] = ("global", "workstream", "user", "coordinator", "project")

SessionKind = Literal["interactive", "coordinator"]
SCOPES_OF: Mapping[SessionKind, tuple[Scope, ...]] = {
    "interactive": ("global", "workstream", "user", "project"),
    "coordinator": ("coordinator", "project"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """One scope with its id (`""` for global)."""

    scope: Scope
    scope_id: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """What somebody sees now: the places to read, in the order of the table in memory.md §2, and those to write.

    `refused` says, of a scope that belongs to them in principle, why it cannot be read (an attachment that is gone or
    archived), and `unwritable` why one that can be read cannot be written (a viewer, a policy, a read-only session).
    `whole` is the administrator's: every place of the organization, whatever `readable` lists; of the scope that it is
    `only` about, where one is named.
    """

    org_id: OrganizationId
    readable: tuple[Place, ...]
    writable: tuple[Place, ...] = ()
    refused: Mapping[Scope, Problem] = field(default_factory=dict)
    unwritable: Mapping[Scope, Problem] = field(default_factory=dict)
    whole: bool = False
    only: Scope | None = None

    def spans(self, place: Place) -> bool:
        """Whether it shows the place without naming it."""
        return self.whole and self.only in (None, place.scope)

    def place_of(self, scope: Scope) -> Place | None:
        """The readable place of a scope; a session has at most one of each."""
        return next((place for place in self.readable if place.scope == scope), None)
