"""Tokens: one's own, or others' for owners and admins (tenancy.md)."""

from api.answers import Answer, answer, nothing
from api.calls import Read, Write
from api.mentions import Mentions
from api.paging import Paging
from api.routing import Routes
from models.errors import Forbidden, IdempotencyKeyUsed, InvalidRequest, NotFound
from models.identifiers import TokenId, UserId
from models.rules.roles import PERMISSIONS
from models.schemas.common import Page
from models.schemas.tenancy import CreateToken, IssuedTokenView, TokensQuery, TokenView
from models.store.access import ADMINISTRATORS
from models.store.tokens import issue_token, require_grantable, token_owner
from models.store.tokens import list_tokens as tokens_of
from models.store.tokens import revoke_token as revoke
from models.store.users import read_user

routes = Routes("tokens")


@routes.read("/admin/tokens", answers=Page[TokenView], query=TokensQuery, problems=(NotFound,))
def list_tokens(call: Read) -> Answer:
    """The tokens of a user, newest first: one's own, or with `user_id` another's for owners and admins."""
    query = call.query(TokensQuery)
    who = call.principal
    user_id = UserId(query.user_id or who.user_id)
    read_user(call.connection, who.org_id, user_id)
    _require_self_or_administrator(call, user_id)
    paging = Paging(query, "tokens", who.org_id, user_id)
    rows = tokens_of(call.connection, who.org_id, user_id, before=paging.after_id, limit=paging.fetch)
    page = paging.page(Page[TokenView], rows, show=TokenView.model_validate, position=lambda row: [row.token_id])
    return answer(page)


@routes.write(
    "POST",
    "/admin/tokens",
    accepts=CreateToken,
    answers=IssuedTokenView,
    problems=(NotFound, IdempotencyKeyUsed),
)
def create_token(call: Write) -> Answer:
    """Make a token; it permits no more than the one that asks, and its secret is shown once."""
    named = Mentions.of(call)
    who = call.principal
    mentioned = UserId(named.id("user_id") or who.user_id)
    read_user(call.connection, who.org_id, mentioned)
    _require_self_or_administrator(call, mentioned)
    wanted = named.ids("permissions")
    require_grantable(
        [permission for permission in PERMISSIONS if permission in wanted], held=who.permissions, role=who.role
    )
    body = call.body(CreateToken)
    if body.expires_at is not None and body.expires_at <= call.tx.now:
        raise InvalidRequest.of("expires_at", "past")
    user_id = UserId(body.user_id or who.user_id)
    issued = issue_token(
        call.tx, user_id=user_id, name=body.name, permissions=body.permissions, expires_at=body.expires_at
    )
    shown = TokenView.model_validate(issued.token)
    return answer(IssuedTokenView(**dict(shown), secret=issued.secret), status=201, secret=True)


@routes.write("DELETE", "/admin/tokens/{token_id}")
def revoke_token(call: Write, token_id: str) -> Answer:
    """Revoke a token at once."""
    owner = token_owner(call.connection, call.principal.org_id, TokenId(token_id))
    if owner != call.principal.user_id and call.principal.role not in ADMINISTRATORS:
        raise NotFound("There is no such token.")
    call.no_body()
    revoke(call.tx, TokenId(token_id))
    return nothing()


def _require_self_or_administrator(call: Read, user_id: UserId) -> None:
    if user_id != call.principal.user_id and call.principal.role not in ADMINISTRATORS:
        raise Forbidden("Only owners and admins have to do with others' tokens.")
