"""Imports on the wire (publication.md §6)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from models.rules.paths import broken_length_rule
from models.schemas.common import Id, Input, Instant, ListQuery, Optional, Output, RawText, Text, broken
from models.schemas.operations import Progress
from models.schemas.reviews import ReviewTitle

MAX_FILES_A_REQUEST = 1_000
MAX_SOURCE_CHARACTERS = 200

DEFAULT_TITLE = "Import"

ImportStatus = Literal["staging", "running", "succeeded", "failed"]


def _prefix(raw: str) -> str:
    prefix = raw if raw == "/" else raw.removesuffix("/")  # the root is "", and "/" is absolute
    if prefix and (rule := broken_length_rule(prefix)):
        raise broken(rule)
    return prefix


def _visible(raw: str) -> str:
    if not raw.isprintable() or raw != raw.strip():
        raise broken("invisible")
    return raw


Source = Annotated[Text, Field(min_length=1, max_length=MAX_SOURCE_CHARACTERS), AfterValidator(_visible)]
"""A label of the client's own: 1-200 visible characters, with spaces between them only."""


class CreateImport(Input):
    """A new import; its Review will have the title.

    With `base_commit_id`, the commit that the files were taken from, only what differs from it is a change.
    """

    project_id: Id
    title: ReviewTitle = DEFAULT_TITLE
    mirror: bool = False
    prefix: Annotated[RawText, AfterValidator(_prefix)] = ""
    source: Optional[Source] = None
    base_commit_id: Optional[Id] = None


class FileInput(Input):
    """A file to stage, any texts: what breaks a rule of content is reported, and the file left out."""

    path: RawText
    content: RawText
    description: Optional[RawText] = None
    memory_id: Optional[RawText] = None


class StageFiles(Input):
    """Files to stage; each replaces what is staged at its path."""

    files: Annotated[list[FileInput], Field(min_length=1, max_length=MAX_FILES_A_REQUEST)]


class StartImport(Input):
    """Nothing more is said to start an import."""


class ImportsQuery(ListQuery):
    """Which of the caller's imports."""

    project_id: Optional[Id] = None
    status: Optional[ImportStatus] = None
    source: Optional[Source] = None


class ImportReportBody(Output):
    """Why a staged file is left out."""

    path: str
    code: str
    detail: str


class ImportCountsBody(Output):
    """How many changes of each kind, and how many files need none.

    What is restored is created; a Memory that moves and changes counts in both.
    """

    created: int
    updated: int
    renamed: int
    deleted: int
    unchanged: int


class ImportFacts(Output):
    """What an import is and how far; `staged` counts the files, reported ones included."""

    project_id: str
    title: str
    mirror: bool
    prefix: str
    source: str | None
    base_commit_id: str | None
    status: ImportStatus
    staged: int
    progress: Progress
    operation_id: str | None
    created_at: Instant
    updated_at: Instant


class ImportListItem(ImportFacts):
    """An import without its reports."""

    import_id: str
    review_id: str | None
    counts: ImportCountsBody | None


class ImportBody(ImportListItem):
    """An import; reports are by path."""

    reports: list[ImportReportBody]


class StagedFileBody(Output):
    """A staged file without its text; one that was reported when it was staged has no hash."""

    path: str
    content_hash: str | None
    description: str | None
    memory_id: str | None


class ImportChange(Output):
    """What an import would do to a Memory; `memory_id` is null where it gets a new id."""

    action: Literal["create", "update", "rename", "delete", "restore"]
    path: str
    from_path: str | None
    memory_id: str | None


class ImportTrial(ImportFacts):
    """What an import would do if it were started now; nothing of it is stored."""

    dry_run: Literal[True]
    counts: ImportCountsBody
    reports: list[ImportReportBody]
    changes: list[ImportChange]
