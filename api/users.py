"""People of the organization; owners and admins (tenancy.md)."""

from activities.closing import close_user_work
from api.answers import Answer, answer, nothing
from api.calls import Read, Write
from api.headers import require_match
from api.paging import Paging
from api.routing import Routes
from models.errors import AlreadyExists, LastOwner
from models.identifiers import UserId
from models.schemas.common import ListQuery, NoParameters, Page
from models.schemas.tenancy import CreateUser, UpdateUser, UserView
from models.store.idempotency import forget_keys
from models.store.locks import lock_coordination
from models.store.organizations import forget_path_owner
from models.store.users import UserRow, add_user, change_user, read_user, remove_user
from models.store.users import list_users as users_of

routes = Routes("users")


@routes.read("/admin/users", answers=Page[UserView], query=ListQuery)
def list_users(call: Read) -> Answer:
    """The users of the organization, newest first."""
    call.require_administrator()
    paging = Paging(call.query(ListQuery), "users", call.principal.org_id)
    rows = users_of(call.connection, call.principal.org_id, before=paging.after_id, limit=paging.fetch)
    page = paging.page(Page[UserView], rows, show=UserView.model_validate, position=lambda row: [row.user_id])
    return answer(page)


@routes.write("POST", "/admin/users", accepts=CreateUser, answers=UserView, etag=True, problems=(AlreadyExists,))
def create_user(call: Write) -> Answer:
    """Add a user."""
    lock_coordination(call.connection, call.principal.org_id)
    call.require_administrator()
    body = call.body(CreateUser)
    user = add_user(call.tx, name=body.name, email=body.email, role=body.role)
    return _answer(user, status=201)


@routes.read("/admin/users/{user_id}", answers=UserView, etag=True)
def get_user(call: Read, user_id: str) -> Answer:
    """A user."""
    user = read_user(call.connection, call.principal.org_id, UserId(user_id))
    call.require_administrator()
    call.query(NoParameters)
    return _answer(user)


@routes.write(
    "PATCH",
    "/admin/users/{user_id}",
    accepts=UpdateUser,
    answers=UserView,
    if_match_optional=True,
    etag=True,
    problems=(AlreadyExists, LastOwner),
)
def update_user(call: Write, user_id: str) -> Answer:
    """Change name, email or role; the last owner keeps the role. `If-Match` may be left out."""
    lock_coordination(call.connection, call.principal.org_id)
    user = read_user(call.connection, call.principal.org_id, UserId(user_id))
    call.require_administrator()
    body = call.body(UpdateUser)
    require_match("user", call.if_match_version_if_given(), user.version)
    changed = change_user(
        call.tx,
        user,
        name=body.name or user.name,
        email=body.email or user.email,
        role=body.role or user.role,
    )
    return _answer(changed)


@routes.write("DELETE", "/admin/users/{user_id}", if_match_optional=True, problems=(LastOwner,))
def delete_user(call: Write, user_id: str) -> Answer:
    """Remove a user with tokens, memberships, sessions, workstreams and memories; open Drafts are discarded."""
    lock_coordination(call.connection, call.principal.org_id)
    user = read_user(call.connection, call.principal.org_id, UserId(user_id))
    call.require_administrator()
    call.no_body()
    require_match("user", call.if_match_version_if_given(), user.version)
    close_user_work(call.tx, user.user_id)
    forget_path_owner(call.tx, user.user_id)
    remove_user(call.tx, user)
    forget_keys(call.tx, user.user_id)
    call.wakes_delivery = True
    return nothing()


def _answer(user: UserRow, *, status: int = 200) -> Answer:
    return answer(UserView.model_validate(user), status=status, version=user.version)
