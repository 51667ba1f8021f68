"""Structured memories in memory: who reads and writes what, as memory.md §2 has it.

Nothing of the product's rules is imported. A memory goes by its description, which no other save has.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

Spot = tuple[str, str]
"""A scope and its id."""

SCOPES = ("global", "workstream", "user", "coordinator", "project")
SCOPES_OF: Mapping[str, tuple[str, ...]] = {
    "interactive": ("global", "workstream", "user", "project"),
    "coordinator": ("coordinator", "project"),
}
GLOBAL: Spot = ("global", "")
ADMINISTRATORS = ("owner", "admin")


@dataclass(frozen=True)
class Refusal:
    """A status and a code, and the other scopes that the text points to."""

    status: int
    code: str
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """Scope, name and description of what an answer shows, and the codes of what it had to leave out."""

    rows: frozenset[tuple[str, str, str]] = frozenset()
    unavailable: tuple[tuple[str, str], ...] = ()


Outcome = Refusal | Found

BAD = Refusal(400, "invalid_request")
MISSING = Refusal(404, "not_found")
FORBIDDEN = Refusal(403, "forbidden")
READ_ONLY = Refusal(403, "read_only_session")


@dataclass(frozen=True)
class ModelSession:
    """A session, with the project that was attached when it was made."""

    session_id: str
    kind: str
    user: str
    opened_by: str
    workstream: str | None = None
    project: str | None = None
    read_only: bool = False

    @property
    def inherited(self) -> str:
        """The scope of a save, get or delete that names none."""
        if self.project is not None:
            return "project"
        return "global" if self.kind == "interactive" else "coordinator"


@dataclass(frozen=True)
class Caller:
    """Who asks by REST, and whether the token permits `service`."""

    user: str
    serves: bool = False


@dataclass
class MemoryModel:
    """One organization: roles by user, owners by workstream, states by project, roles by project and user."""

    roles: dict[str, str]
    workstreams: dict[str, str] = field(default_factory=dict)
    without_memory: set[str] = field(default_factory=set)
    projects: dict[str, str] = field(default_factory=dict)
    members: dict[tuple[str, str], str] = field(default_factory=dict)
    global_write: str = "member"
    rows: dict[Spot, dict[str, str]] = field(default_factory=dict)
    past: dict[Spot, dict[str, list[str]]] = field(default_factory=dict)

    def all_rows(self) -> set[tuple[str, str, str, str]]:
        """Scope, id, name and description of everything there is."""
        return {(*spot, name, said) for spot, held in self.rows.items() for name, said in held.items()}

    def clear(self, spot: Spot) -> None:
        """What goes when that whose memories they are is deleted."""
        self.rows.pop(spot, None)
        self.past.pop(spot, None)

    # Sessions

    def call(self, session: ModelSession, action: str, scope: str | None, name: str, description: str) -> Outcome:
        """What the tool answers, and what it changes."""
        if session.workstream in self.without_memory:
            return Refusal(403, "memory_disabled")
        if action in ("list", "search"):
            return self._spanning(session, scope)
        target = self._target(session, scope, writes=action != "get")
        outcome = target if isinstance(target, Refusal) else self._at(target, action, name, description)
        if isinstance(outcome, Found) or outcome in (BAD, READ_ONLY):
            return outcome
        meant, places = scope or session.inherited, self.readable(session)
        others = [at for at in SCOPES if at in places and at != meant and name in self.rows.get(places[at], {})]
        return replace(outcome, elsewhere=tuple(others))

    def turn(self, session: ModelSession) -> Found:
        """What a turn is given when all that is visible matters."""
        if session.workstream in self.without_memory:
            return Found()
        found = self._spanning(session, None)
        assert isinstance(found, Found)
        return found

    def readable(self, session: ModelSession) -> dict[str, Spot]:
        """The places that a session reads now."""
        ids = {
            "global": "",
            "workstream": session.workstream,
            "user": session.user,
            "coordinator": session.user,
            "project": None if self._broken(session) else session.project,
        }
        return {scope: (scope, at) for scope in SCOPES_OF[session.kind] if (at := ids[scope]) is not None}

    def _spanning(self, session: ModelSession, scope: str | None) -> Outcome:
        if scope is None:
            broken = self._broken(session)
            left_out = () if broken is None else (("project", broken.code),)
            return self._shown(self.readable(session).values(), left_out)
        target = self._target(session, scope, writes=False)
        return target if isinstance(target, Refusal) else self._shown([target])

    def _target(self, session: ModelSession, scope: str | None, *, writes: bool) -> Spot | Refusal:
        chosen = scope or session.inherited
        if chosen not in SCOPES_OF[session.kind] or (chosen == "project" and session.project is None):
            # What is refused whatever the arguments are is not corrected first.
            return READ_ONLY if writes and session.read_only else BAD
        if chosen == "project" and (broken := self._broken(session)):
            return broken
        if writes and (refusal := self._unwritable(session, chosen)):
            return refusal
        return self.readable(session)[chosen]

    def _broken(self, session: ModelSession) -> Refusal | None:
        """Why the attached project's memory is not read; membership alone counts, whoever the user is."""
        if session.project is None:
            return None
        state = self.projects[session.project]
        if state == "deleted" or (session.project, session.user) not in self.members:
            return MISSING
        return Refusal(409, "project_archived") if state == "archived" else None

    def _unwritable(self, session: ModelSession, scope: str) -> Refusal | None:
        if scope == "global" and self._global_is_closed_to(session.user):
            return FORBIDDEN
        if scope == "project" and self.members[session.project or "", session.user] == "viewer":
            return FORBIDDEN
        return READ_ONLY if session.read_only else None

    # REST

    def ask(
        self, caller: Caller, verb: str, scope: str | None, scope_id: str | None, name: str, description: str
    ) -> Outcome:
        """What a route outside of sessions answers, and what it changes."""
        spot = self._named(caller, scope, scope_id)
        if isinstance(spot, Refusal):
            return spot
        if verb in ("save", "delete", "restore") and spot == GLOBAL and self._global_is_closed_to(caller.user):
            return FORBIDDEN
        if verb in ("list", "search"):
            return self._shown([spot] if scope else [GLOBAL, ("user", caller.user)])
        return self._at(spot, verb, name, description)

    def _named(self, caller: Caller, scope: str | None, scope_id: str | None) -> Spot | Refusal:
        if scope in ("coordinator", "project") or (scope in (None, "global") and scope_id):
            return BAD
        if scope == "user":
            return FORBIDDEN if scope_id not in (None, caller.user) else ("user", caller.user)
        if scope == "workstream":
            if scope_id is None:
                return BAD
            owner = self.workstreams.get(scope_id)
            if owner is None:
                return MISSING
            return ("workstream", scope_id) if caller.serves or owner == caller.user else FORBIDDEN
        return GLOBAL

    # What both come to

    def _at(self, spot: Spot, verb: str, name: str, description: str) -> Outcome:
        held, past = self.rows.setdefault(spot, {}), self.past.setdefault(spot, {})
        if verb == "history":
            return _found(spot, name, past[name]) if name in past else MISSING
        if verb == "save":
            held[name] = description
            past.setdefault(name, []).append(description)
        elif verb == "restore":
            if name in held:
                return Refusal(409, "already_exists")
            if name not in past:
                return MISSING
            held[name] = past[name][-1]
        elif name not in held:
            return MISSING
        elif verb == "delete":
            del held[name]
            return Found()
        return _found(spot, name, [held[name]])

    def _shown(self, spots: Iterable[Spot], unavailable: tuple[tuple[str, str], ...] = ()) -> Found:
        rows = {(spot[0], name, said) for spot in spots for name, said in self.rows.get(spot, {}).items()}
        return Found(frozenset(rows), unavailable)

    def _global_is_closed_to(self, user: str) -> bool:
        return self.global_write == "admin" and self.roles[user] not in ADMINISTRATORS


def _found(spot: Spot, name: str, descriptions: Iterable[str]) -> Found:
    return Found(frozenset((spot[0], name, said) for said in descriptions))
