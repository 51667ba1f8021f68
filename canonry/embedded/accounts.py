"""Which account the servers run under: never root."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from canonry.failures import StartFailed

SERVER_ACCOUNTS = ("postgres", "nobody")
"""Looked for in this order when started by root: a bare numeric uid will not do, initdb wants a name."""


@dataclass(frozen=True)
class Account:
    """An account of the operating system; `dropped` when root gives up its rights for it."""

    name: str
    uid: int
    gid: int
    dropped: bool


def is_root() -> bool:
    """Whether this process has root's rights."""
    return os.geteuid() == 0


def server_account(cluster: Path | None = None) -> Account:
    """The account for the servers: ours, or as root the owner of an existing `cluster`, `postgres`, or `nobody`.

    Raises:
        StartFailed: root has no account to drop to.
    """
    if not is_root():
        return Account(current_user(), os.geteuid(), os.getegid(), dropped=False)
    owner = _owner(cluster)
    if owner is not None:
        return owner
    for name in SERVER_ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid, dropped=True)
    raise StartFailed(
        "PostgreSQL does not run as root, and there is no account `postgres` or `nobody` to run it under."
    )


def current_user() -> str:
    """The name of the account this process runs under.

    Raises:
        StartFailed: the uid has no name (a container started with a bare numeric user).
    """
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise StartFailed(
            f"The user id {os.geteuid()} has no name in /etc/passwd, which PostgreSQL needs;"
            " add one, or set CANONRY_DATABASE_URL."
        ) from None


def user_name(uid: int) -> str:
    """The account's name, or its number where it has none."""
    try:
        return f"the account {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user id {uid}"


def can_reach(account: Account, path: Path) -> bool:
    """Whether the account may pass every folder above the real `path` (by mode bits: access lists are not read)."""
    return all(_may(account, folder, stat.S_IXOTH) for folder in path.resolve().parents)


def can_read(account: Account, path: Path) -> bool:
    """Whether the account may reach and read `path`, and pass or run it when it is a folder or a program."""
    needed = stat.S_IROTH
    if path.is_dir() or path.stat().st_mode & stat.S_IXUSR:
        needed |= stat.S_IXOTH
    return can_reach(account, path) and _may(account, path, needed)


def give_to(account: Account, path: Path) -> None:
    """Make the account own `path`; nothing happens when it is ours already."""
    if account.dropped:
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _owner(cluster: Path | None) -> Account | None:
    if cluster is None or not cluster.exists():
        return None
    found = cluster.stat()
    if found.st_uid == 0:
        return None
    try:
        name = pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        raise StartFailed(
            f"{cluster} belongs to the unknown user id {found.st_uid}; give it to an account first."
        ) from None
    return Account(name, found.st_uid, found.st_gid, dropped=True)


def _may(account: Account, path: Path, others_bits: int) -> bool:
    """Whether the bits, written as those of others, hold for the account in the class it belongs to."""
    found = path.stat()
    if found.st_uid == account.uid:
        needed = others_bits << 6
    elif found.st_gid == account.gid:
        needed = others_bits << 3
    else:
        needed = others_bits
    return found.st_mode & needed == needed
