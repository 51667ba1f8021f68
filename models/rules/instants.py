"""Times as they come in: RFC 3339, with their offset."""

import re
from datetime import UTC, datetime, timedelta

_RFC_3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:)(\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_LEAP = "60"


def read_instant(raw: str) -> datetime | None:
    """A time in UTC, cut to microseconds; a leap second is the beginning of the second after it. None for no time."""
    found = _RFC_3339.fullmatch(raw.upper())
    if found is None:
        return None
    minute, second, fraction, offset = found.groups()
    try:
        if second == _LEAP:
            return _after_leap_second(datetime.fromisoformat(f"{minute}59{offset}").astimezone(UTC))
        return datetime.fromisoformat(f"{minute}{second}{fraction or ''}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _after_leap_second(before: datetime) -> datetime | None:
    """The second after a minute's 60th, which only the last minute of a month in UTC may have."""
    after = before + timedelta(seconds=1)
    return after if (after.day, after.hour, after.minute) == (1, 0, 0) else None
