"""What the API stores of a command until it is carried out: ids, versions and short texts."""

from pydantic import BaseModel, ConfigDict

from models.identifiers import CommitId, DraftId, MemoryId


class Request(BaseModel):
    """A stored request; unknown members are a defect of ours."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DraftReference(Request):
    """A Draft at the version its author saw."""

    draft_id: DraftId
    expected_draft_version: int


class SubmitRequest(Request):
    """`POST /reviews`."""

    title: str
    description: str = ""
    drafts: tuple[DraftReference, ...]


class ResubmitRequest(Request):
    """`POST /reviews/{id}/submissions`; None leaves title or description alone."""

    expected_review_version: int
    drafts: tuple[DraftReference, ...]
    title: str | None = None
    description: str | None = None


class DecideRequest(Request):
    """`POST /reviews/{id}/decisions`."""

    decision: str
    expected_review_version: int
    body: str | None = None


class WithdrawRequest(Request):
    """`POST /reviews/{id}/withdrawals`."""

    expected_review_version: int
    reason: str | None = None


class MergeRequest(Request):
    """`POST /reviews/{id}/merges`; `expected_org_commit_id` is what `If-Match` named, `ref-none` where nothing is."""

    expected_review_version: int
    expected_result_hash: str | None = None
    expected_org_commit_id: CommitId | None = None


class SelectRequest(Request):
    """`PUT /projects/{id}/org-selections`."""

    expected_revision: int
    resource_ids: tuple[MemoryId, ...]


class ImportRequest(Request):
    """`POST /imports/{id}/start`; the title is the Review's, and what operators see of the operation."""

    title: str
