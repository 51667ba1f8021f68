"""What somebody sees and may write, from who they are now: the table of memory.md §2.

The facts are read live for every call, and again inside a writing transaction; nothing here is kept. A session asks by
`session_envelope`, the routes that are not a session's by `rest_envelope`, whoever holds `admin.memories` by
`admin_envelope`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from models.errors import Forbidden, InvalidRequest, MemoryDisabled, NotFound, Problem, ProjectArchived, ReadOnlySession
from models.identifiers import OrganizationId, ProjectId, SessionId, UserId, WorkstreamId
from models.rules.roles import ADMINISTRATORS, GlobalWrite, OrgRole, ProjectRole, ProjectState
from models.rules.visibility import SCOPES_OF, Envelope, Place, Scope, SessionKind

GLOBAL = Place("global", "")


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """A session and what holds of its acting user now.

    `memory_enabled` is the persona memory lever, that of its workstream. `project_id` is the attached project, whose
    state is None where the organization has no such project, and whose role is the acting user's membership.

    Raises:
        InvalidRequest: a coordinator session without a user, or an interactive one without a workstream.
    """

    org_id: OrganizationId
    session_id: SessionId
    kind: SessionKind
    user_id: UserId
    opened_by: UserId
    workstream_id: WorkstreamId | None
    project_id: ProjectId | None
    read_only: bool
    memory_enabled: bool
    org_role: OrgRole
    project_state: ProjectState | None
    project_role: ProjectRole | None
    global_write: GlobalWrite

    def __post_init__(self) -> None:
        if not self.user_id:
            raise InvalidRequest.of("user_id", "missing")
        if self.kind == "interactive" and self.workstream_id is None:
            raise InvalidRequest.of("workstream_id", "missing")

    def is_used_by(self, user_id: UserId) -> bool:
        """Whether a token of this user may use the session: of its acting user, or of whoever opened it."""
        return user_id in (self.user_id, self.opened_by)


@dataclass(frozen=True, slots=True)
class CallerFacts:
    """Who asks outside of any session, and the workstream that the request names, with its owner.

    `serves` is whether the token permits `service`.
    """

    org_id: OrganizationId
    user_id: UserId
    org_role: OrgRole
    global_write: GlobalWrite
    serves: bool = False
    workstream_id: WorkstreamId | None = None
    workstream_owner: UserId | None = None


def session_envelope(facts: SessionFacts) -> Envelope:
    """What a session sees now; with the lever off nothing, in every scope."""
    places = _places_of(facts)
    if not facts.memory_enabled:
        off = MemoryDisabled("Memory is off for this workstream.")
        return Envelope(facts.org_id, (), refused={place.scope: off for place in places})
    refused: dict[Scope, Problem] = {}
    if facts.project_id is not None and (problem := broken_attachment(facts)):
        refused["project"] = problem
    readable = tuple(place for place in places if place.scope not in refused)
    unwritable = {place.scope: problem for place in readable if (problem := _why_not_written(facts, place.scope))}
    return Envelope(facts.org_id, readable, _without(readable, unwritable), refused, unwritable)


def rest_envelope(facts: CallerFacts) -> Envelope:
    """What the caller reaches by `/memories`: global, a workstream where one is named, and the own user scope."""
    readable = [GLOBAL]
    refused: dict[Scope, Problem] = {}
    if facts.workstream_id is not None:
        if facts.serves or facts.workstream_owner == facts.user_id:
            readable.append(Place("workstream", facts.workstream_id))
        else:
            refused["workstream"] = Forbidden("Only its owner and service tokens get at a workstream's memories.")
    readable.append(Place("user", facts.user_id))
    unwritable: dict[Scope, Problem] = {}
    if problem := _why_global_is_not_written(facts.org_role, facts.global_write):
        unwritable["global"] = problem
    places = tuple(readable)
    return Envelope(facts.org_id, places, _without(places, unwritable), refused, unwritable)


def admin_envelope(org_id: OrganizationId, scope: Scope | None = None) -> Envelope:
    """What the holder of `admin.memories` sees: every place of the organization, or of one scope."""
    return Envelope(org_id, (), whole=True, only=scope)


def broken_attachment(facts: SessionFacts) -> Problem | None:
    """Why the attached project has no memory for the session now; None where it has, or where none is attached.

    Only members count: an owner or admin of the organization reads others' project memories by the admin API.
    """
    if facts.project_id is None:
        return None
    return why_project_is_not_read(facts.project_id, facts.project_state, facts.project_role)


def why_project_is_not_read(
    project_id: ProjectId, state: ProjectState | None, role: ProjectRole | None
) -> Problem | None:
    """Why somebody with this role in a project of this state gets at none of its memories; None who does."""
    if role is None or state in (None, "deleted"):
        return NotFound("There is no such project.", project_id=project_id)
    if state == "archived":
        return ProjectArchived("The project is archived.", project_id=project_id)
    return None


def why_project_is_not_written(role: ProjectRole | None) -> Problem | None:
    """Why somebody who reads a project's memories writes none; None who does."""
    return Forbidden("Viewers do not write to this project.") if role == "viewer" else None


def _places_of(facts: SessionFacts) -> tuple[Place, ...]:
    """The places that belong to the session in principle, in the order of the contract's table."""
    ids: dict[Scope, str | None] = {
        "global": "",
        "workstream": facts.workstream_id,
        "user": facts.user_id,
        "coordinator": facts.user_id,
        "project": facts.project_id,
    }
    return tuple(Place(scope, found) for scope in SCOPES_OF[facts.kind] if (found := ids[scope]) is not None)


def _why_not_written(facts: SessionFacts, scope: Scope) -> Problem | None:
    """Why a scope that the session reads is not written by it; the role goes before the session."""
    if scope == "global" and (problem := _why_global_is_not_written(facts.org_role, facts.global_write)):
        return problem
    if scope == "project" and (problem := why_project_is_not_written(facts.project_role)):
        return problem
    return ReadOnlySession("The session is read-only.") if facts.read_only else None


def _why_global_is_not_written(role: OrgRole, policy: GlobalWrite) -> Problem | None:
    if policy == "admin" and role not in ADMINISTRATORS:
        return Forbidden("Only owners and admins write global memories here.")
    return None


def _without(places: tuple[Place, ...], unwritable: Mapping[Scope, Problem]) -> tuple[Place, ...]:
    return tuple(place for place in places if place.scope not in unwritable)
