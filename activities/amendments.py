"""What is changed of a Review without a new submission: title, description, and when to publish (publication.md §6)."""

from activities.scene import archived, lock_scene, refuse
from models.errors import Forbidden, PreconditionFailed, Problem, ReviewClosed
from models.identifiers import ReviewId
from models.store.audit import record_audit
from models.store.events import append_event
from models.store.locks import ReviewRow
from models.store.reviews import FINAL, ReviewChange, Schedule, change_review
from models.store.transaction import Transaction


def amend_review(
    tx: Transaction,
    review_id: ReviewId,
    *,
    expected_version: int,
    title: str | None,
    description: str | None,
    schedule: Schedule | None = None,
) -> ReviewRow:
    """Give a Review that is not final another title, description or schedule; None and equal values change nothing.

    A merge that its former schedule has made already is refused when it comes.

    Raises:
        NotFound: no such Review, or the actor may not know of it.
        Forbidden: the actor is neither its author nor owner or admin.
        PreconditionFailed: its version is another.
        ReviewClosed, ProjectArchived: it takes no changes.
    """
    scene = lock_scene(tx, review_id)
    review = scene.review
    if review.author_id != tx.actor_id and not scene.access.administers:
        raise Forbidden("Only the Review's author, owners and admins change it.")
    if review.version != expected_version:
        raise PreconditionFailed("The Review has changed.", expected=expected_version, actual=review.version)
    refuse([*_closed(review), *archived(scene.project)])
    if schedule is not None and schedule.publish_at == review.publish_at:
        schedule = None
    if title in (None, review.title) and description in (None, review.description) and schedule is None:
        return review
    changed = change_review(tx, review_id, ReviewChange(title=title, description=description, schedule=schedule))
    append_event(tx, "review.amended", "review", review_id, project_id=review.project_id, version=changed.version)
    record_audit(tx, "review.amend", "review", review_id)
    return changed


def _closed(review: ReviewRow) -> list[Problem]:
    if review.status not in FINAL:
        return []
    return [
        ReviewClosed(f"The Review is {review.status}.", review_status=review.status, commit_id=review.merged_commit_id)
    ]
