"""The change feed never skips, whatever order transactions commit in, and is read in bounded looks."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import Connection, Engine, text

from activities.closing import close_user_work
from activities.comments import add_comment
from models.identifiers import UserId
from models.store import feed_pages
from models.store.events import FeedEvent, Position, append_event
from models.store.feed import feed_of, latest_positions
from models.store.feed_pages import Ask, Page, read_draft_feed, read_feed, read_for_each
from models.store.idempotency import RequestKey, claim_key, keep_answer
from models.store.locks import lock_coordination
from tests.commands import a_review, a_submit, carried_out, published
from tests.policies import has_path_owners
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    a_user,
    acting,
    an_organization,
    creates,
    current,
    execute,
    with_state,
)


def names(events: list[FeedEvent]) -> list[str]:
    return [event.resource_id for event in events]


def tell(place: Somewhere, name: str) -> None:
    with acting(place) as tx:
        append_event(tx, "test", "test", name)


def read(
    place: Somewhere, after: Position | None = None, limit: int = 100, *, reader: UserId | None = None
) -> list[FeedEvent]:
    return read_page(place, after, limit, reader=reader).events


def read_page(
    place: Somewhere, after: Position | None = None, limit: int = 100, *, reader: UserId | None = None
) -> Page:
    with place.engine.connect() as connection:
        start = after or feed_of(connection, place.org_id).floor
        return read_feed(connection, place.org_id, reader or place.owner, start, limit)


def insert(connection: Connection, place: Somewhere, name: str) -> None:
    connection.execute(
        text("""
            insert into events (org_id, kind, resource_type, resource_id, at) values (:o, 'test', 'test', :name, now())
        """),
        {"o": place.org_id, "name": name},
    )


def test_a_transaction_that_commits_late_with_lower_ids_is_not_skipped(engine: Engine) -> None:
    place = an_organization(engine)
    tell(place, "before")
    seen = read(place)
    with engine.connect() as early, engine.connect() as late:
        insert(early, place, "began first")
        insert(late, place, "began second")
        late.commit()
        # The second is committed, but a reader that passed it now would never come back for the first.
        meanwhile = read(place, seen[-1].position)
        assert meanwhile == []
        insert(early, place, "began first, wrote last")
        early.commit()
    after = read(place, seen[-1].position)
    assert names(after) == ["began first", "began first, wrote last", "began second"]


def test_a_transaction_that_rolls_back_is_passed(engine: Engine) -> None:
    place = an_organization(engine)
    with engine.connect() as connection:
        insert(connection, place, "never")
        tell(place, "other")
        assert read(place) == []
        connection.rollback()
    assert names(read(place)) == ["other"]


def test_a_transaction_that_only_reads_holds_nothing_up(engine: Engine) -> None:
    place = an_organization(engine)
    with engine.connect() as reader:
        reader.execute(text("select count(*) from events"))
        tell(place, "at once")
        assert names(read(place)) == ["at once"]


def test_a_reader_that_resumes_at_any_position_reads_every_event_once(engine: Engine) -> None:
    place = an_organization(engine)
    for number in range(10):
        tell(place, str(number))
    everything = read(place)
    assert names(everything) == [str(number) for number in range(10)]
    for limit in (1, 3, 7):
        position, found = None, []
        while page := read(place, position, limit):
            found += page
            position = Position(page[-1].position.epoch, page[-1].position.xid, page[-1].position.id)
        assert found == everything


def test_one_organization_does_not_hear_of_another(engine: Engine) -> None:
    place, elsewhere = an_organization(engine), an_organization(engine)
    tell(place, "mine")
    tell(elsewhere, "theirs")
    assert names(read(place)) == ["mine"]
    assert names(read(elsewhere, replace(read(place)[0].position, id=0, xid=0))) == ["theirs"]


def test_a_publication_tells_of_its_commits_drafts_and_review_by_ids_and_versions(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("a.md", "a body that no event holds\n"))
    told = [(event.kind, event.version) for event in read(place)]
    assert told == [
        ("draft.created", 1),
        ("draft.submitted", 2),
        ("review.submitted", 1),
        ("commit.published", 1),
        ("projection.moved", 1),
        ("draft.merged", 3),
        ("review.merged", 2),
    ]


def told_of(place: Somewhere, draft_id: str, author: UserId | None = None) -> list[tuple[str, int | None]]:
    return [(event.kind, event.version) for event in read(place, reader=author) if event.resource_id == draft_id]


def test_a_base_that_moves_is_told_with_the_version_that_stays(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("mine.md"))
    published(place, creates("theirs.md"))
    a_review(place, draft)
    assert told_of(place, draft.draft_id) == [
        ("draft.created", 1),
        ("draft.base_moved", 1),
        ("draft.submitted", 2),
    ]


def test_what_a_deleted_user_leaves_is_told_at_the_versions_it_has(engine: Engine) -> None:
    place = an_organization(engine)
    author = a_member(place)
    draft = a_draft(place, creates("a.md"), author=author)
    a_review(place, draft)
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        close_user_work(tx, author)
    assert told_of(place, draft.draft_id, author)[-1] == ("draft.discarded", current(place, draft).version)
    assert current(place, draft).status == "discarded"


def a_key(place: Somewhere) -> RequestKey:
    return RequestKey(place.org_id, place.owner, "POST", "/v1/api/projects", "k", "hash of the body")


def test_who_claims_a_key_first_and_the_coordination_row_second_is_told_second(engine: Engine) -> None:
    place = an_organization(engine)
    with acting(place) as keyed:
        assert claim_key(keyed.connection, a_key(place)) is None
        with acting(place) as other:
            lock_coordination(other.connection, place.org_id)
            append_event(other, "test", "test", "had the row first")
        lock_coordination(keyed.connection, place.org_id)
        append_event(keyed, "test", "test", "had the row second")
        keep_answer(keyed.connection, a_key(place), status=201, headers={}, body="{}")
    assert names(read(place)) == ["had the row first", "had the row second"]


WAITERS = text("""
    select a.backend_xid is null from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and not l.granted and a.datname = current_database()
""")


def test_a_command_that_waits_for_the_coordination_row_has_no_number_yet(engine: Engine) -> None:
    place = an_organization(engine)
    operation = a_submit(place, a_draft(place, creates("a.md")))
    with ThreadPoolExecutor(1) as thread:
        with acting(place) as holder, engine.connect() as watcher:
            lock_coordination(holder.connection, place.org_id)
            waiting = thread.submit(carried_out, place, operation)
            while not (seen := list(watcher.execute(WAITERS).scalars())) and not waiting.done():
                time.sleep(0.01)
            assert seen == [True]
        assert waiting.result().status == "succeeded"


def test_what_many_tell_under_the_coordination_row_is_read_in_the_order_of_its_lock(engine: Engine) -> None:
    place = an_organization(engine)

    def tell_often(_: int) -> None:
        for _ in range(25):
            with acting(place) as tx:
                lock_coordination(tx.connection, place.org_id)
                tx.connection.execute(
                    text("update organization_refs set updated_at = now() where org_id = :o"), {"o": place.org_id}
                )
                append_event(tx, "test", "test", "x")

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(tell_often, range(6)))
    drawn_under_the_lock = [event.position.id for event in read(place, limit=1_000)]
    assert len(drawn_under_the_lock) == 150
    assert drawn_under_the_lock == sorted(drawn_under_the_lock)


def tell_often(place: Somewhere, count: int, user_id: UserId) -> None:
    """Tell one user so much that others are not told."""
    execute(
        place,
        """
        insert into events (org_id, kind, resource_type, resource_id, user_id, at)
        select :o, 'test', 'test', cast(n as text), :user_id, now() from generate_series(1, :count) as n
        """,
        user_id=user_id,
        count=count,
    )


def test_who_may_see_little_of_a_long_feed_comes_on_page_by_page(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_pages, "LOOK", 100)
    monkeypatch.setattr(feed_pages, "LOOKING_S", 0.0)
    place = an_organization(engine)
    member = a_user(place)
    tell_often(place, 250, place.owner)
    tell(place, "for all")
    first = read_page(place, reader=member)
    second = read_page(place, first.position, reader=member)
    third = read_page(place, second.position, reader=member)
    assert [names(page.events) for page in (first, second, third)] == [[], [], ["for all"]]
    assert read_page(place, third.position, reader=member) == Page([], third.position)


def test_a_request_goes_on_looking_while_there_is_time(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_pages, "LOOK", 100)
    place = an_organization(engine)
    member = a_user(place)
    tell(place, "before")
    tell_often(place, 250, place.owner)
    tell(place, "after")
    assert names(read(place, reader=member)) == ["before", "after"]


def test_all_who_wait_share_what_one_look_may_read(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_pages, "LOOK", 400)
    place = an_organization(engine)
    members = [a_user(place) for _ in range(4)]
    start = read_page(place).position
    tell_often(place, 250, place.owner)
    tell(place, "for all")
    with engine.connect() as connection:
        until = latest_positions(connection, [place.org_id], start.epoch)[place.org_id]
        asks = [Ask(each, start, 10) for each in members]
        reached = []
        while asks[0].after != until:
            pages = read_for_each(connection, place.org_id, asks, until)
            asks = [replace(ask, after=page.position) for ask, page in zip(asks, pages, strict=True)]
            reached.append([names(page.events) for page in pages])
    assert reached == [[[]] * 4, [[]] * 4, [["for all"]] * 4]


def test_own_drafts_are_looked_for_among_own_events_alone(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_pages, "LOOK", 100)
    monkeypatch.setattr(feed_pages, "LOOKING_S", 0.0)
    place = an_organization(engine)
    author = a_member(place)
    start = read_page(place).position
    tell_often(place, 250, place.owner)
    draft = a_draft(place, author=author)
    with engine.connect() as connection:
        page = read_draft_feed(connection, place.org_id, author, start, 10)
    assert names(page.events) == [draft.draft_id]


def test_path_owners_are_told_of_the_reviews_and_comments_that_they_may_read(engine: Engine) -> None:
    place = an_organization(engine)
    owner, stranger = a_user(place), a_user(place)
    has_path_owners(place, {"docs/**": [owner]})
    touching = a_review(place, a_draft(place, creates("docs/a.md")))
    hidden = a_review(place, a_draft(place, creates("b.md")))
    with acting(place) as tx:
        remarks = [add_comment(tx, each, body="x", anchor=None).comment_id for each in (touching, hidden)]
    told = {event.resource_id for event in read(place, reader=owner)}
    assert told >= {touching, remarks[0]}
    assert told.isdisjoint({hidden, remarks[1], place.project_id})
    assert {touching, remarks[0]}.isdisjoint(names(read(place, reader=stranger)))
    with_state(place, place.project_id, "deleted")
    assert {touching, remarks[0]}.isdisjoint(names(read(place, reader=owner)))
