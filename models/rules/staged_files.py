"""What of a file is staged for an import; what breaks a rule is reported and left out (publication.md §6)."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from models.errors import OperationInvalid, PathCollision, TooLarge
from models.identifiers import MemoryId, is_importable_id
from models.rules.bodies import BODY_FIELD, DESCRIPTION_FIELD, accept_body, accept_description
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
        return FileToStage(_shown(path), memory_id=named, report_code=_code(problem), report_detail=_detail(problem))
    return FileToStage(accepted_path, identity, accepted_description, text, body_of(text))


def accept_files(files: Sequence[FileToStage]) -> list[FileToStage]:
    """The files of one request, where none has been staged before: of several at one path, a report and no text."""
    by_path: dict[str, list[FileToStage]] = defaultdict(list)
    for file in files:
        by_path[file.path].append(file)
    return [same[0] if len(same) == 1 else _same_path(path, same) for path, same in by_path.items()]


def _same_path(path: str, files: Sequence[FileToStage]) -> FileToStage:
    named = next((file.memory_id for file in files if file.memory_id is not None), None)
    detail = f"{len(files)} files of one request have the path {path}; rename or remove all but one."
    return FileToStage(path, memory_id=named, report_code=PathCollision.code, report_detail=detail)


def _accept_id(raw: str) -> MemoryId:
    if not is_importable_id(raw):
        raise OperationInvalid(
            "An id is mem_, ctx_, rul_ or wfl_ and 1-190 of A-Z, a-z, 0-9, _ and -.", field="memory_id", rule="id"
        )
    return MemoryId(raw)


_REMEDIES = {
    "path": "rename the file",
    BODY_FIELD: "mend its text",
    DESCRIPTION_FIELD: "mend its `description:` line",
    "memory_id": "correct or remove its `id:` line",
}
_REMEDIES_OF_RULES = {
    (BODY_FIELD, "blank"): "write its text or remove the file",
    (BODY_FIELD, "too_long"): "split the file",
}


def _detail(problem: OperationInvalid) -> str:
    """The broken rule, and what to do about it."""
    field, rule = str(problem.context["field"]), str(problem.context["rule"])
    remedy = _REMEDIES_OF_RULES.get((field, rule), _REMEDIES[field])
    return f"{problem.detail.removesuffix('.')}; {remedy}."


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
