"""Commands at once, as two workers, two lanes or two people would give them: real threads, real locks."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import pytest
from sqlalchemy import Engine

from activities.closing import close_user_work
from activities.lane import PublicationActivities
from activities.messages import PublishBatch
from models.identifiers import MemoryId, ProjectId, UserId
from models.store.locks import DraftRow, lock_coordination
from models.store.operations import StoredOperation
from tests.commands import (
    a_decision,
    a_merge,
    a_resubmit,
    a_review,
    a_selection,
    a_submit,
    a_withdrawal,
    attempted,
    carried_out,
    decided,
    operation_now,
    published,
)
from tests.invariants import check_invariants
from tests.racing import SUCCEEDED, answer_to, race, together, verdict, verdict_of, without_deadlocks
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    a_project,
    a_user,
    acting,
    an_organization,
    appended,
    creates,
    current,
    discarded,
    ref_of,
    tree,
    updates,
    with_role,
)

AGAIN = 8
ROUNDS = 8


@pytest.fixture
def pool(engine: Engine) -> Iterator[Engine]:
    with without_deadlocks(engine, connections=8) as racing:
        yield racing


# --- two Reviews merged at once


class Meeting(NamedTuple):
    """Two Drafts, whose Reviews are merged at once, and how many of them can be published."""

    drafts: tuple[DraftRow, DraftRow]
    wins: int


def apart(place: Somewhere, number: int, shared: MemoryId) -> Meeting:
    return Meeting((a_draft(place, creates(f"a{number}.md")), a_draft(place, creates(f"b{number}.md"))), 2)


def at_one_path(place: Somewhere, number: int, shared: MemoryId) -> Meeting:
    return Meeting((a_draft(place, creates(f"c{number}.md")), a_draft(place, creates(f"C{number}.md"))), 1)


def file_against_folder(place: Somewhere, number: int, shared: MemoryId) -> Meeting:
    return Meeting((a_draft(place, creates(f"d{number}")), a_draft(place, creates(f"d{number}/e.md"))), 1)


def one_memory(place: Somewhere, number: int, shared: MemoryId) -> Meeting:
    drafts = a_draft(place, updates(shared, f"x{number}\n")), a_draft(place, updates(shared, f"y{number}\n"))
    return Meeting(drafts, 1)


def the_same_change(place: Somewhere, number: int, shared: MemoryId) -> Meeting:
    drafts = a_draft(place, updates(shared, f"z{number}\n")), a_draft(place, updates(shared, f"z{number}\n"))
    return Meeting(drafts, 2)


MEETINGS = (apart, at_one_path, file_against_folder, one_memory, the_same_change)


@pytest.mark.parametrize("trials", [20, pytest.param(1_000, marks=[pytest.mark.long, pytest.mark.timeout(3_600)])])
def test_two_reviews_merged_at_once_are_both_published_in_order_or_one_is_refused(
    engine: Engine, pool: Engine, trials: int
) -> None:
    place = an_organization(pool)
    (shared,) = published(place, creates("shared.md"))
    for number in range(trials):
        meeting = MEETINGS[number % len(MEETINGS)](place, number, shared)
        before, standing = ref_of(place)[1], tree(place) if number % len(MEETINGS) > 2 else {}
        reviews = [a_review(place, draft) for draft in meeting.drafts]
        verdicts = race(place, *(a_merge(place, review_id) for review_id in reviews))
        assert verdicts.count(SUCCEEDED) == meeting.wins, (number, verdicts)
        assert set(verdicts) <= {SUCCEEDED, "reconciliation_required"}
        after = ref_of(place)[1]
        assert after - before == (1 if MEETINGS[number % len(MEETINGS)] is the_same_change else meeting.wins)
        if standing:
            assert tree(place)[shared] != standing[shared]
    check_invariants(engine, place.org_id)


# --- one operation, two workers


def _each_kind(place: Somewhere) -> list[StoredOperation]:
    (one,) = published(place, creates("1.md"))
    other = a_project(place)
    reviews = [a_review(place, a_draft(place, creates(f"{path}.md"))) for path in "abcde"]
    left = current(place, a_draft(place, creates("left.md")))
    resubmitted = a_review(place, left)
    return [
        a_submit(place, a_draft(place, creates("new.md"))),
        a_resubmit(place, resubmitted, a_draft(place, creates("other.md"))),
        a_decision(place, reviews[0], "approved"),
        a_decision(place, reviews[1], "rejected"),
        a_withdrawal(place, reviews[2]),
        a_merge(place, reviews[3]),
        a_selection(place, other, [one]),
    ]


def test_an_operation_carried_out_by_three_workers_at_once_has_one_effect(engine: Engine, pool: Engine) -> None:
    for _ in range(3):
        place = an_organization(pool)
        for operation in _each_kind(place):
            outcomes = together(*[partial(attempted, place, operation)] * 3)
            assert {(outcome.finished, outcome.succeeded) for outcome in outcomes} == {(True, True)}, operation.kind
        check_invariants(engine, place.org_id)


def test_two_lanes_by_accident_do_no_harm(engine: Engine, pool: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("activities.lane._start_to_close_s", lambda: 30.0)
    place = an_organization(pool)
    operations = [a_merge(place, a_review(place, a_draft(place, creates(f"{number}.md")))) for number in range(30)]
    ids = [operation.operation_id for operation in operations]
    lanes = (ids, ids[::-1], [*ids[15:], *ids[:15]])
    batches = [PublishBatch(org_id=place.org_id, operation_ids=tuple(lane)) for lane in lanes]
    lane = PublicationActivities(pool)
    answers = together(*(partial(lane.publish, batch) for batch in batches))
    assert [answer.remaining for answer in answers] == [()] * 3
    assert {verdict(operation_now(place, operation)) for operation in operations} == {SUCCEEDED}
    assert ref_of(place)[1] == 30
    check_invariants(engine, place.org_id)


# --- commands that exclude each other


def test_approve_against_approve(engine: Engine, pool: Engine) -> None:
    place = an_organization(pool)
    admin = a_user(place, "admin")
    for number in range(AGAIN):
        review_id = a_review(place, a_draft(place, creates(f"{number}.md")))
        both = race(
            place, a_decision(place, review_id, "approved"), a_decision(place, review_id, "approved", actor=admin)
        )
        assert sorted(both) == [SUCCEEDED, "version_conflict"]
        assert race(place, *[a_decision(place, review_id, "approved") for _ in range(2)]) == [SUCCEEDED] * 2
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize("ends", ["withdraw", "reject"])
def test_merge_against_the_end_of_the_review(engine: Engine, pool: Engine, ends: str) -> None:
    place = an_organization(pool)
    for number in range(AGAIN):
        review_id = a_review(place, a_draft(place, creates(f"{number}.md")))
        end = a_withdrawal(place, review_id) if ends == "withdraw" else a_decision(place, review_id, "rejected")
        assert sorted(race(place, a_merge(place, review_id), end)) == ["review_closed", SUCCEEDED]
    check_invariants(engine, place.org_id)


def _close_work(place: Somewhere, user_id: UserId) -> None:
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        close_user_work(tx, user_id)


def test_merge_against_the_deletion_of_its_author(engine: Engine, pool: Engine) -> None:
    place = an_organization(pool)
    for number in range(AGAIN):
        author = a_member(place)
        draft = a_draft(place, creates(f"{number}.md"), author=author)
        a_draft(place, creates("open.md"), author=author)
        merge = a_merge(place, a_review(place, draft))

        verdicts = together(partial(verdict_of, place, merge), partial(answer_to, _close_work, place, author))
        assert verdicts in ([SUCCEEDED, SUCCEEDED], ["review_closed", SUCCEEDED])
        assert {current(place, draft).status} <= {"merged", "discarded"}
    check_invariants(engine, place.org_id)


def test_submit_against_append(engine: Engine, pool: Engine) -> None:
    place = an_organization(pool)
    for number in range(AGAIN):
        draft = a_draft(place, creates(f"{number}.md"))
        submit = a_submit(place, draft)
        verdicts = together(
            partial(verdict_of, place, submit),
            partial(answer_to, appended, place, draft, creates("x.md")),
        )
        assert verdicts in ([SUCCEEDED, "precondition_failed"], ["version_conflict", SUCCEEDED])
    check_invariants(engine, place.org_id)


def test_two_submits_of_one_draft(engine: Engine, pool: Engine) -> None:
    place = an_organization(pool)
    for number in range(AGAIN):
        draft = a_draft(place, creates(f"{number}.md"))
        verdicts = race(place, a_submit(place, draft), a_submit(place, draft))
        assert sorted(verdicts) == ["draft_submitted", SUCCEEDED]
    check_invariants(engine, place.org_id)


# --- everything at once


@dataclass(frozen=True)
class Crowd:
    """Who works on what, all at once."""

    place: Somewhere
    shared: list[MemoryId]
    other: ProjectId
    author: UserId
    admin: UserId

    def publish(self, name: str) -> None:
        """Whole Reviews, each of a new Memory and of one that others change too."""
        for number in range(ROUNDS):
            shared = self.shared[number % len(self.shared)]
            draft = a_draft(self.place, creates(f"{name}{number}.md"), updates(shared, f"{name}{number}\n"))
            submit = carried_out(self.place, a_submit(self.place, draft))
            if verdict(submit) == SUCCEEDED and submit.review_id is not None:
                decided(self.place, submit.review_id, "approved", actor=self.admin)
                verdict_of(self.place, a_merge(self.place, submit.review_id))

    def propose(self) -> None:
        """Drafts that grow, are submitted, submitted again, taken out and withdrawn."""
        for number in range(ROUNDS):
            first, second = (a_draft(self.place, creates(f"p{number}{part}.md"), author=self.author) for part in "ab")
            first = appended(self.place, first, updates(self.shared[number % len(self.shared)], "p\n"))
            submit = carried_out(self.place, a_submit(self.place, first, second))
            if verdict(submit) == SUCCEEDED and submit.review_id is not None:
                again = a_resubmit(
                    self.place, submit.review_id, current(self.place, second), current(self.place, first)
                )
                verdict_of(self.place, again)
                discarded(self.place, second)
                verdict_of(self.place, a_withdrawal(self.place, submit.review_id, actor=self.author))

    def select(self) -> None:
        for number in range(2 * ROUNDS):
            verdict_of(self.place, a_selection(self.place, self.other, self.shared[number % len(self.shared) :]))

    def change_roles(self) -> None:
        for number in range(4 * ROUNDS):
            with_role(self.place, self.author, "admin" if number % 2 else "member")


def test_no_deadlock_among_all_commands_appends_selections_and_memberships(engine: Engine, pool: Engine) -> None:
    place = an_organization(pool)
    shared = published(place, *(creates(f"{number}.md") for number in range(6)))
    crowd = Crowd(place, shared, a_project(place), a_member(place), a_user(place, "admin"))
    together(partial(crowd.publish, "x"), partial(crowd.publish, "y"), crowd.propose, crowd.select, crowd.change_roles)
    check_invariants(engine, place.org_id)
