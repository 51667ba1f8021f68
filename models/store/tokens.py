"""Tokens: credentials whose secret is shown once and kept as a hash (tenancy.md)."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import psycopg
from sqlalchemy import Connection, text

from models.errors import Forbidden, NotFound
from models.identifiers import OrganizationId, TokenId, UserId, new_token_id
from models.rules.roles import GlobalWrite, OrgRole, Permission, in_order
from models.store.access import ADMINISTRATORS
from models.store.audit import record_audit
from models.store.transaction import Transaction

RESERVED: frozenset[Permission] = frozenset({"admin.memories", "service"})
"""Granted by owners and admins only."""

SECRET_PREFIX = "cnr_"  # noqa: S105  (how a secret begins, so that scanners find leaked ones)
_SECRET_BYTES = 32
_TOKEN_PREFIX = "tok_"  # noqa: S105  (how an id begins)
_ID_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token, without its secret."""

    token_id: TokenId
    user_id: UserId
    name: str
    permissions: list[Permission]
    expires_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token and the only copy of its secret."""

    token: TokenRow
    secret: str


@dataclass(frozen=True, slots=True)
class Credential:
    """Whom a live token speaks for, with the role as it is now."""

    org_id: OrganizationId
    user_id: UserId
    role: OrgRole
    token_id: TokenId
    permissions: frozenset[Permission]
    global_write: GlobalWrite


CREDENTIAL_WITH = """
    select t.org_id, t.user_id, u.role, t.token_id, t.permissions, o.global_write, t.secret_hash
    from tokens t
    join users u on u.org_id = t.org_id and u.user_id = t.user_id
    join organizations o on o.org_id = t.org_id
    where t.token_id = %(token_id)s and (t.expires_at is null or t.expires_at > clock_timestamp())
"""
CREDENTIAL = text(CREDENTIAL_WITH.replace("%(token_id)s", ":token_id"))


def find_credential(connection: Connection, secret: str) -> Credential | None:
    """Whom the secret speaks for; None when it is unknown, expired or revoked. Compared in constant time."""
    row = connection.execute(CREDENTIAL, {"token_id": _token_id_in(secret)}).one_or_none()
    return _credential(secret, None if row is None else tuple(row))


def find_credential_with(connection: psycopg.Connection, secret: str) -> Credential | None:
    """The same, on a connection of psycopg's own."""
    return _credential(secret, connection.execute(CREDENTIAL_WITH, {"token_id": _token_id_in(secret)}).fetchone())


def issue_token(
    tx: Transaction, *, user_id: UserId, name: str, permissions: list[Permission], expires_at: datetime | None
) -> IssuedToken:
    """Make a token for a user of the organization.

    Raises:
        NotFound: the organization has no such user.
    """
    owner = text("select 1 from users where org_id = :org_id and user_id = :user_id for key share")
    if tx.connection.execute(owner, {"org_id": tx.org_id, "user_id": user_id}).one_or_none() is None:
        raise NotFound("There is no such user.")
    token_id = new_token_id()
    secret = f"{SECRET_PREFIX}{token_id.removeprefix(_TOKEN_PREFIX)}_{secrets.token_hex(_SECRET_BYTES)}"
    token = TokenRow(token_id, user_id, name, in_order(permissions), expires_at, tx.now)
    tx.connection.execute(
        text("""
            insert into tokens (org_id, token_id, user_id, name, permissions, secret_hash, expires_at, created_at)
            values (:org_id, :token_id, :user_id, :name, :permissions, :secret_hash, :expires_at, :now)
        """),
        {
            "org_id": tx.org_id,
            "token_id": token_id,
            "user_id": user_id,
            "name": name,
            "permissions": list(token.permissions),
            "secret_hash": _hash(secret),
            "expires_at": expires_at,
            "now": tx.now,
        },
    )
    record_audit(
        tx, "token.create", "token", token_id, detail={"user_id": user_id, "permissions": [*token.permissions]}
    )
    return IssuedToken(token, secret)


def require_grantable(permissions: list[Permission], *, held: frozenset[Permission], role: OrgRole) -> None:
    """Refuse permissions wider than the creator's, and reserved ones from anybody but owners and admins.

    Raises:
        Forbidden: with the permissions in question.
    """
    wider = [permission for permission in permissions if permission not in held]
    if wider:
        raise Forbidden("A token grants no more than its creator's.", permissions=[*wider])
    reserved = [permission for permission in permissions if permission in RESERVED]
    if reserved and role not in ADMINISTRATORS:
        raise Forbidden("Only owners and admins grant these permissions.", permissions=[*reserved])


LIST = text("""
    select token_id, user_id, name, permissions, expires_at, created_at from tokens
    where org_id = :org_id and user_id = :user_id and token_id < coalesce(:before, '~')
    order by token_id desc limit :limit
""")


def list_tokens(
    connection: Connection, org_id: OrganizationId, user_id: UserId, *, before: str | None, limit: int
) -> list[TokenRow]:
    """A user's tokens, newest first, those older than `before`."""
    names = {"org_id": org_id, "user_id": user_id, "before": before, "limit": limit}
    return [TokenRow(*row) for row in connection.execute(LIST, names)]


def token_owner(connection: Connection, org_id: OrganizationId, token_id: TokenId) -> UserId:
    """Whose token it is.

    Raises:
        NotFound: the organization has no such token.
    """
    statement = text("select user_id from tokens where org_id = :org_id and token_id = :token_id")
    owner = connection.execute(statement, {"org_id": org_id, "token_id": token_id}).scalar_one_or_none()
    if owner is None:
        raise NotFound("There is no such token.")
    return UserId(cast("str", owner))


def revoke_token(tx: Transaction, token_id: TokenId) -> None:
    """Take a token away, for good.

    Raises:
        NotFound: the organization has no such token, or not any more.
    """
    statement = text("delete from tokens where org_id = :org_id and token_id = :token_id returning user_id")
    owner = tx.connection.execute(statement, {"org_id": tx.org_id, "token_id": token_id}).scalar_one_or_none()
    if owner is None:
        raise NotFound("There is no such token.")
    record_audit(tx, "token.revoke", "token", token_id, detail={"user_id": owner})


def _credential(secret: str, row: tuple[Any, ...] | None) -> Credential | None:
    *fields, stored = row or (b"",)
    if not hmac.compare_digest(stored, _hash(secret)) or row is None:
        return None
    org_id, user_id, role, token_id, permissions, global_write = fields
    return Credential(org_id, user_id, role, token_id, frozenset(permissions), global_write)


def _token_id_in(secret: str) -> str:
    return _TOKEN_PREFIX + secret.removeprefix(SECRET_PREFIX)[:_ID_CHARACTERS]


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
