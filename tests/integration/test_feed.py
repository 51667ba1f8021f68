"""The change feed never skips, whatever order transactions commit in (architecture.md §3)."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from sqlalchemy import Connection, Engine, text

from activities.closing import close_user_work
from models.store.events import FeedEvent, Position, append_event, beginning, read_events
from models.store.idempotency import RequestKey, claim_key, keep_answer
from models.store.locks import lock_coordination
from tests.commands import a_review, a_submit, carried_out, published
from tests.rows import Somewhere, a_draft, a_member, acting, an_organization, creates, current


def names(events: list[FeedEvent]) -> list[str]:
    return [event.resource_id for event in events]


def tell(place: Somewhere, name: str) -> None:
    with acting(place) as tx:
        append_event(tx, "test", "test", name)


def read(place: Somewhere, after: Position | None = None, limit: int = 100) -> list[FeedEvent]:
    with place.engine.connect() as connection:
        return read_events(connection, place.org_id, after or beginning(connection), limit)


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


def told_of(place: Somewhere, draft_id: str) -> list[tuple[str, int | None]]:
    return [(event.kind, event.version) for event in read(place) if event.resource_id == draft_id]


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
    assert told_of(place, draft.draft_id)[-1] == ("draft.discarded", current(place, draft).version)
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
