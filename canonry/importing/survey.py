"""What a folder or a revision holds, before anything is sent: paths and hashes, never all texts at once."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from canonry.documents.folder import Found, Unreadable
from canonry.documents.front_matter import Document, read_document
from models.errors import OperationInvalid, PathCollision, TooLarge
from models.rules.bodies import MAX_BODY_BYTES, accept_body, is_body_too_long
from models.rules.hashes import content_hash
from models.schemas.imports import ImportReportBody

Reader = Callable[[], Iterator[Found | Unreadable]]
"""Reads everything, from the beginning, in the same order."""

CHANGED = "changed"
CHANGED_DETAIL = "It was being written while it was imported; run the same command again."

NO_TEXT = ""
"""What is staged for a file that cannot be read: its path alone, so that a mirror does not take it for deleted."""


@dataclass(frozen=True, slots=True)
class SurveyedFile:
    """A file as it is staged; without a hash it is a path whose text is not accepted."""

    content_hash: str | None = None
    description: str | None = None
    memory_id: str | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """Files by path, what is left out, what is worth mending, and the way to the texts.

    `complete` says that every folder could be looked into: what was not found is not there.
    """

    files: Mapping[str, SurveyedFile]
    reports: tuple[ImportReportBody, ...]
    notes: tuple[ImportReportBody, ...]
    complete: bool
    read: Reader

    def digest(self) -> str:
        """Equal for equal files."""
        digest = hashlib.sha256()
        for path, file in sorted(self.files.items()):
            digest.update(json.dumps([path, file.content_hash, file.description, file.memory_id]).encode())
        return digest.hexdigest()

    def contents(self, paths: Collection[str], changed: Callable[[str], None]) -> Iterator[dict[str, JsonValue]]:
        """The files of these paths as they are sent, each read once more.

        Args:
            paths: of the survey.
            changed: takes the path of each file that is not what it was when it was surveyed; it is not sent.
        """
        left = set(paths)
        for item in self.read():
            if item.path in left:
                left.remove(item.path)
                content = _content(item, self.files[item.path])
                if content is None:
                    changed(item.path)
                else:
                    yield content
        for path in sorted(left):
            if self.files[path].content_hash is None:  # nothing was to be read of it, so nothing is missing
                yield _without_text(path, self.files[path])
            else:
                changed(path)

    def without(self, changed: Collection[str]) -> "Survey":
        """The survey with the texts of these files left out, and that reported."""
        reports = tuple(ImportReportBody(path=path, code=CHANGED, detail=CHANGED_DETAIL) for path in sorted(changed))
        left_out = {path: SurveyedFile(memory_id=self.files[path].memory_id) for path in changed}
        return replace(self, files={**self.files, **left_out}, reports=self.reports + reports)


def survey(read: Reader, told: Callable[[int], None]) -> Survey:
    """Read everything once.

    A file that cannot be taken is reported, and staged all the same, without its text, where its path can be sent.

    Args:
        read: the folder or the revision.
        told: takes how many files have been read.
    """
    found = _Findings()
    for number, item in enumerate(read(), start=1):
        found.add(item)
        told(number)
    return Survey(found.files, tuple(found.reports), tuple(found.notes), found.unseen == 0, read)


class _Findings:
    """A survey in the making."""

    def __init__(self) -> None:
        self.files: dict[str, SurveyedFile] = {}
        self.reports: list[ImportReportBody] = []
        self.notes: list[ImportReportBody] = []
        self.unseen = 0

    def add(self, item: Found | Unreadable) -> None:
        path = item.path
        if path in self.files:
            self._report(path, PathCollision.code, "Two files have this path, in two spellings of the same letters.")
            self.files[path] = SurveyedFile()
        elif isinstance(item, Unreadable):
            self._report(path, item.code, item.detail)
            self.unseen += item.is_folder
            if not item.is_folder and _is_unicode(path):
                self.files[path] = SurveyedFile(memory_id=item.memory_id)
        else:
            self._add_document(path, read_document(item.text))

    def _add_document(self, path: str, document: Document) -> None:
        self.files[path] = _surveyed(document)
        self.notes += [ImportReportBody(path=path, code=note.code, detail=note.detail) for note in document.notes]
        if is_body_too_long(document.body):
            self._report(path, TooLarge.code, f"The text has more than {MAX_BODY_BYTES:,} bytes of UTF-8.")
        elif (refusal := _refusal(document.body)) is not None:
            self._report(path, OperationInvalid.code, refusal)

    def _report(self, path: str, code: str, detail: str) -> None:
        self.reports.append(ImportReportBody(path=path, code=code, detail=detail))


def _surveyed(document: Document) -> SurveyedFile:
    if _refusal(document.body) is not None:
        return SurveyedFile(memory_id=document.memory_id)
    return SurveyedFile(content_hash(document.body), document.description, document.memory_id)


def _refusal(body: str) -> str | None:
    """The sentence that says why a body is not accepted."""
    try:
        accept_body(body)
    except OperationInvalid as refusal:
        return refusal.detail
    return None


def _content(item: Found | Unreadable, expected: SurveyedFile) -> dict[str, JsonValue] | None:
    """The file as it is sent; None where it is not what was expected."""
    file = _without_text(item.path, expected)
    if expected.content_hash is None:
        return file
    document = read_document(item.text) if isinstance(item, Found) else None
    if document is None or _surveyed(document) != expected:
        return None
    return {**file, "content": document.body}


def _without_text(path: str, expected: SurveyedFile) -> dict[str, JsonValue]:
    file: dict[str, JsonValue] = {"path": path, "content": NO_TEXT}
    if expected.description is not None:
        file["description"] = expected.description
    if expected.memory_id is not None:
        file["memory_id"] = expected.memory_id
    return file


def _is_unicode(path: str) -> bool:
    """Whether the path can be sent: names of files are bytes, and some are not UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
