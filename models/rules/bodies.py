"""Texts of a Memory: normalized when accepted, so that equal documents have equal hashes."""

from models.errors import OperationInvalid

MAX_BODY_BYTES = 262_144
MAX_DESCRIPTION_CHARACTERS = 1_024
MAX_TITLE_CHARACTERS = 200

BODY_FIELD = "content.content"
DESCRIPTION_FIELD = "content.description"

_BOM = "\ufeff"


def accept_body(raw: str) -> str:
    """Return the body with LF line ends, no BOM and exactly one final newline; nothing else is changed.

    Limits: 262,144 bytes of UTF-8 after normalization; not blank.

    Raises:
        OperationInvalid: with `field` and the first broken `rule`.
    """
    require_storable(raw, BODY_FIELD)
    body = normalize_body(raw)
    if not body.strip():
        raise OperationInvalid("A body is not blank.", field=BODY_FIELD, rule="blank")
    if is_body_too_long(raw):
        raise OperationInvalid(
            f"A body has at most {MAX_BODY_BYTES} bytes of UTF-8.", field=BODY_FIELD, rule="too_long"
        )
    return body


def is_body_too_long(raw: str) -> bool:
    """Whether the body exceeds its limit once normalized, whatever else is wrong with it."""
    return len(normalize_body(raw).encode("utf-8", "surrogatepass")) > MAX_BODY_BYTES


def accept_description(raw: str) -> str:
    """Return the description trimmed of white space at both ends; it may be empty.

    Limits: one line of at most 1,024 characters after trimming.

    Raises:
        OperationInvalid: with `field` and the first broken `rule`.
    """
    require_storable(raw, DESCRIPTION_FIELD)
    description = raw.strip()
    if len(description.splitlines()) > 1:
        raise OperationInvalid("A description is one line.", field=DESCRIPTION_FIELD, rule="line_break")
    if is_description_too_long(raw):
        raise OperationInvalid(
            f"A description has at most {MAX_DESCRIPTION_CHARACTERS} characters.",
            field=DESCRIPTION_FIELD,
            rule="too_long",
        )
    return description


def is_description_too_long(raw: str) -> bool:
    """Whether the description exceeds its limit once trimmed, whatever else is wrong with it."""
    return len(raw.strip()) > MAX_DESCRIPTION_CHARACTERS


def normalize_body(raw: str) -> str:
    """The body with LF line ends, no BOM and exactly one final newline, accepted or not."""
    return raw.lstrip(_BOM).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n"


def require_storable(raw: str, field: str) -> None:
    """Refuse a text that PostgreSQL and UTF-8 cannot hold.

    Raises:
        OperationInvalid: it holds NUL or a lone surrogate.
    """
    if "\0" in raw:
        raise OperationInvalid("A text holds no NUL.", field=field, rule="nul")
    try:
        raw.encode()
    except UnicodeEncodeError:
        raise OperationInvalid(
            "A text is valid Unicode, without lone surrogates.", field=field, rule="lone_surrogate"
        ) from None
