"""`canonry token`: whoever has the database gives, shows and takes away credentials, with or without a server."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, Engine

from canonry.database import open_database
from canonry.failures import CommandFailed
from models.errors import NotFound
from models.rules.names import MAX_NAME_CHARACTERS, broken_name_rule, tidy_name
from models.rules.roles import PERMISSIONS, Permission, in_order
from models.settings import Settings
from models.store.installation import Account, all_tokens, find_account, find_token, first_owners
from models.store.tokens import issue_token, revoke_token
from models.store.transaction import transaction

REQUEST_ID = "canonry-token"

LONGEST_DAYS = 36_500
"""A century: longer is no expiry, and the calendar of the database has an end."""


def create(settings: Settings, *, name: str, user_id: str | None, permissions: str, days: int | None) -> None:
    """Make a token for a user, by default the owner, and print its secret, the only copy, alone on standard output.

    The name is 1-200 characters on one line, by the rule of the API; the days are 1-36500, None is for ever.

    Raises:
        CommandFailed: the name, the days or a permission is not accepted, or it is not clear whose token it is to be.
    """
    tidy = _name(name)
    wanted = _permissions(permissions)
    expires_at = None if days is None else _expiry(days)
    with open_database(settings) as engine:
        account = _account(engine, user_id)
        with transaction(engine, org_id=account.org_id, actor_id=account.user_id, request_id=REQUEST_ID) as tx:
            issued = issue_token(tx, user_id=account.user_id, name=tidy, permissions=wanted, expires_at=expires_at)
    print(f"{issued.token.token_id} for {account.name} of {account.organization_name}; shown once:", file=sys.stderr)
    print(issued.secret)


def show(settings: Settings) -> None:
    """Print every token of every organization, without secrets."""
    with open_database(settings) as engine, engine.connect() as connection:
        tokens = all_tokens(connection)
    rows = [
        (
            token.token_id,
            token.account.organization_name,
            token.account.name,
            token.name,
            ",".join(token.permissions),
            token.expires_at.isoformat(timespec="seconds") if token.expires_at else "never",
        )
        for token in tokens
    ]
    _print_table([("TOKEN", "ORGANIZATION", "USER", "NAME", "PERMISSIONS", "EXPIRES"), *rows])


def revoke(settings: Settings, *, token_id: str) -> None:
    """Take a token away, for good.

    Raises:
        CommandFailed: there is no such token.
    """
    with open_database(settings) as engine:
        with engine.connect() as connection:
            found = find_token(connection, token_id)
        if found is None:
            raise CommandFailed(f"There is no token {token_id}.")
        owner = found.account
        try:
            with transaction(engine, org_id=owner.org_id, actor_id=owner.user_id, request_id=REQUEST_ID) as tx:
                revoke_token(tx, found.token_id)
        except NotFound as error:
            raise CommandFailed(f"There is no token {token_id} any more.") from error
    print(f"{token_id} is revoked.", file=sys.stderr)


def _name(raw: str) -> str:
    name = tidy_name(raw)
    if broken_name_rule(name):
        raise CommandFailed(
            f"--name: accepted are 1 to {MAX_NAME_CHARACTERS} characters on one line, without control characters."
        )
    return name


def _expiry(days: int) -> datetime:
    if not 1 <= days <= LONGEST_DAYS:
        raise CommandFailed(f"--days {days}: accepted is a whole number from 1 to {LONGEST_DAYS}.")
    return datetime.now(UTC) + timedelta(days=days)


def _permissions(text: str) -> list[Permission]:
    words = [word.strip() for word in text.split(",")]
    wanted = [permission for permission in PERMISSIONS if permission in words]
    if len(wanted) != len(set(words)):
        raise CommandFailed(f"--permissions {text}: accepted are {', '.join(PERMISSIONS)}, separated by commas.")
    return in_order(wanted)


def _account(engine: Engine, user_id: str | None) -> Account:
    with engine.connect() as connection:
        return _owner(connection) if user_id is None else _user(connection, user_id)


def _owner(connection: Connection) -> Account:
    owners = first_owners(connection)
    if not owners:
        raise CommandFailed("There is no organization yet; `canonry up` makes the first.")
    if len(owners) > 1:
        known = ", ".join(f"{owner.user_id} of {owner.organization_name}" for owner in owners)
        raise CommandFailed(f"There are several organizations; say whose token it is by --user, such as {known}.")
    return owners[0]


def _user(connection: Connection, user_id: str) -> Account:
    account = find_account(connection, user_id)
    if account is None:
        raise CommandFailed(f"There is no user {user_id}.")
    return account


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
