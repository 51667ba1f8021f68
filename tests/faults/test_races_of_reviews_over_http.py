"""Two requests about one Review that leave at the same moment: one of the allowed outcomes each time, no deadlock."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import httpx
import pytest
from sqlalchemy import Engine

from activities.accepting import ProposedOperation
from models.identifiers import OrganizationId, ReviewId
from models.store.locks import DraftRow
from tests import commands, policies, rows
from tests.client import Client, Json, Organization, a_person, a_project, an_organization
from tests.faults.test_races_over_http import deadlocks_logged
from tests.installation import until
from tests.invariants import check_invariants
from tests.load import place_of
from tests.proposals import decide, merge, reread, resubmit, select
from tests.racing import together
from tests.rebasing import a_candidate
from tests.reconciliation_over_http import rebase
from tests.rows import creates, updates
from tests.stack import Stack

pytestmark = pytest.mark.usefixtures("worker")

FEW, MANY = 4, 40
SOON_S = 0.3
DONE = "200"


@dataclass(frozen=True)
class Desk:
    """An organization over HTTP, and the same where Drafts and Reviews are made ready without the servers."""

    organization: Organization
    place: rows.Somewhere

    @property
    def owner(self) -> Client:
        return self.organization.owner

    def draft(self, *operations: ProposedOperation) -> DraftRow:
        return rows.a_draft(self.place, *operations)

    def review(self, *drafts: DraftRow) -> Json:
        """Submitted; only what requests about it name."""
        review_id = commands.a_review(self.place, *drafts)
        return {"review_id": review_id, "version": commands.review(self.place, review_id).version, "submissions": []}


class Race(NamedTuple):
    """Two requests at once, and the pairs of answers that they may have."""

    one: Callable[[], httpx.Response]
    other: Callable[[], httpx.Response]
    allowed: frozenset[tuple[str, str]]


def named(draft: DraftRow) -> Json:
    return {"draft_id": draft.draft_id, "version": draft.version}


def pairs(*allowed: tuple[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(allowed)


def approve_against_a_new_submission(desk: Desk, number: int) -> Race:
    review = desk.review(desk.draft(creates(f"{number}.md")))
    draft = named(desk.draft(creates(f"x{number}.md")))
    return Race(
        partial(decide, desk.owner, review, "approved"),
        partial(resubmit, desk.owner, review, draft),
        pairs((DONE, "version_conflict"), ("version_conflict", DONE)),
    )


def merge_against_a_discard(desk: Desk, number: int) -> Race:
    draft = desk.draft(creates(f"{number}.md"))
    others = [desk.draft(creates(f"x{number}.md"))] if number % 2 else []
    review = desk.review(draft, *others)
    return Race(
        partial(merge, desk.owner, review),
        partial(desk.owner.delete, f"/drafts/{draft.draft_id}"),
        pairs((DONE, "draft_closed"), ("version_conflict" if others else "review_closed", DONE)),
    )


def merge_against_a_selection(desk: Desk, number: int) -> Race:
    (memory_id,) = commands.published(desk.place, creates(f"{number}.md"))
    review = desk.review(desk.draft(updates(memory_id, "changed\n")))
    return Race(
        partial(merge, desk.owner, review),
        partial(select, desk.owner, desk.place.project_id, []),
        pairs((DONE, DONE), (DONE, "selection_in_use"), (DONE, "precondition_failed")),
    )


def merge_against_the_loss_of_its_actors_role(desk: Desk, number: int) -> Race:
    admin = a_person(desk.organization, "admin")
    review = desk.review(desk.draft(creates(f"{number}.md")))
    return Race(
        partial(merge, admin.client, review),
        partial(desk.owner.patch, f"/admin/users/{admin.user_id}", {"role": "member"}),
        pairs((DONE, DONE), ("not_found", DONE)),
    )


def merge_against_a_rebase(desk: Desk, number: int) -> Race:
    (memory_id,) = commands.published(desk.place, creates(f"{number}.md", "a\nb\nc\n"))
    draft = desk.draft(updates(memory_id, "ours\nb\nc\n"))
    review = desk.review(draft)
    commands.published(desk.place, updates(memory_id, "a\nb\ntheirs\n"))
    draft = rows.current(desk.place, draft)
    return Race(
        partial(merge, desk.owner, review),
        partial(rebase, desk.owner, named(draft), a_candidate(desk.place, draft)),
        pairs(("reconciliation_required", DONE), ("version_conflict", DONE)),
    )


def merge_against_its_scheduled_publication(desk: Desk, number: int) -> Race:
    """Whoever comes first, it is published once."""
    review = desk.review(desk.draft(creates(f"{number}.md")))
    review_id = ReviewId(str(review["review_id"]))
    commands.decided(desk.place, review_id, "approved")
    policies.scheduled(desk.place, review_id, policies.from_now(SOON_S))
    review["version"] = commands.review(desk.place, review_id).version

    def merge_at_about_that_time() -> httpx.Response:
        time.sleep(random.uniform(SOON_S * 0.8, SOON_S * 1.6))  # noqa: S311
        return merge(desk.owner, review)

    def wait_for_the_publication() -> httpx.Response:
        until(lambda: reread(desk.owner, review)["status"] == "merged")
        return desk.owner.get(f"/reviews/{review_id}")

    return Race(merge_at_about_that_time, wait_for_the_publication, pairs((DONE, DONE), ("review_closed", DONE)))


def two_merges_of_a_shared_draft(desk: Desk, number: int) -> Race:
    """The Draft is in one Review, and the other one, which was rejected, takes it back."""
    draft = desk.draft(creates(f"{number}.md"))
    rejected = desk.review(draft)
    commands.decided(desk.place, ReviewId(str(rejected["review_id"])), "rejected")
    review = desk.review(rows.current(desk.place, draft))

    def take_back_and_merge() -> httpx.Response:
        present = reread(desk.owner, rejected)
        taken = resubmit(desk.owner, present, named(rows.current(desk.place, draft)))
        return merge(desk.owner, taken.json()) if taken.status_code == httpx.codes.OK else taken

    return Race(
        partial(merge, desk.owner, review),
        take_back_and_merge,
        pairs((DONE, "draft_submitted"), (DONE, "draft_closed")),
    )


RACES = (
    approve_against_a_new_submission,
    merge_against_a_discard,
    merge_against_a_selection,
    merge_against_the_loss_of_its_actors_role,
    merge_against_a_rebase,
    merge_against_its_scheduled_publication,
    two_merges_of_a_shared_draft,
)


def answer_of(response: httpx.Response) -> str:
    return DONE if response.status_code == httpx.codes.OK else str(response.json()["code"])


@pytest.mark.parametrize("trials", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
@pytest.mark.parametrize("arrange", RACES, ids=lambda arrange: arrange.__name__)
def test_a_race_has_one_of_its_allowed_outcomes(
    stack: Stack, engine: Engine, api: Client, arrange: Callable[[Desk, int], Race], trials: int
) -> None:
    organization = an_organization(api)
    desk = Desk(organization, place_of(engine, organization, a_project(organization.owner)))
    before = deadlocks_logged(stack)
    for number in range(trials):
        race = arrange(desk, number)
        one, other = map(answer_of, together(race.one, race.other))
        assert (one, other) in race.allowed, (number, one, other)
    assert deadlocks_logged(stack) == before
    check_invariants(engine, OrganizationId(organization.organization_id))
