"""Reviews as they are read, and what changes of them at once (publication.md §4)."""

from activities.amendments import amend_review
from api.answers import Answer, answer
from api.calls import Read, Write
from api.lookups import find_review, require_author_or_administrator
from api.paging import Paging
from api.positions import after_moment, moment_of
from api.routing import Routes
from models.errors import NotFound, ProjectArchived, ReviewClosed
from models.identifiers import ProjectId
from models.schemas.common import NoParameters, Page
from models.schemas.reviews import (
    DiffQuery,
    Mergeability,
    ReviewBody,
    ReviewDiff,
    ReviewListItem,
    ReviewsQuery,
    SubmissionWithMemories,
    UpdateReview,
)
from models.store.locks import ReviewRow
from models.store.mergeability import mergeability
from models.store.review_lists import list_reviews as reviews_for
from models.store.review_views import review_body, review_items, submission_body
from models.store.reviews import Schedule

MAX_NUMBER_DIGITS = 9

routes = Routes("reviews")


@routes.read("/reviews", answers=Page[ReviewListItem], query=ReviewsQuery)
def list_reviews(call: Read) -> Answer:
    """The Reviews of the projects that the caller may read, newest first, without timeline and mergeability.

    A path owner also gets those that touch the owner's paths; a page may then have fewer items than `limit`, or none,
    although `next_cursor` names another one.
    """
    who = call.principal
    query = call.query(ReviewsQuery)
    paging = Paging(query, "reviews", who.org_id, who.user_id, query.project_id, query.status, parts=2)
    found = reviews_for(
        call.connection,
        who.org_id,
        who.user_id,
        project_id=None if query.project_id is None else ProjectId(query.project_id),
        status=query.status,
        before=after_moment(paging),
        limit=paging.fetch,
    )
    shown = {item.review_id: item for item in review_items(call.connection, who.org_id, found.rows[: paging.limit])}
    page = paging.page(
        Page[ReviewListItem],
        found.rows,
        show=lambda row: shown[row.review_id],
        position=lambda row: moment_of(row.created_at, row.review_id),
        looked_up_to=None if found.looked_up_to is None else moment_of(*found.looked_up_to),
    )
    return answer(page)


@routes.read("/reviews/{review_id}", answers=ReviewBody, etag=True)
def get_review(call: Read, review_id: str) -> Answer:
    """A Review; 404 until its submit has succeeded."""
    review, _ = find_review(call, review_id)
    call.query(NoParameters)
    return _answer(call, review)


@routes.write(
    "PATCH",
    "/reviews/{review_id}",
    accepts=UpdateReview,
    answers=ReviewBody,
    if_match=True,
    etag=True,
    problems=(ReviewClosed, ProjectArchived),
)
def update_review(call: Write, review_id: str) -> Answer:
    """Change title, description or `publish_at`: its author, owners and admins, until it is merged or withdrawn."""
    review, access = find_review(call, review_id)
    require_author_or_administrator(call, review, access)
    body = call.body(UpdateReview)
    changed = amend_review(
        call.tx,
        review.review_id,
        expected_version=call.if_match_version(),
        title=body.title,
        description=body.description,
        schedule=Schedule(body.publish_at) if body.reschedules else None,
    )
    call.wakes_delivery = True
    return _answer(call, changed)


@routes.read("/reviews/{review_id}/mergeability", answers=Mergeability)
def get_mergeability(call: Read, review_id: str) -> Answer:
    """Whether a merge would pass now, and every blocker if not."""
    review, _ = find_review(call, review_id)
    call.query(NoParameters)
    return answer(mergeability(call.connection, review))


@routes.read("/reviews/{review_id}/diff", answers=ReviewDiff, query=DiffQuery, problems=(NotFound,))
def get_review_diff(call: Read, review_id: str) -> Answer:
    """What a submission proposes, the latest unless one is named: base, result and diff of every touched Memory."""
    review, _ = find_review(call, review_id)
    number = call.query(DiffQuery).submission or review.submission
    return answer(ReviewDiff(memories=_submission(call, review, number).memories))


@routes.read("/reviews/{review_id}/submissions/{number}", answers=SubmissionWithMemories)
def get_submission(call: Read, review_id: str, number: str) -> Answer:
    """A submission as it was reviewed, for ever."""
    review, _ = find_review(call, review_id)
    if not (number.isascii() and number.isdecimal() and len(number) <= MAX_NUMBER_DIGITS):
        raise NotFound("The Review has no such submission.")
    submission = _submission(call, review, int(number))
    call.query(NoParameters)
    return answer(submission)


def _submission(call: Read, review: ReviewRow, number: int) -> SubmissionWithMemories:
    return submission_body(call.connection, call.principal.org_id, review.review_id, number)


def _answer(call: Read, review: ReviewRow) -> Answer:
    return answer(review_body(call.connection, call.principal.org_id, review.review_id), version=review.version)
