"""Where the lines that comments were written on stand in their Review's latest submission (publication.md §4)."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, text

from models.identifiers import BlobId, CommentId, OrganizationId, ReviewId
from models.rules.carrying import carried
from models.store.comments import CommentRow
from models.store.draft_views import read_contents

# By the Memory that stood at the anchor's path: a move since is followed. One that is gone has no row here.
ANCHORED = text("""
    select c.comment_id, c.anchor_line, made_on.blob_id as earlier, latest.blob_id as later
    from review_comments c
    join reviews r on r.org_id = c.org_id and r.review_id = c.review_id
    join review_submission_states made_on on made_on.org_id = c.org_id and made_on.review_id = c.review_id
      and made_on.number = c.submission and made_on.path = c.anchor_path
    join review_submission_states latest on latest.org_id = c.org_id and latest.review_id = c.review_id
      and latest.number = r.submission and latest.memory_id = made_on.memory_id
    where c.org_id = :org_id and c.review_id = :review_id and c.comment_id = any(:comment_ids)
      and latest.blob_id is not null
""")

Anchors = dict[CommentId, int]


def current_lines(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, comments: Sequence[CommentRow]
) -> Anchors:
    """The lines where comments on lines belong now; those whose line was changed or is gone are left out."""
    found: Anchors = {}
    for earlier, later, anchors in _anchors_by_texts(connection, org_id, review_id, comments):
        if earlier == later:
            found |= anchors
            continue
        # Two texts at a time: a page of comments may be on as many documents.
        contents = read_contents(connection, org_id, {earlier, later})
        there = carried(set(anchors.values()), contents[earlier], contents[later])
        found |= {comment_id: there[line] for comment_id, line in anchors.items() if line in there}
    return found


def _anchors_by_texts(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, comments: Sequence[CommentRow]
) -> Iterator[tuple[BlobId, BlobId, Anchors]]:
    """The anchors, by the text that they were set in and what it has become."""
    comment_ids = [comment.comment_id for comment in comments if comment.anchor_line is not None]
    if not comment_ids:
        return
    names = {"org_id": org_id, "review_id": review_id, "comment_ids": comment_ids}
    anchors: dict[tuple[BlobId, BlobId], Anchors] = {}
    for row in connection.execute(ANCHORED, names):
        anchors.setdefault((row.earlier, row.later), {})[row.comment_id] = row.anchor_line
    for (earlier, later), of_both in anchors.items():
        yield earlier, later, of_both
