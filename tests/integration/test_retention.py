"""Retention: what is past it goes, in small steps, what is not stays, and nothing else is the worse for it."""

from collections.abc import Mapping
from datetime import datetime, timedelta, tzinfo

import orjson
import pytest
from sqlalchemy import Engine

from activities import retention
from activities.messages import RetentionTurn
from activities.retention import RetentionActivities, Step
from models.errors import ReviewClosed
from models.identifiers import DraftId
from models.rules.candidates import candidate_id_of
from models.rules.conflicts import ENGINE
from models.settings import Settings
from models.store.feed import feed_of
from models.store.feed_pages import read_feed
from models.store.import_views import import_body
from models.store.imports import insert_import, stage_files
from tests.commands import a_merge, a_review, attempted, carried_out, problem_of, published
from tests.imports import a_file, an_import, drafted, finished, planned, row_of_import
from tests.invariants import check_invariants
from tests.rows import Somewhere, a_draft, acting, an_organization, appended, creates, discarded, execute, fetch

OLD, RECENT = "31 days", "29 days"


def removed(engine: Engine) -> RetentionTurn:
    """A whole run, as the workflow makes it."""
    turn = RetentionTurn()
    while turn.step != Step.DONE:
        turn = RetentionActivities(engine, Settings()).remove_expired(turn)
    return turn


def count(place: Somewhere, table: str) -> int:
    (row,) = fetch(place, f"select count(*) as rows from {table} where org_id = :o")  # noqa: S608
    return int(row.rows)


def aged(place: Somewhere, table: str, column: str, by: str) -> None:
    execute(place, f"update {table} set {column} = {column} - cast(:by as interval) where org_id = :o", by=by)  # noqa: S608


def told(place: Somewhere) -> list[str]:
    with place.engine.connect() as connection:
        start = feed_of(connection, place.org_id).floor
        return [event.kind for event in read_feed(connection, place.org_id, place.owner, start, 1_000).events]


def a_key(place: Somewhere, key: str, age: str) -> None:
    execute(
        place,
        """
        insert into idempotency_keys (org_id, user_id, method, path, key, body_hash, status, headers, body, created_at)
        values (:o, 'usr', 'POST', '/x', :key, 'h', 200, '{}', '{}', now() - cast(:age as interval))
        """,
        key=key,
        age=age,
    )


def test_a_key_goes_after_7_days(engine: Engine) -> None:
    place = an_organization(engine)
    a_key(place, "old", "7 days 1 minute")
    a_key(place, "recent", "6 days 23 hours")
    removed(engine)
    assert [row.key for row in fetch(place, "select key from idempotency_keys where org_id = :o")] == ["recent"]


@pytest.mark.parametrize(("age", "left"), [(OLD, 0), (RECENT, 2)])
def test_an_operation_goes_when_its_outcome_is_past_retention(engine: Engine, age: str, left: int) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    carried_out(place, a_merge(place, review_id))
    aged(place, "operations", "updated_at", age)
    removed(engine)
    assert count(place, "operations") == left


def test_an_operation_that_has_no_outcome_stays_however_old(engine: Engine) -> None:
    place = an_organization(engine)
    operation = a_merge(place, a_review(place, a_draft(place, creates("a.md"))))
    aged(place, "operations", "updated_at", OLD)
    removed(engine)
    assert count(place, "operations") == 1
    assert attempted(place, operation).succeeded


def test_a_merge_that_comes_again_after_its_operation_is_gone_merges_nothing(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    operation = a_merge(place, review_id)
    assert attempted(place, operation).succeeded
    aged(place, "operations", "updated_at", OLD)
    removed(engine)
    delivered_again = attempted(place, operation)
    assert (delivered_again.finished, delivered_again.succeeded) == (True, False)
    assert problem_of(carried_out(place, a_merge(place, review_id)))["code"] == ReviewClosed.code
    assert count(place, "commits") == 2  # the organization's and the project's


@pytest.mark.parametrize("outcome", ["succeeded", "failed"])
def test_an_import_tells_its_outcome_after_its_operation_is_gone(engine: Engine, outcome: str) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"))
    if outcome == "failed":
        execute(place, "update projects set state = 'archived' where org_id = :o")
        planned(place, operation)
    else:
        drafted(place, operation)
        assert finished(place, operation)
    aged(place, "operations", "updated_at", OLD)
    removed(engine)
    with engine.connect() as connection:
        body = import_body(connection, row_of_import(place, operation))
    assert (body.status, body.progress.step, body.operation_id) == (outcome, outcome, operation.operation_id)
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize(("age", "left"), [(OLD, 0), (RECENT, 1)])
def test_an_import_that_nobody_starts_goes_with_all_that_is_staged(engine: Engine, age: str, left: int) -> None:
    place = an_organization(engine)
    with acting(place) as tx:
        row = insert_import(tx, project_id=place.project_id, title="T", mirror=False, prefix="", source="s")
        assert row is not None
        stage_files(tx, row.import_id, [a_file("a.md"), a_file("b.md")])
    aged(place, "imports", "updated_at", age)
    removed(engine)
    assert (count(place, "imports"), count(place, "import_files")) == (left, 2 * left)


def test_an_import_that_was_started_stays_however_old(engine: Engine) -> None:
    place = an_organization(engine)
    an_import(place, a_file("a.md"))
    aged(place, "imports", "updated_at", OLD)
    removed(engine)
    assert (count(place, "imports"), count(place, "import_files")) == (1, 1)


def a_candidate(
    place: Somewhere,
    draft_id: str,
    age: str,
    *,
    current: int = 1,
    after: Mapping[str, int] | None = None,
    text: str = "",
) -> str:
    """A candidate of a Draft's first version, after other Drafts at their versions."""
    siblings = [{"draft_id": name, "draft_version": version} for name, version in (after or {}).items()]
    candidate_id = candidate_id_of(DraftId(draft_id), f"{age} {current} {siblings} {text}")
    execute(
        place,
        """
        insert into reconciliation_candidates
            (org_id, candidate_id, draft_id, draft_version, base_version, current_version, siblings, built_on,
             binding, reconciliation, memories, conflicts, engine, created_at)
        values (:o, :candidate_id, :draft_id, 1, 0, :current, cast(:siblings as jsonb), '[]', :candidate_id,
                'conflicts', '[]', '[]', :engine, now() - cast(:age as interval))
        """,
        candidate_id=candidate_id,
        draft_id=draft_id,
        current=current,
        siblings=orjson.dumps(siblings).decode(),
        engine=ENGINE,
        age=age,
    )
    return candidate_id


def candidates(place: Somewhere) -> set[str]:
    return {
        row.candidate_id for row in fetch(place, "select candidate_id from reconciliation_candidates where org_id = :o")
    }


def test_a_candidate_goes_once_its_draft_has_changed_or_closed_or_has_a_later_one(engine: Engine) -> None:
    place = an_organization(engine)
    live, changed, closed = (a_draft(place, creates(f"{name}.md")) for name in "abc")
    superseded = a_candidate(place, live.draft_id, "9 days", current=1)
    kept = a_candidate(place, live.draft_id, "8 days", current=2)
    gone = [a_candidate(place, draft.draft_id, "8 days") for draft in (changed, closed)]
    recent = a_candidate(place, changed.draft_id, "6 days")
    appended(place, changed, creates("d.md"))
    discarded(place, closed)
    assert candidates(place) == {superseded, kept, recent, *gone}
    removed(engine)
    assert candidates(place) == {kept, recent}


def test_a_candidate_that_a_rebase_takes_stays_although_others_came_later(engine: Engine) -> None:
    place = an_organization(engine)
    earlier, draft = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    alone = a_candidate(place, draft.draft_id, "12 days", current=2)
    straggler = a_candidate(place, draft.draft_id, "11 days", current=1)
    outdated = a_candidate(place, draft.draft_id, "10 days", current=2, after={earlier.draft_id: 1})
    after_it = a_candidate(place, draft.draft_id, "9 days", current=2, after={earlier.draft_id: 2})
    same_again = a_candidate(place, draft.draft_id, "8 days", current=2, after={earlier.draft_id: 2}, text="other")
    assert candidates(place) == {alone, straggler, outdated, after_it, same_again}
    removed(engine)
    assert candidates(place) == {alone, after_it, same_again}


def test_the_feed_is_cut_at_its_beginning_and_its_floor_is_the_last_event_that_went(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("a.md"))
    last = fetch(
        place, "select xid::text as xid, id, at from events where org_id = :o order by xid desc, id desc limit 1"
    )
    aged(place, "events", "at", OLD)
    a_draft(place, creates("b.md"))
    removed(engine)
    assert told(place) == ["draft.created"]
    (floor,) = fetch(place, "select xid::text as xid, id, at from feed_floors where org_id = :o")
    assert (floor.xid, floor.id, floor.at) == (last[0].xid, last[0].id, last[0].at - timedelta(days=31))
    removed(engine)
    assert told(place) == ["draft.created"]


def test_an_event_that_comes_after_one_that_stays_stays_too(engine: Engine) -> None:
    place = an_organization(engine)
    a_draft(place, creates("a.md"))
    a_draft(place, creates("b.md"))
    execute(
        place,
        """
        update events set at = at - interval '31 days'
        where org_id = :o and id = (select max(id) from events where org_id = :o)
        """,
    )
    removed(engine)
    assert told(place) == ["draft.created", "draft.created"]
    assert count(place, "feed_floors") == 0


def test_an_event_that_no_reader_may_read_yet_is_left(engine: Engine) -> None:
    place = an_organization(engine)
    with acting(place) as open_transaction:
        open_transaction.connection.exec_driver_sql("select pg_current_xact_id()")
        a_draft(place, creates("a.md"))
        aged(place, "events", "at", OLD)
        removed(engine)
        assert count(place, "events") == 1
    removed(engine)
    assert count(place, "events") == 0


def test_a_long_past_goes_in_many_small_steps(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 3)
    monkeypatch.setattr(retention, "TURN_S", 0.0)
    place, other = an_organization(engine), an_organization(engine)
    for each in (place, other):
        for number in range(5):
            a_draft(each, creates(f"{number}.md"))
            a_key(each, str(number), "8 days")
        aged(each, "events", "at", OLD)
        a_draft(each, creates("recent.md"))
    turn = RetentionActivities(engine, Settings()).remove_expired(RetentionTurn())
    assert turn == RetentionTurn()  # its time was over before it began
    monkeypatch.setattr(retention, "TURN_S", 0.01)
    removed(engine)
    assert [told(each) for each in (place, other)] == [["draft.created"]] * 2
    assert count(place, "idempotency_keys") == count(other, "idempotency_keys") == 0


class LongAgo(datetime):
    """The clock of a process that ran a month and a day ago."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) - timedelta(days=31)


def test_verification_finds_nothing_after_retention_and_finds_what_is_damaged_all_the_same(engine: Engine) -> None:
    place = an_organization(engine)
    with pytest.MonkeyPatch.context() as then:
        for module in ("activities.boundary", "models.store.transaction"):
            then.setattr(f"{module}.datetime", LongAgo)
        published(place, creates("a.md"))
        discarded(place, a_draft(place, creates("c.md")))
    published(place, creates("b.md"))
    check_invariants(engine, place.org_id)
    everything = count(place, "events"), count(place, "operations")
    removed(engine)
    assert (count(place, "events"), count(place, "operations")) < everything
    assert "commit.published" in told(place)
    check_invariants(engine, place.org_id)
    execute(place, "delete from events where org_id = :o and kind = 'commit.published'")
    execute(place, "delete from operations where org_id = :o and kind = 'review.merge'")
    with pytest.raises(AssertionError, match="followers are not told of a commit once") as found:
        check_invariants(engine, place.org_id)
    assert "merges that succeeded do not go with a Review that is merged" in str(found.value)
