"""Comments are dated in the order in which they become visible, so that pages by time miss none."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event

from activities.comments import Anchor, add_comment, resolve_comment
from models.identifiers import CommentId, ReviewId
from models.store.carried_comments import current_lines
from models.store.comments import CommentRow, list_comments
from models.store.transaction import Transaction
from tests.commands import a_review, decided, merged, resubmitted
from tests.invariants import check_invariants
from tests.rows import (
    Somewhere,
    a_draft,
    acting,
    an_organization,
    appended,
    creates,
    current,
    fetch,
    provisional_ids,
    updates,
)

LOCK_WAIT_S = 0.2


def a_reviewed_document(engine: Engine) -> tuple[Somewhere, ReviewId]:
    place = an_organization(engine)
    return place, a_review(place, a_draft(place, creates("a.md", "one\ntwo\n")))


def comment(tx: Transaction, review_id: ReviewId, body: str = "x") -> CommentRow:
    return add_comment(tx, review_id, body=body, anchor=None)


def bodies(place: Somewhere, review_id: ReviewId) -> list[str]:
    with place.engine.connect() as connection:
        return [row.body for row in list_comments(connection, place.org_id, review_id, after=None, limit=1_000)]


def test_who_began_first_and_writes_last_comes_last(engine: Engine) -> None:
    place, review_id = a_reviewed_document(engine)
    with acting(place) as early:
        with acting(place) as late:
            comment(late, review_id, "written first")
        comment(early, review_id, "written last")
    assert bodies(place, review_id) == ["written first", "written last"]


def test_a_comment_waits_for_the_one_before_it(engine: Engine) -> None:
    place, review_id = a_reviewed_document(engine)
    order: list[str] = []

    def write_second() -> None:
        with acting(place) as tx:
            comment(tx, review_id, "second")
            order.append("second")

    with acting(place) as tx:
        comment(tx, review_id, "first")
        waiting = threading.Thread(target=write_second)
        waiting.start()
        waiting.join(LOCK_WAIT_S)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"] == bodies(place, review_id)


def test_a_merge_does_not_wait_for_a_comment(engine: Engine) -> None:
    place, review_id = a_reviewed_document(engine)
    with acting(place) as tx:
        comment(tx, review_id)
        merged(place, review_id)
    assert bodies(place, review_id) == ["x"]
    check_invariants(engine, place.org_id)


def test_comments_on_two_reviews_do_not_wait_for_each_other(engine: Engine) -> None:
    place, review_id = a_reviewed_document(engine)
    other = a_review(place, a_draft(place, creates("b.md")))
    with acting(place) as tx:
        comment(tx, review_id)
        with acting(place) as beside:
            comment(beside, other)
    check_invariants(engine, place.org_id)


def test_comments_written_at_once_are_all_kept_each_at_a_time_of_its_own(engine: Engine) -> None:
    place, review_id = a_reviewed_document(engine)

    def write(number: int) -> CommentRow:
        with acting(place) as tx:
            return comment(tx, review_id, str(number))

    with ThreadPoolExecutor(6) as threads:
        written = list(threads.map(write, range(60)))
    assert len({row.created_at for row in written}) == 60
    assert set(bodies(place, review_id)) == {str(number) for number in range(60)}


def test_two_who_resolve_a_comment_at_once_record_it_once(engine: Engine) -> None:
    place, review_id = a_reviewed_document(engine)
    with acting(place) as tx:
        written = comment(tx, review_id)

    def resolve(_: int) -> bool:
        with acting(place) as tx:
            return resolve_comment(tx, review_id, written.comment_id, resolved=True).resolved

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(resolve, range(4))) == [True] * 4
    assert recorded(place, "comment.resolve", written.comment_id) == 1
    check_invariants(engine, place.org_id)


def recorded(place: Somewhere, action: str, comment_id: CommentId) -> int:
    [row] = fetch(
        place,
        """
        select count(*) as number from audit_events
        where org_id = :o and action = :action and resource_id = :comment_id
        """,
        action=action,
        comment_id=comment_id,
    )
    return int(row.number)


@contextmanager
def statements_on(connection: Connection) -> Iterator[list[str]]:
    seen: list[str] = []

    def see(_c: Connection, _cursor: Any, statement: str, _parameters: Any, _context: Any, _many: bool) -> None:  # noqa: FBT001
        seen.append(statement)

    event.listen(connection, "before_cursor_execute", see)
    yield seen
    event.remove(connection, "before_cursor_execute", see)


def test_a_hundred_comments_on_a_document_are_carried_by_reading_it_once(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md", "one\ntwo\n"))
    review_id = a_review(place, draft)
    with acting(place) as tx:
        written = [add_comment(tx, review_id, body="x", anchor=Anchor("a.md", 1 + number % 2)) for number in range(100)]
    decided(place, review_id, "rejected")
    [memory_id] = provisional_ids(place, draft.draft_id)
    resubmitted(place, review_id, appended(place, current(place, draft), updates(memory_id, "zero\none\n")))
    with engine.connect() as connection, statements_on(connection) as statements:
        lines = current_lines(connection, place.org_id, review_id, written)
    assert lines == {row.comment_id: 2 for row in written if row.anchor_line == 1}
    assert len(statements) == 3
