"""Request headers with a meaning of their own: preconditions, preferences, idempotency keys, credentials."""

import re
from collections.abc import Mapping

from models.errors import InvalidRequest, PreconditionFailed, PreconditionRequired
from models.schemas.operations import MAX_WAIT_S

IF_MATCH = "If-Match"
IF_NONE_MATCH = "If-None-Match"
IDEMPOTENCY_KEY = "Idempotency-Key"

_STRONG_ETAG = re.compile(r'"([\x21\x23-\x7e]+)"', re.ASCII)
_VERSION = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)
_VISIBLE = re.compile(r"[\x21-\x7e]{1,200}", re.ASCII)
_BEARER = re.compile(r"bearer +([\x21-\x7e]{1,500})", re.ASCII | re.IGNORECASE)
_WAIT = re.compile(r'wait\s*=\s*"?(\d{1,9})"?', re.ASCII | re.IGNORECASE)


def bearer_secret(headers: Mapping[str, str]) -> str | None:
    """The secret of `Authorization: Bearer …`, or None."""
    match = _BEARER.fullmatch(headers.get("authorization", "").strip())
    return match[1] if match else None


def is_visible_ascii(text: str) -> bool:
    """Whether a request id or an idempotency key is acceptable: 1-200 visible ASCII characters."""
    return _VISIBLE.fullmatch(text) is not None


def if_match(headers: Mapping[str, str]) -> str | None:
    """What `If-Match` names, without its quotes; None when the header is missing.

    Raises:
        InvalidRequest: weak, unquoted, `*`, a list, or otherwise not one strong entity tag.
    """
    raw = headers.get(IF_MATCH)
    if raw is None:
        return None
    match = _STRONG_ETAG.fullmatch(raw.strip())
    if match is None:
        raise InvalidRequest.of(IF_MATCH, "entity_tag")
    return match[1]


def if_match_version(headers: Mapping[str, str]) -> int | None:
    """The version that `If-Match` names; None when the header is missing.

    Raises:
        InvalidRequest: it is not the entity tag of a version.
    """
    tag = if_match(headers)
    if tag is None:
        return None
    if not _VERSION.fullmatch(tag):
        raise InvalidRequest.of(IF_MATCH, "entity_tag")
    return int(tag)


def required_version(headers: Mapping[str, str]) -> int:
    """The version that `If-Match` has to name.

    Raises:
        InvalidRequest: it is not the entity tag of a version.
        PreconditionRequired: the header is missing.
    """
    version = if_match_version(headers)
    if version is None:
        raise PreconditionRequired("Name the version you read in If-Match.")
    return version


def require_match(expected: int | str | None, actual: int | str | None) -> None:
    """Refuse a stale `If-Match`; None expects nothing.

    Raises:
        PreconditionFailed: with both.
    """
    if expected is not None and expected != actual:
        raise PreconditionFailed("It has changed since you read it.", expected=expected, actual=actual)


def is_not_modified(headers: Mapping[str, str], tag: str) -> bool:
    """Whether `If-None-Match` names what the client would be sent; weak tags count, as for any GET (RFC 9110)."""
    named = [part.strip().removeprefix("W/") for part in headers.get(IF_NONE_MATCH, "").split(",")]
    return "*" in named or f'"{tag}"' in named


def preferred_wait_s(headers: Mapping[str, str]) -> int | None:
    """The seconds of `Prefer: wait=N`, 30 at most; None for no preference or an invalid one, which is ignored."""
    for preference in headers.get("prefer", "").split(","):
        match = _WAIT.fullmatch(preference.partition(";")[0].strip())
        if match and int(match[1]) > 0:
            return min(int(match[1]), MAX_WAIT_S)
    return None
