"""Comments: remarks on a submission, written on closed Reviews too; they change no version (publication.md §4)."""

from dataclasses import dataclass, replace

from models.errors import NotFound, OperationInvalid
from models.identifiers import CommentId, ReviewId, new_comment_id
from models.rules.alignment import lines_of
from models.rules.bodies import require_storable
from models.rules.paths import accept_path
from models.store.access import require_project
from models.store.audit import record_audit
from models.store.comments import CommentRow, insert_comment, proposed_at, read_comment, set_resolved
from models.store.events import append_event
from models.store.locks import ReviewRow
from models.store.reviews import read_review
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Anchor:
    """A line of the proposed result, counted from 1."""

    path: str
    line: int


def add_comment(tx: Transaction, review_id: ReviewId, *, body: str, anchor: Anchor | None) -> CommentRow:
    """Remark on a Review's latest submission.

    Raises:
        NotFound: no such Review, or the actor may not know of it.
        Forbidden: the actor only reads the project.
        ProjectArchived: the project takes no writes.
        OperationInvalid: the body is blank or cannot be stored, or the anchor is no line of the proposed result.
    """
    review = _commentable(tx, review_id)
    _require_text(body)
    comment = CommentRow(
        comment_id=new_comment_id(),
        review_id=review_id,
        submission=review.submission,
        author_id=tx.actor_id,
        body=body,
        anchor_path=None,
        anchor_line=None,
        resolved=False,
        created_at=tx.now,
    )
    if anchor is not None:
        comment = replace(comment, anchor_path=_anchor_path(tx, review, anchor), anchor_line=anchor.line)
    comment = insert_comment(tx, comment)
    _record(tx, review, comment, "comment.create", "comment.created")
    return comment


def resolve_comment(tx: Transaction, review_id: ReviewId, comment_id: CommentId, *, resolved: bool) -> CommentRow:
    """Say whether what a comment asks for is settled; the same again changes nothing.

    Raises:
        NotFound: no such Review or comment, or the actor may not know of it.
        Forbidden, ProjectArchived: as for a new comment.
    """
    review = _commentable(tx, review_id)
    comment = read_comment(tx.connection, tx.org_id, review_id, comment_id)
    if comment is None:
        raise NotFound("The Review has no such comment.")
    changed = set_resolved(tx, comment, resolved=resolved)
    if changed is None:
        return replace(comment, resolved=resolved)
    action, event = ("comment.resolve", "comment.resolved") if resolved else ("comment.reopen", "comment.reopened")
    _record(tx, review, changed, action, event)
    return changed


def _commentable(tx: Transaction, review_id: ReviewId) -> ReviewRow:
    review = read_review(tx.connection, tx.org_id, review_id)
    if review is None:
        raise NotFound("There is no such Review.")
    access = require_project(tx.connection, tx.org_id, tx.actor_id, review.project_id, include_deleted=True)
    access.require_write()
    access.require_active()
    return review


def _require_text(body: str) -> None:
    require_storable(body, "body")
    if not body.strip():
        raise OperationInvalid("A comment is not blank.", field="body", rule="blank")


def _anchor_path(tx: Transaction, review: ReviewRow, anchor: Anchor) -> str:
    """The anchor's path in NFC, if it names a line of what the latest submission proposes."""
    path = accept_path(anchor.path, field="anchor_path")
    proposed = proposed_at(tx.connection, tx.org_id, review.review_id, review.submission, path)
    if proposed is None:
        raise OperationInvalid("The Review proposes nothing at this path.", field="anchor_path", rule="unknown")
    if proposed["path"] is None:
        raise OperationInvalid("A deletion has no lines.", field="anchor_path", rule="deleted")
    if anchor.line > len(lines_of(proposed["content"])):
        raise OperationInvalid("The proposed text has fewer lines.", field="anchor_line", rule="too_large")
    return path


def _record(tx: Transaction, review: ReviewRow, comment: CommentRow, action: str, event: str) -> None:
    append_event(tx, event, "comment", comment.comment_id, project_id=review.project_id)
    record_audit(tx, action, "comment", comment.comment_id, detail={"review_id": review.review_id})
