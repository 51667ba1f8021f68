"""Positions in lists that are not sorted by one id; a forged cursor that fits its list is still malformed."""

from datetime import datetime

from api.paging import Paging
from models.rules.cursors import read_moment, read_number
from models.rules.hashes import instant


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
    return read_moment(at), resource_id


def after_version(paging: Paging) -> int | None:
    """Where a list by version goes on; None at its beginning.

    Raises:
        InvalidRequest: the cursor is none of ours.
    """
    return None if paging.after_id is None else read_number(paging.after_id)
