"""Every refusal Canonry knows, as a fact with a code.

    Problem
    ├── Unauthenticated, NotFound, Forbidden, SelfApproval, MemoryDisabled, ReadOnlySession
    ├── TooLarge, UnsupportedMediaType, MethodNotAllowed, RateLimited
    ├── InvalidRequest, PreconditionRequired, PreconditionFailed
    ├── ReviewClosed, DraftClosed, DraftSubmitted, ProjectArchived, VersionConflict, DraftEmpty
    ├── OperationInvalid, TargetMissing, MemoryNotSelected, DuplicateId
    ├── CandidateStale, ResolutionRequired, ReconciliationRequired, DraftAlreadyCurrent, PathCollision
    ├── ApprovalInvalidated, ApprovalsMissing, SelectionInUse, AlreadyExists, LastOwner
    ├── IdempotencyKeyReused, IdempotencyKeyUsed, OperationInProgress, CursorExpired
    └── IndexNotReady, Unavailable, InternalError

The same object is the problem document over HTTP and the outcome of an operation. The order of the classes
in this file is their precedence (publication.md §6): when several hold, the first is the answer.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from pydantic import JsonValue as JsonValue  # noqa: PLC0414  (offered here: rules import nothing outside)

JsonObject = dict[str, JsonValue]


class Problem(Exception):  # noqa: N818  (named as facts: `DraftEmpty`, not `DraftEmptyError`)
    """A refusal: what does not hold, with the values a person needs to act.

    Args:
        detail: one sentence for a person; never contents of a Memory.
        context: further members of the problem document (`field`, `rule`, `index`, `expected`, `actual`, …).
    """

    code: ClassVar[str]
    title: ClassVar[str]
    status: ClassVar[int]
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str, **context: JsonValue) -> None:
        super().__init__(detail)
        self.detail = detail
        self.context: JsonObject = context

    def document(self) -> JsonObject:
        """The RFC 9457 members that do not depend on the request."""
        return {
            "type": f"https://canonry.dev/problems/{self.code}",
            "title": self.title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "retryable": self.retryable,
            **self.context,
        }


class Unauthenticated(Problem):
    """No credential, or one that is unknown, expired or revoked."""

    code, title, status = "unauthenticated", "Authentication required", 401


class NotFound(Problem):
    """Unknown here, or nothing the caller may know of."""

    code, title, status = "not_found", "Not found", 404


class Forbidden(Problem):
    """The role or the token's permissions do not allow it."""

    code, title, status = "forbidden", "Forbidden", 403


class SelfApproval(Problem):
    """The policy asks for somebody else's approval."""

    code, title, status = "self_approval", "Own work cannot be approved", 403


class MemoryDisabled(Problem):
    """The persona memory lever is off."""

    code, title, status = "memory_disabled", "Memory is disabled", 403


class ReadOnlySession(Problem):
    """The session may not write."""

    code, title, status = "read_only_session", "Read-only session", 403


class TooLarge(Problem):
    """The request body exceeds its limit."""

    code, title, status = "too_large", "Request too large", 413


class UnsupportedMediaType(Problem):
    """The body is not JSON."""

    code, title, status = "unsupported_media_type", "Unsupported media type", 415


class MethodNotAllowed(Problem):
    """The path exists, the method does not."""

    code, title, status = "method_not_allowed", "Method not allowed", 405


class RateLimited(Problem):
    """More requests than the limit allows; try again after `Retry-After`."""

    code, title, status, retryable = "rate_limited", "Too many requests", 429, True


class InvalidRequest(Problem):
    """What a schema can tell; `errors` lists `{field, rule}`."""

    code, title, status = "invalid_request", "Invalid request", 400

    @classmethod
    def of(cls, field: str, rule: str) -> "InvalidRequest":
        """One broken rule of one field."""
        return cls.of_all([(field, rule)])

    @classmethod
    def of_all(cls, errors: Iterable[tuple[str, str]]) -> "InvalidRequest":
        """Every broken rule, as pairs of field and rule."""
        pairs = list(errors)
        listed: list[JsonValue] = [{"field": field, "rule": rule} for field, rule in pairs]
        return cls("; ".join(f"{field}: {rule}" for field, rule in pairs), errors=listed)


class PreconditionRequired(Problem):
    """`If-Match` is missing."""

    code, title, status = "precondition_required", "Precondition required", 428


class PreconditionFailed(Problem):
    """`If-Match` names a version that is not the present one."""

    code, title, status = "precondition_failed", "Precondition failed", 412


class ReviewClosed(Problem):
    """The Review's status does not admit the command."""

    code, title, status = "review_closed", "Review is closed", 409


class DraftClosed(Problem):
    """The Draft is merged or discarded."""

    code, title, status = "draft_closed", "Draft is closed", 409


class DraftSubmitted(Problem):
    """The Draft is under review."""

    code, title, status = "draft_submitted", "Draft is submitted", 409


class ProjectArchived(Problem):
    """The project takes no writes."""

    code, title, status = "project_archived", "Project is archived", 409


class VersionConflict(Problem):
    """A named version (`expected`) is not the present one (`actual`)."""

    code, title, status = "version_conflict", "Version conflict", 409


class DraftEmpty(Problem):
    """The Draft's result equals Current."""

    code, title, status = "draft_empty", "Draft changes nothing", 422


class OperationInvalid(Problem):
    """A draft operation (`index`) breaks a `rule` of a `field`."""

    code, title, status = "operation_invalid", "Operation is invalid", 422


class TargetMissing(Problem):
    """A draft operation (`index`) names a Memory that is not there at that point."""

    code, title, status = "target_missing", "Target is missing", 422


class MemoryNotSelected(Problem):
    """The project's selection does not hold the Memory."""

    code, title, status = "memory_not_selected", "Memory is not selected", 422


class DuplicateId(Problem):
    """An id stands twice where each may stand once."""

    code, title, status = "duplicate_id", "Duplicate id", 422


class CandidateStale(Problem):
    """What the candidate was made for has moved."""

    code, title, status = "candidate_stale", "Candidate is stale", 409


class ResolutionRequired(Problem):
    """A conflict has no resolved state."""

    code, title, status = "resolution_required", "Resolution required", 422


class ReconciliationRequired(Problem):
    """Bringing a Draft up to date would change its result: a person must confirm it."""

    code, title, status = "reconciliation_required", "Reconciliation required", 409


class DraftAlreadyCurrent(Problem):
    """The Draft's base is the current Ref."""

    code, title, status = "draft_already_current", "Draft is current", 409


class PathCollision(Problem):
    """Two Memories would stand at one path, or one inside the other."""

    code, title, status = "path_collision", "Path is occupied", 409


class ApprovalInvalidated(Problem):
    """What would be published is not what was approved or expected."""

    code, title, status = "approval_invalidated", "Approval does not cover this result", 409


class ApprovalsMissing(Problem):
    """Fewer approvals than the policy requires."""

    code, title, status = "approvals_missing", "Approvals are missing", 409


class SelectionInUse(Problem):
    """A Draft of the project targets a Memory that would leave the selection."""

    code, title, status = "selection_in_use", "Selection is in use", 409


class AlreadyExists(Problem):
    """The name is taken."""

    code, title, status = "already_exists", "Already exists", 409


class LastOwner(Problem):
    """An organization keeps at least one owner."""

    code, title, status = "last_owner", "Last owner", 409


class IdempotencyKeyReused(Problem):
    """The key was used with another body."""

    code, title, status = "idempotency_key_reused", "Idempotency key was used for another request", 422


class IdempotencyKeyUsed(Problem):
    """The key was used, and its answer held a secret that is not kept."""

    code, title, status = "idempotency_key_used", "Idempotency key was used", 409


class OperationInProgress(Problem):
    """An equal request is still being answered; try again after `Retry-After`."""

    code, title, status, retryable = "operation_in_progress", "Operation in progress", 409, True


class CursorExpired(Problem):
    """The feed no longer reaches back to the cursor; continue at `resume_from`."""

    code, title, status = "cursor_expired", "Cursor expired", 410


class IndexNotReady(Problem):
    """The search index is being rebuilt."""

    code, title, status, retryable = "index_not_ready", "Index is not ready", 503, True


class Unavailable(Problem):
    """A part the answer needs cannot be reached now."""

    code, title, status, retryable = "unavailable", "Temporarily unavailable", 503, True


class InternalError(Problem):
    """A defect of ours; the request id finds it in the logs."""

    code, title, status = "internal_error", "Internal error", 500


PRECEDENCE: tuple[type[Problem], ...] = tuple(Problem.__subclasses__())
"""All problem classes, in order of precedence."""

BY_CODE: Mapping[str, type[Problem]] = {kind.code: kind for kind in PRECEDENCE}


def first_by_precedence(problems: Iterable[Problem]) -> Problem | None:
    """The problem that is the answer when several hold (publication.md §6); None of none."""
    rank = {kind: position for position, kind in enumerate(PRECEDENCE)}
    return min(problems, key=lambda problem: rank[type(problem)], default=None)
