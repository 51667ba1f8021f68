"""Where the lines that comments were written on stand in their Review's latest submission (publication.md §4)."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, text

from models.identifiers import BlobId, CommentId, MemoryId, OrganizationId, ReviewId
from models.rules.carrying import carried
from models.store.comments import CommentRow
from models.store.draft_views import read_contents

# Two statements of one pass each: joined, a submission of an import's size is read once for every comment.
MADE_ON = text("""
    select number, path, memory_id, blob_id from review_submission_states
    where org_id = :org_id and review_id = :review_id and number = any(:numbers) and path = any(:paths)
""")
LATEST = text("""
    select memory_id, blob_id from review_submission_states
    where org_id = :org_id and review_id = :review_id and memory_id = any(:memory_ids) and blob_id is not null
      and number = (select submission from reviews where org_id = :org_id and review_id = :review_id)
""")

Anchors = dict[CommentId, int]
Place = tuple[int, str]
"""A submission's number, and a path of what it proposes."""


def current_lines(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, comments: Sequence[CommentRow]
) -> Anchors:
    """The lines where comments on lines belong now; those whose line was changed or is gone are left out."""
    found: Anchors = {}
    for (earlier, later), anchors in _anchors_by_texts(connection, org_id, review_id, comments).items():
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
) -> dict[tuple[BlobId, BlobId], Anchors]:
    """The anchors, by the text that they were set in and what has become of it, wherever its Memory has moved."""
    by_place: dict[Place, Anchors] = {}
    for comment in comments:
        if comment.anchor_path is not None and comment.anchor_line is not None:
            place = (comment.submission, comment.anchor_path)
            by_place.setdefault(place, {})[comment.comment_id] = comment.anchor_line
    if not by_place:
        return {}
    made_on = _made_on(connection, org_id, review_id, by_place)
    latest = _latest(connection, org_id, review_id, [memory_id for memory_id, _ in made_on.values()])
    found: dict[tuple[BlobId, BlobId], Anchors] = {}
    for place, anchors in by_place.items():
        memory_id, earlier = made_on[place]
        if memory_id in latest:
            found.setdefault((earlier, latest[memory_id]), {}).update(anchors)
    return found


def _made_on(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, places: Collection[Place]
) -> dict[Place, tuple[MemoryId, BlobId]]:
    """What stood at the places: no anchor is accepted where nothing stands."""
    numbers, paths = {number for number, _ in places}, {path for _, path in places}
    names = {"org_id": org_id, "review_id": review_id, "numbers": [*numbers], "paths": [*paths]}
    return {(row.number, row.path): (row.memory_id, row.blob_id) for row in connection.execute(MADE_ON, names)}


def _latest(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, memory_ids: Sequence[MemoryId]
) -> dict[MemoryId, BlobId]:
    """The texts of those that the latest submission still proposes."""
    names = {"org_id": org_id, "review_id": review_id, "memory_ids": memory_ids}
    return {row.memory_id: row.blob_id for row in connection.execute(LATEST, names)}
