"""Comments on Reviews: each names the submission it was made on, and perhaps a line of what that proposes."""

from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import Connection, RowMapping, text

from models.identifiers import CommentId, OrganizationId, ReviewId, UserId
from models.store.locks import lock_comments
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class CommentRow:
    """A comment's row."""

    comment_id: CommentId
    review_id: ReviewId
    submission: int
    author_id: UserId
    body: str
    anchor_path: str | None
    anchor_line: int | None
    resolved: bool
    created_at: datetime


COLUMNS = ", ".join(field.name for field in fields(CommentRow))
# No comment is dated before one that a reader may have seen: pages go on by time, and would miss it.
INSERT = text(f"""
    insert into review_comments (org_id, {COLUMNS})
    select :org_id, {", ".join(f":{field.name}" for field in fields(CommentRow) if field.name != "created_at")},
        greatest(:created_at, max(created_at) + interval '1 microsecond')
    from review_comments where org_id = :org_id and review_id = :review_id
    returning {COLUMNS}
""")  # noqa: S608  (our own columns)
READ = text(f"""
    select {COLUMNS} from review_comments
    where org_id = :org_id and review_id = :review_id and comment_id = :comment_id
""")  # noqa: S608  (our own columns)
LIST = text(f"""
    select {COLUMNS} from review_comments
    where org_id = :org_id and review_id = :review_id
      and (cast(:after_at as timestamptz) is null or (created_at, comment_id) > (:after_at, :after_id))
    order by created_at, comment_id limit :limit
""")  # noqa: S608  (our own columns)
RESOLVE = text(f"""
    update review_comments set resolved = :resolved
    where org_id = :org_id and review_id = :review_id and comment_id = :comment_id and resolved <> :resolved
    returning {COLUMNS}
""")  # noqa: S608  (our own columns)


def insert_comment(tx: Transaction, comment: CommentRow) -> CommentRow:
    """Store a comment, later than all others on its Review; the row as it is then."""
    lock_comments(tx.connection, tx.org_id, comment.review_id)
    values = {field.name: getattr(comment, field.name) for field in fields(comment)}
    return CommentRow(*tx.connection.execute(INSERT, {"org_id": tx.org_id, **values}).one())


def read_comment(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, comment_id: CommentId
) -> CommentRow | None:
    """A comment of a Review, or None."""
    names = {"org_id": org_id, "review_id": review_id, "comment_id": comment_id}
    row = connection.execute(READ, names).one_or_none()
    return None if row is None else CommentRow(*row)


def list_comments(
    connection: Connection,
    org_id: OrganizationId,
    review_id: ReviewId,
    *,
    after: tuple[datetime, str] | None,
    limit: int,
) -> list[CommentRow]:
    """A Review's comments, oldest first, those behind (created_at, comment_id)."""
    at, comment_id = after or (None, None)
    names = {"org_id": org_id, "review_id": review_id, "after_at": at, "after_id": comment_id, "limit": limit}
    return [CommentRow(*row) for row in connection.execute(LIST, names)]


def set_resolved(tx: Transaction, comment: CommentRow, *, resolved: bool) -> CommentRow | None:
    """Say whether what a comment asks for is settled; None if that was said already."""
    names = {"org_id": tx.org_id, "review_id": comment.review_id, "comment_id": comment.comment_id}
    row = tx.connection.execute(RESOLVE, {**names, "resolved": resolved}).one_or_none()
    return None if row is None else CommentRow(*row)


AT_PATH = text("""
    select s.path, s.base_path, b.content
    from review_submission_states s
    left join blobs b on b.org_id = s.org_id and b.blob_id = s.blob_id
    where s.org_id = :org_id and s.review_id = :review_id and s.number = :number
      and (s.path = :path or s.path is null and s.base_path = :path)
    order by s.path nulls last limit 1
""")


def proposed_at(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, number: int, path: str
) -> RowMapping | None:
    """What a submission proposes at a path: its `content`, or `path` null where it deletes what stands there."""
    names = {"org_id": org_id, "review_id": review_id, "number": number, "path": path}
    return connection.execute(AT_PATH, names).mappings().one_or_none()
