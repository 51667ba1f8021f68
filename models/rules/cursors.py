"""Opaque cursors: a position in a list, which fits no other list."""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Sequence
from datetime import datetime

from models.errors import InvalidRequest

MAX_CURSOR_CHARACTERS = 2_000
_FINGERPRINT_CHARACTERS = 12
_NEVER_STORED = re.compile("[\0\ud800-\udfff]")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


def fingerprint_of(scope: Sequence[str | None]) -> str:
    """What a cursor says of its list: its name, the organization, the filters."""
    return hashlib.sha256(_packed(scope)).hexdigest()[:_FINGERPRINT_CHARACTERS]


def encode_cursor(fingerprint: str, position: Sequence[str]) -> str:
    """The cursor behind a position, the texts of a sort key."""
    return base64.urlsafe_b64encode(_packed([fingerprint, *position])).decode().rstrip("=")


def decode_cursor(cursor: str, fingerprint: str, *, parts: int) -> list[str]:
    """The position, of as many texts as the list's sort key has.

    Raises:
        InvalidRequest: it is no cursor, or one of another list.
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value = json.loads(base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        raise InvalidRequest.of("cursor", "malformed") from None
    if not isinstance(value, list) or not all(map(_is_storable, value)):
        raise InvalidRequest.of("cursor", "malformed")
    if len(value) != parts + 1 or value[0] != fingerprint:
        raise InvalidRequest.of("cursor", "foreign")
    return [str(part) for part in value[1:]]


def read_moment(part: str) -> datetime:
    """The moment in a position, as `models.rules.hashes.instant` writes it.

    Raises:
        InvalidRequest: the cursor is forged.
    """
    try:
        if _MOMENT.fullmatch(part):
            return datetime.fromisoformat(part)
    except ValueError:  # a thirteenth month
        pass
    raise InvalidRequest.of("cursor", "malformed")


def read_number(part: str) -> int:
    """The version or revision in a position.

    Raises:
        InvalidRequest: the cursor is forged.
    """
    if _NUMBER.fullmatch(part):
        return int(part)
    raise InvalidRequest.of("cursor", "malformed")


def _is_storable(part: object) -> bool:
    return isinstance(part, str) and _NEVER_STORED.search(part) is None


def _packed(texts: Sequence[str | None]) -> bytes:
    return json.dumps(list(texts), ensure_ascii=False, separators=(",", ":")).encode()
