"""Members of a project; its admins, owners and admins (tenancy.md)."""

from api.answers import Answer, answer, nothing
from api.calls import Read, Write
from api.lookups import find_project
from api.mentions import Mentions
from api.paging import Paging
from api.routing import Routes
from models.errors import AlreadyExists, ProjectArchived
from models.identifiers import UserId
from models.schemas.common import ListQuery, Page
from models.schemas.tenancy import AddMember, MemberView, UpdateMember
from models.store.access import ProjectAccess
from models.store.locks import lock_coordination
from models.store.members import MemberRow, change_member, read_member
from models.store.members import add_member as add
from models.store.members import list_members as members_of
from models.store.members import remove_member as remove
from models.store.users import read_user

routes = Routes("members")


@routes.read("/projects/{project_id}/members", answers=Page[MemberView], query=ListQuery)
def list_members(call: Read, project_id: str) -> Answer:
    """The members of a project, by name."""
    access = find_project(call, project_id)
    access.require_manage()
    paging = Paging(call.query(ListQuery), "members", call.principal.org_id, project_id, parts=2)
    after = None if paging.after is None else (paging.after[0], paging.after[1])
    rows = members_of(call.connection, call.principal.org_id, access.project_id, after=after, limit=paging.fetch)
    page = paging.page(
        Page[MemberView], rows, show=MemberView.model_validate, position=lambda row: [row.name, row.user_id]
    )
    return answer(page)


@routes.write(
    "POST",
    "/projects/{project_id}/members",
    accepts=AddMember,
    answers=MemberView,
    problems=(ProjectArchived, AlreadyExists),
)
def add_member(call: Write, project_id: str) -> Answer:
    """Make a user of the organization a member."""
    access = _locked(call, project_id)
    user_id = Mentions.of(call).id("user_id")
    if user_id is not None:
        read_user(call.connection, call.principal.org_id, UserId(user_id))
    access.require_manage()
    body = call.body(AddMember)
    access.require_active()
    member = add(call.tx, access.project_id, UserId(body.user_id), body.role)
    return answer(MemberView.model_validate(member), status=201)


@routes.write(
    "PATCH",
    "/projects/{project_id}/members/{user_id}",
    accepts=UpdateMember,
    answers=MemberView,
    problems=(ProjectArchived,),
)
def update_member(call: Write, project_id: str, user_id: str) -> Answer:
    """Give a member another role."""
    access, member = _member(call, project_id, user_id)
    access.require_manage()
    body = call.body(UpdateMember)
    access.require_active()
    return answer(MemberView.model_validate(change_member(call.tx, member, body.role)))


@routes.write("DELETE", "/projects/{project_id}/members/{user_id}", problems=(ProjectArchived,))
def remove_member(call: Write, project_id: str, user_id: str) -> Answer:
    """End a membership."""
    access, member = _member(call, project_id, user_id)
    access.require_manage()
    call.no_body()
    access.require_active()
    remove(call.tx, member)
    return nothing()


def _locked(call: Write, project_id: str) -> ProjectAccess:
    lock_coordination(call.connection, call.principal.org_id)
    return find_project(call, project_id)


def _member(call: Write, project_id: str, user_id: str) -> tuple[ProjectAccess, MemberRow]:
    access = _locked(call, project_id)
    return access, read_member(call.connection, call.principal.org_id, access.project_id, UserId(user_id))
