"""Positions in lists that are not sorted by one id; a forged cursor that fits its list is still malformed."""

from datetime import datetime

from api.paging import Paging
from models.errors import InvalidRequest
from models.rules.hashes import instant

MAX_DIGITS = 9


def moment_of(at: datetime, resource_id: str) -> tuple[str, str]:
    """The position of a row in a list by time, then id."""
    return instant(at), resource_id


def after_moment(paging: Paging) -> tuple[datetime, str] | None:
    """Where a list by time goes on; None at its beginning.

    Raises:
        InvalidRequest: the cursor is none of ours.
    """
    if paging.after is None:
        return None
    at, resource_id = paging.after
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        raise InvalidRequest.of("cursor", "malformed") from None
    if moment.tzinfo is None:
        raise InvalidRequest.of("cursor", "malformed")
    return moment, resource_id


def after_version(paging: Paging) -> int | None:
    """Where a list by version goes on; None at its beginning.

    Raises:
        InvalidRequest: the cursor is none of ours.
    """
    version = paging.after_id
    if version is None:
        return None
    if not (version.isascii() and version.isdecimal() and len(version) <= MAX_DIGITS):
        raise InvalidRequest.of("cursor", "malformed")
    return int(version)
