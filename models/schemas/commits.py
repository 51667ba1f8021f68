"""Published Memory, commits and selections on the wire (publication.md §1, §5)."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from models.schemas.common import Id, Input, Instant, Optional, Query

MAX_SELECTED = 100_000

NO_COMMIT = "ref-none"
"""The entity tag of a Ref that points nowhere yet."""

MemoryStatus = Literal["active", "archived", "deprecated"]


class CommitStateQuery(Query):
    """What the client has installed."""

    local_commit_id: Optional[Id] = None


class DeltaQuery(Query):
    """What the client has, to become what it asks for."""

    base: Annotated[Id, Field(description="a commit of the same chain, before or after")]


class ReplaceSelection(Input):
    """The Memory ids that a project uses from now on."""

    resource_ids: Annotated[list[Id], Field(max_length=MAX_SELECTED)]


class MemoryBody(BaseModel):
    """What is known of a published Memory, without its text."""

    memory_id: str
    path: str
    name: str
    description: str
    content_hash: str
    revision: int
    status: MemoryStatus
    created_at: Instant
    updated_at: Instant


class MemoryWithContent(BaseModel):
    """A published Memory with its text."""

    memory: MemoryBody
    content: str
    etag: str


class SelectionBody(BaseModel):
    """What a project uses of the organization's Memory."""

    resource_ids: list[str]
    memories: list[MemoryBody]
    revision: int


class CommitBody(BaseModel):
    """A commit: exactly the fields its id is made of, and the id."""

    commit_id: str
    scope: Literal["org", "project"]
    org_id: str
    project_id: str | None
    version: int
    parent_commit_id: str | None
    tree_id: str
    message: str
    review_id: str | None
    created_by: str
    created_at: Instant
    org_commit_id: str | None
    selection_revision: int | None


class TreeEntry(BaseModel):
    """One entry of a tree."""

    id: str
    type: Literal["memory", "project_org_selection"]
    source: Literal["org", "selected_org", "config"]
    path: str | None
    description: str
    blob_id: str


class TreeBody(BaseModel):
    """A whole tree, by id."""

    tree_id: str
    entries: list[TreeEntry]


class BlobBody(BaseModel):
    """A text by its hash."""

    blob_id: str
    content: str


class CommitSelection(BaseModel):
    """The selection that a Project Commit stands on."""

    revision: int
    resource_ids: list[str]


class Snapshot(BaseModel):
    """A complete, immutable version."""

    commit: CommitBody
    tree: TreeBody
    blobs: list[BlobBody]
    project_org_selection: CommitSelection | None


class Delta(BaseModel):
    """What makes one version of a chain another; applied to `base`, it gives exactly the tree of `target`."""

    base: str
    target: str
    commit: CommitBody
    tree_id: str
    upserted: list[TreeEntry]
    removed: list[str]
    blobs: list[BlobBody]
    project_org_selection: CommitSelection | None


class RefBody(BaseModel):
    """Where a chain stands."""

    name: Literal["refs/heads/main"]
    commit_id: str | None
    updated_at: Instant


class CommitState(BaseModel):
    """Whether there is something newer than a client has, and where to get it."""

    ref: RefBody
    latest: CommitBody | None
    update_available: bool
    download_url: str | None
    incremental_supported: bool
