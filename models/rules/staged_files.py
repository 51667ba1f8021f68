"""What of a file is staged for an import; what breaks a rule is reported and left out (publication.md §6)."""

import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256

from models.errors import OperationInvalid, TooLarge
from models.identifiers import MemoryId, is_importable_id
from models.rules.bodies import BODY_FIELD, accept_body, accept_description
from models.rules.hashes import body_of
from models.rules.paths import MAX_PATH_CHARACTERS, accept_path, broken_length_rule
from models.rules.states import Body

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_SHOWN_CHARACTERS = 400
_SHOWN_DIGITS = 12


@dataclass(frozen=True, slots=True)
class FileToStage:
    """A file at its path below the prefix; a reported one has neither text nor description."""

    path: str
    memory_id: MemoryId | None = None
    description: str | None = None
    content: str | None = None
    body: Body | None = None
    report_code: str | None = None
    report_detail: str | None = None


def accept_file(path: str, content: str, *, description: str | None, memory_id: str | None, prefix: str) -> FileToStage:
    """The file with its path and texts normalized, or the report of the first rule that it breaks.

    A reported file keeps the path and the id that it names, as far as they are any: nothing that it may stand for is
    deleted because it could not be read.
    """
    try:
        accepted_path = accept_path(path)
        accept_path(f"{prefix}/{path}" if prefix else path)
        text = accept_body(content)
        accepted_description = None if description is None else accept_description(description)
        identity = None if memory_id is None else _accept_id(memory_id)
    except OperationInvalid as problem:
        named = None if memory_id is None or not is_importable_id(memory_id) else MemoryId(memory_id)
        return FileToStage(_shown(path), memory_id=named, report_code=_code(problem), report_detail=problem.detail)
    return FileToStage(accepted_path, identity, accepted_description, text, body_of(text))


def _accept_id(raw: str) -> MemoryId:
    if not is_importable_id(raw):
        raise OperationInvalid(
            "An id is mem_, ctx_, rul_ or wfl_ and 1-190 of A-Z, a-z, 0-9, _ and -.", field="memory_id", rule="id"
        )
    return MemoryId(raw)


def _code(problem: OperationInvalid) -> str:
    too_large = problem.context["field"] == BODY_FIELD and problem.context["rule"] == "too_long"
    return TooLarge.code if too_large else problem.code


def _shown(path: str) -> str:
    """A path that can be stored: as it is where that is possible, else escaped and cut, and still told from others."""
    if broken_length_rule(path) is None:
        path = unicodedata.normalize("NFC", path)
    shown = _UNSTORABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", path)
    if len(shown) <= MAX_PATH_CHARACTERS:
        return shown
    digest = sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{shown[:_SHOWN_CHARACTERS]}…<{digest[:_SHOWN_DIGITS]}>"
