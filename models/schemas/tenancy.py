"""Organizations, people, tokens, projects and members over HTTP (tenancy.md)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from models.rules.path_owners import broken_glob_rule
from models.rules.paths import path_key
from models.rules.roles import GlobalWrite, OrgRole, Permission, ProjectRole, in_order
from models.schemas.common import (
    Email,
    Id,
    Input,
    Instant,
    InstantInput,
    ListQuery,
    Name,
    Optional,
    Output,
    Slug,
    Text,
    broken,
)

MAX_PROJECT_DESCRIPTION = 2_000
MAX_APPROVALS = 100
MAX_OWNERS = 100  # globs, and users of one
MAX_TIMER_S = 10 * 366 * 24 * 3_600

Description = Annotated[Text, Field(max_length=MAX_PROJECT_DESCRIPTION)]


def _distinct(permissions: list[Permission]) -> list[Permission]:
    if len(set(permissions)) != len(permissions):
        raise broken("repeated")
    return in_order(permissions)


Permissions = Annotated[list[Permission], AfterValidator(_distinct), Field(min_length=1)]
"""What a token permits; each independent of the others."""


class OwnerInput(Input):
    """The first user of a new organization."""

    name: Name
    email: Optional[Email] = None


class CreateOrganization(Input):
    """A new organization with its owner."""

    name: Name
    owner: OwnerInput


def _glob(raw: str) -> str:
    if rule := broken_glob_rule(raw):
        raise broken(rule)
    return raw


def _distinct_users(users: list[str]) -> list[str]:
    if len(set(users)) != len(users):
        raise broken("repeated")
    return users


Glob = Annotated[Text, AfterValidator(_glob)]
"""Paths: `*` stays within a segment, `**` crosses, `**/` may be no folder; matched on path keys."""

Seconds = Annotated[int, Field(ge=1, le=MAX_TIMER_S)]
"""A time in seconds, at most ten years."""


class PathOwnersInput(Input):
    """Users, one of whom has to approve what touches a path of the glob."""

    glob: Glob
    users: Annotated[list[Id], Field(min_length=1, max_length=MAX_OWNERS), AfterValidator(_distinct_users)]


def _distinct_globs(entries: list[PathOwnersInput]) -> list[PathOwnersInput]:
    if len({path_key(entry.glob) for entry in entries}) != len(entries):
        raise broken("repeated")
    return entries


PathOwnersInputs = Annotated[list[PathOwnersInput], Field(max_length=MAX_OWNERS), AfterValidator(_distinct_globs)]
"""Path owners, each glob once."""


class UpdateOrganization(Input):
    """What may be changed of an organization: its name and its policies; what is left out stays."""

    name: Optional[Name] = None
    required_approvals: Optional[Annotated[int, Field(ge=0, le=MAX_APPROVALS)]] = None
    allow_self_approval: Optional[bool] = None
    path_owners: Optional[PathOwnersInputs] = None
    review_reminder_after: Seconds | None = Field(default=None, description="seconds; null: no reminder")
    review_expires_after: Seconds | None = Field(default=None, description="seconds; null: never")
    global_write: Optional[GlobalWrite] = None


class OrganizationSummary(Output):
    """An organization by its name."""

    organization_id: str
    name: str


class PathOwners(Output):
    """Whose approval the paths of a glob need."""

    glob: str
    users: list[str]


class OrganizationView(Output):
    """An organization and its policies, flat."""

    organization_id: str
    name: str
    required_approvals: int
    allow_self_approval: bool
    path_owners: list[PathOwners]
    review_reminder_after: int | None = Field(description="seconds")
    review_expires_after: int | None = Field(description="seconds")
    global_write: GlobalWrite
    version: int
    created_at: Instant
    updated_at: Instant


class UserSummary(Output):
    """A user without the role."""

    user_id: str
    name: str
    email: str | None


class CreateUser(Input):
    """A new user."""

    name: Name
    email: Optional[Email] = None
    role: OrgRole


class UpdateUser(Input):
    """What may be changed of a user."""

    name: Optional[Name] = None
    email: Optional[Email] = None
    role: Optional[OrgRole] = None


class UserView(Output):
    """A user of the organization."""

    user_id: str
    name: str
    email: str | None
    role: OrgRole
    version: int
    created_at: Instant
    updated_at: Instant


class CreateToken(Input):
    """A new token, by default for whoever asks."""

    user_id: Optional[Id] = None
    name: Name
    permissions: Permissions
    expires_at: Optional[InstantInput] = None


class TokenView(Output):
    """A token, without its secret."""

    token_id: str
    user_id: str
    name: str
    permissions: list[Permission]
    expires_at: Instant | None
    created_at: Instant


class IssuedTokenView(TokenView):
    """A new token; the secret is shown this once."""

    secret: str


class TokensQuery(ListQuery):
    """Whose tokens; by default one's own."""

    user_id: Optional[Id] = None


class OwnerToken(Output):
    """The credential of a new organization's owner; the secret is shown this once."""

    token_id: str
    secret: str
    permissions: list[Permission]


class NewOrganizationView(Output):
    """A new organization, its owner, and what the owner begins with."""

    organization: OrganizationSummary
    owner: UserView
    token: OwnerToken


class Membership(Output):
    """A project one is a member of."""

    project_id: str
    name: str
    role: ProjectRole


class MeView(Output):
    """Who asks, and what the token permits."""

    user: UserSummary
    organization: OrganizationSummary
    role: OrgRole
    projects: list[Membership]
    permissions: list[Permission]


class CreateProject(Input):
    """A new project; the slug is made from the name when left out."""

    name: Name
    slug: Optional[Slug] = None
    description: Description = ""


class UpdateProject(Input):
    """What may be changed of a project."""

    name: Optional[Name] = None
    slug: Optional[Slug] = None
    description: Optional[Description] = None
    state: Optional[Literal["active", "archived"]] = None


class ProjectView(Output):
    """A project."""

    project_id: str
    name: str
    slug: str
    description: str
    state: Literal["active", "archived"]
    version: int
    created_at: Instant
    updated_at: Instant


class AddMember(Input):
    """A user who becomes a member of the project."""

    user_id: Id
    role: ProjectRole


class UpdateMember(Input):
    """Another role in the project."""

    role: ProjectRole


class MemberView(Output):
    """A member of a project."""

    project_id: str
    user_id: str
    name: str
    role: ProjectRole
    created_at: Instant
    updated_at: Instant


class AuditQuery(ListQuery):
    """Which audit events; `since` is included, `until` is not."""

    actor: Optional[Id] = None
    action: Optional[Id] = None
    resource_id: Optional[Id] = None
    since: Optional[InstantInput] = None
    until: Optional[InstantInput] = None


class AuditEventView(Output):
    """Who did what to which resource; hashes and ids, never contents."""

    event_id: str
    at: Instant
    actor: str
    action: str
    resource_type: str
    resource_id: str
    session_id: str | None
    request_id: str
    before_hash: str | None
    after_hash: str | None
    detail: dict[str, JsonValue]
