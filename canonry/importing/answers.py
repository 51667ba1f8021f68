"""What the server answers about imports and Reviews, as far as the command reads it."""

from typing import Literal

from pydantic import BaseModel

REVIEWABLE = ("open", "approved")
"""The states of a Review that can still be merged."""


class FileReport(BaseModel, frozen=True):
    """A file that is left out, and why."""

    path: str
    code: str
    detail: str


class Counts(BaseModel):
    """How many Memories the import creates and changes, and how many files change nothing."""

    created: int
    updated: int
    renamed: int
    deleted: int
    unchanged: int


class Change(BaseModel):
    """What would happen to one Memory."""

    action: Literal["create", "update", "rename", "delete"]
    path: str
    from_path: str | None


class Preview(BaseModel):
    """What an import would do."""

    reports: list[FileReport]
    counts: Counts
    changes: list[Change]


class ImportItem(BaseModel):
    """An import in a list."""

    import_id: str
    status: Literal["staging", "running", "succeeded", "failed"]
    source: str | None
    review_id: str | None
    counts: Counts | None


class Import(ImportItem):
    """An import, from its first file to its end."""

    reports: list[FileReport]


class StagedFile(BaseModel):
    """A file that the server has."""

    path: str
    content_hash: str | None
    description: str | None
    memory_id: str | None


class Review(BaseModel):
    """A Review, on its way or closed."""

    review_id: str
    title: str
    status: Literal["open", "approved", "rejected", "withdrawn", "merged"]
    version: int
    result_hash: str | None


class Merged(BaseModel):
    """What a merge did."""

    review: Review
