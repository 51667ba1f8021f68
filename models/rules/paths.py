"""Paths of published Memory: what is accepted, and when two are the same place (publication.md §1)."""

import unicodedata
from typing import NoReturn

from models.errors import OperationInvalid

MAX_PATH_CHARACTERS = 512
MAX_SEGMENT_BYTES = 255

_MAX_DECOMPOSITION = 4  # no character has a longer canonical decomposition
_FORBIDDEN = frozenset('<>:"|?*')
_CATEGORY_RULES = {
    "Cc": "control_character",
    "Zl": "control_character",  # U+2028 and U+2029 break a line as a control character does
    "Zp": "control_character",
    "Cf": "format_character",  # zero-width and every bidirectional control
    "Cs": "lone_surrogate",
}
_DEVICE_DIGITS = "0123456789¹²³"
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in _DEVICE_DIGITS]
)


def accept_path(raw: str, *, field: str = "path") -> str:
    """Return the path in NFC, or refuse one that could not be written to every disk.

    Limits: 1-512 characters in all, 1-255 UTF-8 bytes a segment, both counted in NFC.

    Raises:
        OperationInvalid: with `field` and the first broken `rule`.
    """
    if rule := broken_length_rule(raw):
        _refuse(field, rule)
    path = unicodedata.normalize("NFC", raw)
    for character in path:
        _check_character(character, field)
    if path.startswith("/"):
        _refuse(field, "absolute")
    for segment in path.split("/"):
        _check_segment(segment, field)
    return path


def broken_length_rule(raw: str) -> str | None:
    """The first limit that a path breaks in NFC, whatever else is wrong with it, or None."""
    # Normalizing long runs of combining marks takes quadratic time, and what is this long cannot fit in NFC either.
    if len(raw) > MAX_PATH_CHARACTERS * _MAX_DECOMPOSITION:
        return "too_long"
    path = unicodedata.normalize("NFC", raw)
    if not path:
        return "empty"
    if len(path) > MAX_PATH_CHARACTERS:
        return "too_long"
    longest = max(len(segment.encode("utf-8", "surrogatepass")) for segment in path.split("/"))
    return "segment_too_long" if longest > MAX_SEGMENT_BYTES else None


def path_key(path: str) -> str:
    """The key two paths share when a disk may take them for one: NFC(casefold(NFD(path)))."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def ancestor_keys(key: str) -> tuple[str, ...]:
    """The keys of the folders a path key lies in, outermost first: `a/b/c` lies in `a` and `a/b`."""
    return tuple(key[:position] for position, character in enumerate(key) if character == "/")


def name_of(path: str) -> str:
    """The last segment: the Memory's name."""
    return path.rpartition("/")[2]


def _check_character(character: str, field: str) -> None:
    if character == "\\":
        _refuse(field, "backslash")
    if character in _FORBIDDEN:
        _refuse(field, "forbidden_character")
    if character == "\0":
        _refuse(field, "nul")
    if rule := _CATEGORY_RULES.get(unicodedata.category(character)):
        _refuse(field, rule)


def _check_segment(segment: str, field: str) -> None:
    if not segment:
        _refuse(field, "empty_segment")
    if segment in {".", ".."}:
        _refuse(field, "dot_segment")
    if _is_space(segment[0]) or _is_space(segment[-1]):
        _refuse(field, "segment_space")
    if segment.endswith("."):
        _refuse(field, "segment_trailing_dot")
    if _is_device(segment):
        _refuse(field, "reserved_name")


def _is_space(character: str) -> bool:
    return unicodedata.category(character) == "Zs"


def _is_device(segment: str) -> bool:
    # Windows looks at what stands before the first dot, without the spaces at its end.
    return segment.partition(".")[0].rstrip(" ").casefold() in _DEVICES


_SENTENCES = {
    "empty": "A path has at least one character.",
    "too_long": f"A path has at most {MAX_PATH_CHARACTERS} characters.",
    "backslash": "Path segments are separated by a slash; a backslash is not allowed.",
    "forbidden_character": 'A path holds none of < > : " | ? *.',
    "nul": "A path holds no NUL.",
    "control_character": "A path holds no control character and no line break.",
    "format_character": "A path holds no format or bidirectional character.",
    "lone_surrogate": "A path is valid Unicode, without lone surrogates.",
    "absolute": "A path is relative.",
    "empty_segment": "A path has no empty segment.",
    "dot_segment": "A path has no `.` or `..` segment.",
    "segment_too_long": f"A path segment has at most {MAX_SEGMENT_BYTES} bytes of UTF-8.",
    "segment_space": "A path segment neither begins nor ends with a space.",
    "segment_trailing_dot": "A path segment does not end with a dot.",
    "reserved_name": "A path segment is not a reserved device name, with or without an extension.",
}


def _refuse(field: str, rule: str) -> NoReturn:
    raise OperationInvalid(_SENTENCES[rule], field=field, rule=rule)
