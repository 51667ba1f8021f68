"""Comments on Reviews, on closed ones too: written by project members and admins, owners and admins."""

from collections.abc import Mapping

from activities.comments import Anchor, add_comment, resolve_comment
from api.answers import Answer, answer
from api.calls import Read, Write
from api.lookups import find_review
from api.paging import Paging
from api.positions import after_moment, moment_of
from api.routing import Routes
from models.errors import InvalidRequest, NotFound, OperationInvalid, ProjectArchived
from models.identifiers import CommentId
from models.schemas.common import ListQuery, Page
from models.schemas.reviews import CommentBody, CreateComment, UpdateComment
from models.store.carried_comments import current_lines
from models.store.comments import CommentRow, read_comment
from models.store.comments import list_comments as comments_on

routes = Routes("comments")


@routes.read("/reviews/{review_id}/comments", answers=Page[CommentBody], query=ListQuery)
def list_comments(call: Read, review_id: str) -> Answer:
    """A Review's comments, oldest first."""
    review, _ = find_review(call, review_id)
    paging = Paging(call.query(ListQuery), "comments", review.org_id, review.review_id, parts=2)
    rows = comments_on(call.connection, review.org_id, review.review_id, after=after_moment(paging), limit=paging.fetch)
    lines = current_lines(call.connection, review.org_id, review.review_id, rows[: paging.limit])
    page = paging.page(
        Page[CommentBody],
        rows,
        show=lambda row: _shown(row, lines),
        position=lambda row: moment_of(row.created_at, row.comment_id),
    )
    return answer(page)


@routes.write(
    "POST",
    "/reviews/{review_id}/comments",
    accepts=CreateComment,
    answers=CommentBody,
    problems=(ProjectArchived, OperationInvalid),
)
def create_comment(call: Write, review_id: str) -> Answer:
    """Remark on the latest submission, or on a line of what it proposes."""
    review, access = find_review(call, review_id)
    access.require_write()
    body = call.body(CreateComment)
    comment = add_comment(call.tx, review.review_id, body=body.body, anchor=_anchor(body))
    return answer(_as_it_is_now(call, comment), status=201)


@routes.write(
    "PATCH",
    "/reviews/{review_id}/comments/{comment_id}",
    accepts=UpdateComment,
    answers=CommentBody,
    problems=(ProjectArchived,),
)
def update_comment(call: Write, review_id: str, comment_id: str) -> Answer:
    """Say whether what a comment asks for is settled."""
    review, access = find_review(call, review_id)
    if read_comment(call.connection, review.org_id, review.review_id, CommentId(comment_id)) is None:
        raise NotFound("The Review has no such comment.")
    access.require_write()
    body = call.body(UpdateComment)
    comment = resolve_comment(call.tx, review.review_id, CommentId(comment_id), resolved=body.resolved)
    return answer(_as_it_is_now(call, comment))


def _anchor(body: CreateComment) -> Anchor | None:
    if body.anchor_path is not None and body.anchor_line is not None:
        return Anchor(body.anchor_path, body.anchor_line)
    if body.anchor_path is not None:
        raise InvalidRequest.of("anchor_line", "missing")
    if body.anchor_line is not None:
        raise InvalidRequest.of("anchor_path", "missing")
    return None


def _as_it_is_now(call: Write, comment: CommentRow) -> CommentBody:
    return _shown(comment, current_lines(call.connection, call.principal.org_id, comment.review_id, [comment]))


def _shown(comment: CommentRow, lines: Mapping[CommentId, int]) -> CommentBody:
    """A comment, with where its line is in the latest submission."""
    current_line = lines.get(comment.comment_id)
    return CommentBody(
        comment_id=comment.comment_id,
        submission=comment.submission,
        author_id=comment.author_id,
        body=comment.body,
        anchor_path=comment.anchor_path,
        anchor_line=comment.anchor_line,
        current_line=current_line,
        outdated=comment.anchor_line is not None and current_line is None,
        resolved=comment.resolved,
        created_at=comment.created_at,
    )
