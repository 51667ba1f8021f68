"""Reminder, expiry and scheduled publication: when they are due, and that each happens once (publication.md §4)."""

from datetime import datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import Engine

from models.errors import Forbidden, InternalError, ReviewClosed
from models.identifiers import ReviewId, UserId
from models.store.operations import StoredOperation, fail
from tests.commands import a_merge, a_review, carried_out, decided, merged, resubmitted, review, withdrawn
from tests.invariants import check_invariants
from tests.policies import (
    expires_after,
    forbids_self_approval,
    from_now,
    happened,
    has_path_owners,
    next_timer_at,
    reminds_after,
    requires_approvals,
    scheduled,
    scheduled_merges,
    submitted_at,
    timers_run,
)
from tests.racing import together
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
    fetch,
    refused,
    tree,
    with_role,
    with_state,
)

DAY = 86_400


def events_of(place: Somewhere, kind: str) -> int:
    rows = fetch(place, "select count(*) as n from events where org_id = :o and kind = :k", k=kind)
    return int(rows[0].n)


def a_scheduled_review(place: Somewhere, path: str = "a.md") -> tuple[ReviewId, datetime]:
    """A Review that is to be published in a minute, and when."""
    review_id = a_review(place, a_draft(place, creates(path)))
    at = from_now(60)
    scheduled(place, review_id, at)
    return review_id, at


def a_review_whose_merge_fell_due(
    place: Somewhere, path: str = "a.md", *, by: UserId | None = None
) -> tuple[ReviewId, StoredOperation]:
    """An approved Review at its time, and the merge that its clock made of it."""
    review_id, at = a_scheduled_review(place, path)
    decided(place, review_id, "approved", actor=by)
    timers_run(place, review_id, at=at)
    (merge,) = scheduled_merges(place, review_id)
    return review_id, merge


def test_a_reminder_counts_from_the_latest_submission_and_is_written_once_for_each(engine: Engine) -> None:
    place = an_organization(engine)
    reminds_after(place, 30 * DAY)
    draft = a_draft(place, creates("a.md"))
    review_id = a_review(place, draft)
    due = submitted_at(place, review_id) + timedelta(days=30)
    assert next_timer_at(place, review_id) == due
    timers_run(place, review_id, at=due - timedelta(seconds=1))
    assert review(place, review_id).reminded_submission == 0
    version = review(place, review_id).version
    timers_run(place, review_id, at=due)
    timers_run(place, review_id, at=due)
    assert happened(place, review_id)[1:] == [("reminded", "system", None)]
    assert (events_of(place, "review.reminded"), next_timer_at(place, review_id)) == (1, None)
    assert review(place, review_id).version == version
    resubmitted(place, review_id, current(place, draft))
    assert next_timer_at(place, review_id) == submitted_at(place, review_id) + timedelta(days=30) > due
    check_invariants(engine, place.org_id)


def test_an_expired_review_is_withdrawn_and_its_drafts_reopen(engine: Engine) -> None:
    place = an_organization(engine)
    expires_after(place, DAY)
    draft = a_draft(place, creates("a.md"))
    review_id = a_review(place, draft)
    decided(place, review_id, "approved")
    for _ in range(2):
        timers_run(place, review_id, at=submitted_at(place, review_id) + timedelta(days=1))
    ended = review(place, review_id)
    assert (ended.status, ended.closed_reason, next_timer_at(place, review_id)) == ("withdrawn", "expired", None)
    assert current(place, draft).status == "open"
    assert happened(place, review_id)[-1] == ("expired", "system", None)
    assert events_of(place, "review.expired") == 1
    check_invariants(engine, place.org_id)


def test_a_policy_moves_the_timers_of_open_and_approved_reviews_and_of_no_others(engine: Engine) -> None:
    place = an_organization(engine)
    opened, approved, rejected, gone = (a_review(place, a_draft(place, creates(f"{name}.md"))) for name in "abcd")
    decided(place, approved, "approved")
    decided(place, rejected, "rejected")
    withdrawn(place, gone)
    assert [next_timer_at(place, each) for each in (opened, approved, rejected, gone)] == [None] * 4
    reminds_after(place, DAY)
    expires_after(place, 2 * DAY)
    for each in (opened, approved):
        assert next_timer_at(place, each) == submitted_at(place, each) + timedelta(days=1)
    assert [next_timer_at(place, each) for each in (rejected, gone)] == [None] * 2
    timers_run(place, opened, at=submitted_at(place, opened) + timedelta(days=1))
    assert next_timer_at(place, opened) == submitted_at(place, opened) + timedelta(days=2)
    expires_after(place, None)
    assert next_timer_at(place, opened) is None
    check_invariants(engine, place.org_id)


def test_of_several_timers_that_fell_due_together_each_happens_in_its_order(engine: Engine) -> None:
    place = an_organization(engine)
    reminds_after(place, 1)
    expires_after(place, 2)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    timers_run(place, review_id, at=from_now(DAY))
    assert [event for event, _, _ in happened(place, review_id)] == ["submitted", "reminded", "expired"]


def test_a_review_that_is_approved_when_its_time_comes_is_published_once(engine: Engine) -> None:
    place = an_organization(engine)
    first, last = a_user(place, "admin"), a_user(place, "admin")
    review_id = a_review(place, a_draft(place, creates("a.md", "hello\n")))
    at = from_now(3_600)
    scheduled(place, review_id, at)
    decided(place, review_id, "approved", actor=first)
    decided(place, review_id, "approved", actor=last)
    assert next_timer_at(place, review_id) == at
    together(lambda: timers_run(place, review_id, at=at), lambda: timers_run(place, review_id, at=at))
    (merge,) = scheduled_merges(place, review_id)
    assert (merge.user_id, merge.status, next_timer_at(place, review_id)) == (last, "pending", None)
    assert tree(place) == {}
    assert carried_out(place, merge).status == "succeeded"
    assert carried_out(place, merge).status == "succeeded"
    timers_run(place, review_id, at=at)
    assert len(scheduled_merges(place, review_id)) == 1
    assert (review(place, review_id).status, len(tree(place))) == ("merged", 1)
    assert happened(place, review_id)[-1] == ("merged", last, None)
    check_invariants(engine, place.org_id)


def test_an_approval_that_comes_while_the_merge_waits_does_not_stop_it(engine: Engine) -> None:
    place = an_organization(engine)
    review_id, merge = a_review_whose_merge_fell_due(place)
    decided(place, review_id, "approved", actor=a_user(place, "admin"))
    timers_run(place, review_id, at=from_now(60))
    assert scheduled_merges(place, review_id) == [merge]
    assert carried_out(place, merge).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_what_nobody_approves_is_not_published_by_the_clock(engine: Engine) -> None:
    place = an_organization(engine)
    review_id, at = a_scheduled_review(place)
    version = review(place, review_id).version
    for _ in range(2):
        timers_run(place, review_id, at=at)
    skipped = review(place, review_id)
    assert (skipped.status, skipped.publish_at, skipped.version) == ("open", None, version + 1)
    assert happened(place, review_id)[-1] == ("publish_skipped", "system", "approvals_missing")
    assert (scheduled_merges(place, review_id), tree(place)) == ([], {})
    check_invariants(engine, place.org_id)


def test_a_review_that_a_lowered_policy_left_open_is_not_published_by_the_clock(engine: Engine) -> None:
    place = an_organization(engine)
    requires_approvals(place, 2)
    review_id, at = a_scheduled_review(place)
    decided(place, review_id, "approved")
    requires_approvals(place, 1)
    timers_run(place, review_id, at=at)
    assert happened(place, review_id)[-1] == ("publish_skipped", "system", "approvals_missing")
    scheduled(place, review_id, at)
    decided(place, review_id, "approved")
    timers_run(place, review_id, at=at)
    (merge,) = scheduled_merges(place, review_id)
    assert carried_out(place, merge).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_a_rejected_review_is_skipped_and_a_resubmission_keeps_the_time(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    review_id = a_review(place, draft)
    at = from_now(60)
    scheduled(place, review_id, at)
    decided(place, review_id, "rejected")
    assert next_timer_at(place, review_id) == at
    resubmitted(place, review_id, current(place, draft))
    assert next_timer_at(place, review_id) == at
    decided(place, review_id, "rejected")
    timers_run(place, review_id, at=at)
    assert happened(place, review_id)[-1] == ("publish_skipped", "system", "review_closed")
    assert review(place, review_id).status == "rejected"
    check_invariants(engine, place.org_id)


def test_an_approval_that_no_longer_counts_does_not_publish(engine: Engine) -> None:
    place = an_organization(engine)
    admin = a_user(place, "admin")
    review_id, at = a_scheduled_review(place)
    decided(place, review_id, "approved", actor=admin)
    with_role(place, admin, "member")
    assert review(place, review_id).status == "approved"
    timers_run(place, review_id, at=at)
    assert happened(place, review_id)[-1] == ("publish_skipped", "system", "approvals_missing")
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize("change", ["policy", "role", "archived"])
def test_a_merge_that_fell_due_is_checked_like_any_other_and_skipped_when_refused(engine: Engine, change: str) -> None:
    place = an_organization(engine)
    admin = a_user(place, "admin")
    review_id, merge = a_review_whose_merge_fell_due(place, by=admin)
    if change == "policy":
        requires_approvals(place, 2)
    elif change == "role":
        with_role(place, admin, "member")
    else:
        with_state(place, place.project_id, "archived")
    code = {"policy": "approvals_missing", "role": "not_found", "archived": "project_archived"}[change]
    for _ in range(2):
        refusal = carried_out(place, merge)
        assert (refusal.status, (refusal.problem or {})["code"]) == ("failed", code)
    assert happened(place, review_id)[-1] == ("publish_skipped", "system", code)
    assert [event for event, _, _ in happened(place, review_id)].count("publish_skipped") == 1
    assert (review(place, review_id).publish_at, tree(place)) == (None, {})
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize("later", [None, 7_200.0])
def test_a_merge_whose_time_was_cancelled_or_moved_ends_without_effect(engine: Engine, later: float | None) -> None:
    place = an_organization(engine)
    review_id, merge = a_review_whose_merge_fell_due(place)
    moved = None if later is None else from_now(later)
    scheduled(place, review_id, moved)
    before = (review(place, review_id), happened(place, review_id))
    refusal = carried_out(place, merge)
    assert (refusal.problem or {})["code"] == "version_conflict"
    assert (review(place, review_id), happened(place, review_id)) == before
    assert (before[0].publish_at, next_timer_at(place, review_id), tree(place)) == (moved, moved, {})
    check_invariants(engine, place.org_id)


def test_a_review_that_was_merged_before_its_merge_fell_due_stays_as_it_is(engine: Engine) -> None:
    place = an_organization(engine)
    review_id, merge = a_review_whose_merge_fell_due(place)
    assert merged(place, review_id).status == "succeeded"
    before = happened(place, review_id)
    assert (carried_out(place, merge).problem or {})["code"] == "review_closed"
    assert happened(place, review_id) == before
    check_invariants(engine, place.org_id)


def test_a_direct_merge_and_the_one_that_fell_due_publish_once_between_them(engine: Engine) -> None:
    place = an_organization(engine)
    for number in range(5):
        review_id, due = a_review_whose_merge_fell_due(place, f"{number}.md")
        direct = a_merge(place, review_id)
        outcomes = together(partial(carried_out, place, due), partial(carried_out, place, direct))
        assert sorted(outcome.status for outcome in outcomes) == ["failed", "succeeded"]
    assert len(tree(place)) == 5
    check_invariants(engine, place.org_id)


def test_a_review_does_not_expire_while_its_merge_is_under_way(engine: Engine) -> None:
    place = an_organization(engine)
    expires_after(place, 3_600)
    review_id, _ = a_scheduled_review(place)
    decided(place, review_id, "approved")
    for _ in range(2):
        timers_run(place, review_id, at=from_now(DAY))
    assert review(place, review_id).status == "approved"
    (merge,) = scheduled_merges(place, review_id)
    assert carried_out(place, merge).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_a_review_whose_merge_failed_and_left_it_as_it_was_is_reminded_of_and_expires(engine: Engine) -> None:
    place = an_organization(engine)
    reminds_after(place, 1_800)
    expires_after(place, 3_600)
    review_id, merge = a_review_whose_merge_fell_due(place)
    assert next_timer_at(place, review_id) == submitted_at(place, review_id) + timedelta(seconds=1_800)
    with acting(place) as tx:
        fail(tx, merge.operation_id, InternalError("Neither the merge nor its clean-up could be done."))
    timers_run(place, review_id, at=from_now(DAY))
    assert [event for event, _, _ in happened(place, review_id)][-2:] == ["reminded", "expired"]
    assert (review(place, review_id).status, next_timer_at(place, review_id)) == ("withdrawn", None)
    assert len(scheduled_merges(place, review_id)) == 1


def test_a_merge_that_fails_five_times_for_an_unforeseen_reason_is_skipped(engine: Engine) -> None:
    place = an_organization(engine)
    review_id, merge = a_review_whose_merge_fell_due(place)
    execute(
        place,
        """update operations set request = request || '{"unknown": 1}' where org_id = :o and operation_id = :id""",
        id=merge.operation_id,
    )
    for _ in range(5):
        ended = carried_out(place, merge)
    assert (ended.problem or {})["code"] == "internal_error"
    assert happened(place, review_id)[-1] == ("publish_skipped", "system", "internal_error")
    check_invariants(engine, place.org_id)


def test_a_path_owner_who_approved_last_leaves_the_merge_to_an_admin_who_approved(engine: Engine) -> None:
    place = an_organization(engine)
    owner, admin = a_user(place), a_user(place, "admin")
    has_path_owners(place, {"**": [owner]})
    review_id, at = a_scheduled_review(place)
    decided(place, review_id, "approved", actor=admin)
    decided(place, review_id, "approved", actor=owner)
    timers_run(place, review_id, at=at)
    (merge,) = scheduled_merges(place, review_id)
    assert merge.user_id == admin
    assert carried_out(place, merge).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_path_owners_alone_do_not_publish(engine: Engine) -> None:
    place = an_organization(engine)
    owner = a_user(place)
    has_path_owners(place, {"**": [owner]})
    review_id, merge = a_review_whose_merge_fell_due(place, by=owner)
    carried_out(place, merge)
    assert happened(place, review_id)[-1] == ("publish_skipped", "system", "forbidden")
    check_invariants(engine, place.org_id)


def test_the_authors_own_approval_does_not_publish_where_the_policy_asks_for_somebody_else(engine: Engine) -> None:
    place = an_organization(engine)
    review_id, at = a_scheduled_review(place)
    decided(place, review_id, "approved")
    forbids_self_approval(place)
    timers_run(place, review_id, at=at)
    assert happened(place, review_id)[-1] == ("publish_skipped", "system", "approvals_missing")
    check_invariants(engine, place.org_id)


def test_the_author_owners_and_admins_schedule_and_nobody_else(engine: Engine) -> None:
    place = an_organization(engine)
    author, other = a_member(place), a_member(place, "admin")
    review_id = a_review(place, a_draft(place, creates("a.md"), author=author))
    scheduled(place, review_id, from_now(60), actor=author)
    scheduled(place, review_id, from_now(70), actor=place.owner)
    assert isinstance(refused(lambda: scheduled(place, review_id, None, actor=other)), Forbidden)
    withdrawn(place, review_id)
    assert isinstance(refused(lambda: scheduled(place, review_id, None)), ReviewClosed)


def test_the_same_time_again_changes_nothing(engine: Engine) -> None:
    place = an_organization(engine)
    review_id, at = a_scheduled_review(place)
    before = review(place, review_id)
    scheduled(place, review_id, at)
    assert review(place, review_id) == before


def test_the_timers_of_a_review_that_is_not_there_do_nothing(engine: Engine) -> None:
    place, elsewhere = an_organization(engine), an_organization(engine)
    expires_after(place, 1)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    timers_run(elsewhere, review_id, at=from_now(DAY))
    assert review(place, review_id).status == "open"
