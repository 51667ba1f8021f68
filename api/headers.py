"""Request headers with a meaning of their own: preconditions, preferences, idempotency keys, credentials."""

import re

from starlette.datastructures import Headers

from models.errors import InvalidRequest, PreconditionFailed, PreconditionRequired
from models.schemas.operations import MAX_WAIT_S

IF_MATCH = "If-Match"
IF_NONE_MATCH = "If-None-Match"
IDEMPOTENCY_KEY = "Idempotency-Key"
LAST_EVENT_ID = "Last-Event-ID"

_STRONG_ETAG = re.compile(r'"([\x21\x23-\x7e]+)"', re.ASCII)
_VERSION = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)
_VISIBLE = re.compile(r"[\x21-\x7e]{1,200}", re.ASCII)
_BEARER = re.compile(r"bearer +([\x21-\x7e]{1,500})", re.ASCII | re.IGNORECASE)
_NO_WEIGHT = re.compile(r"q\s*=\s*0(\.0{0,3})?", re.ASCII)
_WAIT = re.compile(r'wait\s*=\s*"?(\d{1,9})"?', re.ASCII | re.IGNORECASE)


def bearer_secret(headers: Headers) -> str | None:
    """The secret of the one `Authorization: Bearer …`, or None; of two credentials none counts."""
    given = headers.getlist("authorization")
    match = _BEARER.fullmatch(given[0].strip()) if len(given) == 1 else None
    return match[1] if match else None


def is_visible_ascii(text: str) -> bool:
    """Whether a request id or an idempotency key is acceptable: 1-200 visible ASCII characters."""
    return _VISIBLE.fullmatch(text) is not None


def broken_key_rule(headers: Headers) -> str | None:
    """The rule that the `Idempotency-Key` of a request breaks; None where it is acceptable or left out."""
    given = headers.getlist(IDEMPOTENCY_KEY)
    if len(given) > 1:
        return "repeated"
    return "visible_ascii" if given and not is_visible_ascii(given[0]) else None


def if_match(headers: Headers) -> str | None:
    """What `If-Match` names, without its quotes; None when the header is missing.

    Raises:
        InvalidRequest: weak, unquoted, `*`, a list, repeated, or otherwise not one strong entity tag.
    """
    given = headers.getlist(IF_MATCH)
    if not given:
        return None
    if len(given) > 1:
        raise InvalidRequest.of(IF_MATCH, "repeated")
    match = _STRONG_ETAG.fullmatch(given[0].strip())
    if match is None:
        raise InvalidRequest.of(IF_MATCH, "entity_tag")
    return match[1]


def if_match_version(headers: Headers) -> int | None:
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


def required_version(headers: Headers) -> int:
    """The version that `If-Match` has to name.

    Raises:
        InvalidRequest: it is not the entity tag of a version.
        PreconditionRequired: the header is missing.
    """
    version = if_match_version(headers)
    if version is None:
        raise PreconditionRequired("Name the version you read in If-Match.")
    return version


def require_match(named: str, expected: int | str | None, actual: int | str | None) -> None:
    """Refuse a stale `If-Match` for what is `named` in the refusal; None expects nothing.

    Raises:
        PreconditionFailed: with both.
    """
    if expected is not None and expected != actual:
        raise PreconditionFailed(f"The {named} has changed since you read it.", expected=expected, actual=actual)


def must_be_new(headers: Headers) -> bool:
    """Whether a write has `If-None-Match: *`: it then overwrites nothing.

    Raises:
        InvalidRequest: the header names anything else, or is repeated.
    """
    given = headers.getlist(IF_NONE_MATCH)
    if len(given) > 1:
        raise InvalidRequest.of(IF_NONE_MATCH, "repeated")
    if given and given[0].strip() != "*":
        raise InvalidRequest.of(IF_NONE_MATCH, "entity_tag")
    return bool(given)


def is_not_modified(headers: Headers, tag: str) -> bool:
    """Whether `If-None-Match` names what the client would be sent; weak tags count, as for any GET (RFC 9110)."""
    named = [part.strip().removeprefix("W/") for part in headers.get(IF_NONE_MATCH, "").split(",")]
    return "*" in named or f'"{tag}"' in named


def accepts_gzip(headers: Headers) -> bool:
    """Whether `Accept-Encoding` asks for gzip, or for anything (RFC 9110)."""
    weights: dict[str, bool] = {}
    for part in headers.get("accept-encoding", "").lower().split(","):
        coding, *parameters = (piece.strip() for piece in part.split(";"))
        weights[coding] = not any(_NO_WEIGHT.fullmatch(parameter) for parameter in parameters)
    return weights.get("gzip", weights.get("*", False))


def preferred_wait_s(headers: Headers) -> int | None:
    """The seconds of `Prefer: wait=N`, 30 at most; None for no preference or an invalid one, which is ignored."""
    for preference in headers.get("prefer", "").split(","):
        match = _WAIT.fullmatch(preference.partition(";")[0].strip())
        if match and int(match[1]) > 0:
            return min(int(match[1]), MAX_WAIT_S)
    return None
