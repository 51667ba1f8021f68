"""Two things that happen to a Review at once, made ready for a number of its own, and what may come of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from models.identifiers import MemoryId, ReviewId
from models.store.locks import DraftRow
from models.store.operations import StoredOperation
from tests.commands import (
    a_decision,
    a_merge,
    a_resubmit,
    a_review,
    a_selection,
    carried_out,
    decided,
    published,
    review,
    submitted,
)
from tests.policies import expires_after, from_now, scheduled, scheduled_merges, timers_run
from tests.racing import SUCCEEDED, answer_to, verdict, verdict_of
from tests.rebasing import a_candidate, a_rebase
from tests.rows import (
    Somewhere,
    a_draft,
    a_user,
    creates,
    current,
    deletes,
    discarded,
    restores,
    tree,
    updates,
    with_role,
)

NOTHING = "nothing"
"""The verdict of a timer that made no merge."""

LINES = "a\nb\nc\n"


@dataclass(frozen=True)
class Ready:
    """What happens at once, the pairs of verdicts that may come of it, and what has to hold afterwards."""

    one: Callable[[], str]
    other: Callable[[], str]
    allowed: frozenset[tuple[str, str]]
    holds: Callable[[str, str], bool] = lambda _one, _other: True


Arrangement = Callable[[Somewhere, int], Ready]


def approve_against_a_new_submission(place: Somewhere, number: int) -> Ready:
    review_id = a_review(place, a_draft(place, creates(f"{number}.md")))
    approve = a_decision(place, review_id, "approved")
    resubmit = a_resubmit(place, review_id, a_draft(place, creates(f"x{number}.md")))
    return Ready(
        partial(verdict_of, place, approve),
        partial(verdict_of, place, resubmit),
        frozenset({(SUCCEEDED, "version_conflict"), ("version_conflict", SUCCEEDED)}),
        lambda approved, _: review(place, review_id).status == ("approved" if approved == SUCCEEDED else "open"),
    )


def approve_against_a_rebase(place: Somewhere, number: int) -> Ready:
    """Of every second one the result stays equal, and with it an approval that came before."""
    stays_equal = bool(number % 2)
    review_id, rebase = _a_rebase_of_a_review(place, number, stays_equal=stays_equal)
    approve = a_decision(place, review_id, "approved")

    def holds(approved: str, _: str) -> bool:
        status = "approved" if approved == SUCCEEDED and stays_equal else "open"
        return (review(place, review_id).status, review(place, review_id).submission) == (status, 2)

    return Ready(
        partial(verdict_of, place, approve),
        partial(verdict_of, place, rebase),
        frozenset({(SUCCEEDED, SUCCEEDED), ("version_conflict", SUCCEEDED)}),
        holds,
    )


def merge_against_a_rebase(place: Somewhere, number: int) -> Ready:
    """Of every second one the result stays equal, and the merge may come first."""
    stays_equal = bool(number % 2)
    review_id, rebase = _a_rebase_of_a_review(place, number, stays_equal=stays_equal)
    merge_first = (SUCCEEDED, "draft_closed") if stays_equal else ("reconciliation_required", SUCCEEDED)
    return Ready(
        partial(verdict_of, place, a_merge(place, review_id)),
        partial(verdict_of, place, rebase),
        frozenset({merge_first, ("version_conflict", SUCCEEDED)}),
        lambda merged, _: review(place, review_id).status == ("merged" if merged == SUCCEEDED else "open"),
    )


def _a_rebase_of_a_review(place: Somewhere, number: int, *, stays_equal: bool) -> tuple[ReviewId, StoredOperation]:
    (memory_id,) = published(place, creates(f"{number}.md", LINES))
    draft = a_draft(place, updates(memory_id, "ours\nb\nc\n"))
    review_id = a_review(place, draft)
    published(place, creates(f"x{number}.md") if stays_equal else updates(memory_id, "a\nb\ntheirs\n"))
    draft = current(place, draft)
    return review_id, a_rebase(place, draft, a_candidate(place, draft))


def merge_against_a_discard(place: Somewhere, number: int) -> Ready:
    """Of every second one another Draft is left in the Review."""
    draft = a_draft(place, creates(f"{number}.md"))
    others = [a_draft(place, creates(f"x{number}.md"))] if number % 2 else []
    review_id = a_review(place, draft, *others)
    return Ready(
        partial(verdict_of, place, a_merge(place, review_id)),
        partial(answer_to, discarded, place, draft),
        frozenset({(SUCCEEDED, "draft_closed"), ("version_conflict" if others else "review_closed", SUCCEEDED)}),
        lambda merged, _: current(place, draft).status == ("merged" if merged == SUCCEEDED else "discarded"),
    )


def merge_against_a_selection_that_drops_what_it_changes(place: Somewhere, number: int) -> Ready:
    (one,) = published(place, creates(f"{number}.md"))
    review_id = a_review(place, a_draft(place, updates(one, "changed\n")))
    kept = [memory_id for memory_id in tree(place) if memory_id != one]

    def holds(_one: str, _other: str) -> bool:
        carried_out(place, a_selection(place, place.project_id, list(tree(place))))
        return tree(place)[one][2] == "changed\n"

    return Ready(
        partial(verdict_of, place, a_merge(place, review_id)),
        partial(verdict_of, place, a_selection(place, place.project_id, kept)),
        frozenset({(SUCCEEDED, SUCCEEDED), (SUCCEEDED, "selection_in_use")}),
        holds,
    )


def merge_against_a_selection_of_other_memories(place: Somewhere, number: int) -> Ready:
    """Both change what the project shows; the selection was made for a revision that the merge may have left."""
    one, two = published(place, creates(f"1/{number}.md"), creates(f"2/{number}.md"))
    review_id = a_review(place, a_draft(place, creates(f"x{number}.md")))
    chosen = [memory_id for memory_id in tree(place) if memory_id not in (one, two)]
    return Ready(
        partial(verdict_of, place, a_merge(place, review_id)),
        partial(verdict_of, place, a_selection(place, place.project_id, chosen)),
        frozenset({(SUCCEEDED, SUCCEEDED), (SUCCEEDED, "version_conflict")}),
    )


def merge_against_the_loss_of_its_actors_role(place: Somewhere, number: int) -> Ready:
    admin = a_user(place, "admin")
    merge = a_merge(place, a_review(place, a_draft(place, creates(f"{number}.md"))), actor=admin)
    return Ready(
        partial(verdict_of, place, merge),
        partial(answer_to, with_role, place, admin, "member"),
        frozenset({(SUCCEEDED, SUCCEEDED), ("not_found", SUCCEEDED)}),
    )


def merge_against_its_scheduled_publication(place: Somewhere, number: int) -> Ready:
    review_id = _scheduled(place, number)
    return Ready(
        partial(verdict_of, place, a_merge(place, review_id)),
        partial(_falls_due, place, review_id),
        frozenset({(SUCCEEDED, NOTHING), (SUCCEEDED, "review_closed"), ("review_closed", SUCCEEDED)}),
        lambda _one, _other: review(place, review_id).status == "merged",
    )


def a_scheduled_publication_against_its_end(place: Somewhere, number: int) -> Ready:
    review_id = _scheduled(place, number)
    return Ready(
        partial(_falls_due, place, review_id),
        partial(answer_to, scheduled, place, review_id, None),
        frozenset(
            {
                (NOTHING, SUCCEEDED),
                ("version_conflict", SUCCEEDED),
                (SUCCEEDED, "review_closed"),
                (SUCCEEDED, "precondition_failed"),
            }
        ),
        lambda published_, _: review(place, review_id).status == ("merged" if published_ == SUCCEEDED else "approved"),
    )


def _scheduled(place: Somewhere, number: int) -> ReviewId:
    """An approved Review that is published when its time comes."""
    review_id = a_review(place, a_draft(place, creates(f"{number}.md")))
    decided(place, review_id, "approved")
    scheduled(place, review_id, from_now(3_600))
    return review_id


def _falls_due(place: Somewhere, review_id: ReviewId) -> str:
    timers_run(place, review_id, at=from_now(3_600))
    merges = scheduled_merges(place, review_id)
    return verdict_of(place, merges[0]) if merges else NOTHING


def merge_against_its_expiry(place: Somewhere, number: int) -> Ready:
    if number == 0:
        expires_after(place, 3_600)
    review_id = a_review(place, a_draft(place, creates(f"{number}.md")))
    expiry = from_now(3_600)
    return Ready(
        partial(verdict_of, place, a_merge(place, review_id)),
        partial(answer_to, partial(timers_run, at=expiry), place, review_id),
        frozenset({(SUCCEEDED, SUCCEEDED), ("review_closed", SUCCEEDED)}),
        lambda merged, _: review(place, review_id).status == ("merged" if merged == SUCCEEDED else "withdrawn"),
    )


def two_merges_of_one_review(place: Somewhere, number: int) -> Ready:
    review_id = a_review(place, a_draft(place, creates(f"{number}.md")))
    admin = a_user(place, "admin")
    return Ready(
        partial(verdict_of, place, a_merge(place, review_id)),
        partial(verdict_of, place, a_merge(place, review_id, actor=admin)),
        frozenset({(SUCCEEDED, "review_closed"), ("review_closed", SUCCEEDED)}),
    )


def two_reviews_of_one_draft_submitted_and_merged(place: Somewhere, number: int) -> Ready:
    draft = a_draft(place, creates(f"{number}.md"))
    refused = ("draft_submitted", "draft_closed")
    return Ready(
        partial(_submitted_and_merged, place, draft),
        partial(_submitted_and_merged, place, draft),
        frozenset({pair for code in refused for pair in ((SUCCEEDED, code), (code, SUCCEEDED))}),
        lambda _one, _other: current(place, draft).status == "merged",
    )


def _submitted_and_merged(place: Somewhere, draft: DraftRow) -> str:
    submit = submitted(place, draft)
    if verdict(submit) != SUCCEEDED or submit.review_id is None:
        return verdict(submit)
    return verdict_of(place, a_merge(place, submit.review_id))


def a_merge_against_another_review_that_takes_its_draft(place: Somewhere, number: int) -> Ready:
    """The other Review was rejected, which set the Draft free."""
    draft = a_draft(place, creates(f"{number}.md"))
    rejected = a_review(place, draft)
    decided(place, rejected, "rejected")
    review_id = a_review(place, current(place, draft))
    return Ready(
        partial(verdict_of, place, a_merge(place, review_id)),
        partial(verdict_of, place, a_resubmit(place, rejected, current(place, draft))),
        frozenset({(SUCCEEDED, "draft_submitted"), (SUCCEEDED, "draft_closed")}),
    )


def two_restores_of_one_memory(place: Somewhere, number: int) -> Ready:
    """Of every second one both bring back the same, and agree."""
    agree = bool(number % 2)
    memory_id = _deleted(place, number)
    texts = ("again\n", "again\n" if agree else "otherwise\n")
    one, other = (a_review(place, a_draft(place, restores(memory_id, content=text))) for text in texts)
    refused = "reconciliation_required"
    allowed = {(SUCCEEDED, SUCCEEDED)} if agree else {(SUCCEEDED, refused), (refused, SUCCEEDED)}
    return Ready(
        partial(verdict_of, place, a_merge(place, one)),
        partial(verdict_of, place, a_merge(place, other)),
        frozenset(allowed),
        lambda merged, _: tree(place)[memory_id][2] == texts[0 if merged == SUCCEEDED else 1],
    )


def a_restore_against_a_create_at_its_path(place: Somewhere, number: int) -> Ready:
    memory_id = _deleted(place, number)
    restoring = a_review(place, a_draft(place, restores(memory_id)))
    creating = a_review(place, a_draft(place, creates(f"{number}.MD")))
    refused = "reconciliation_required"
    return Ready(
        partial(verdict_of, place, a_merge(place, restoring)),
        partial(verdict_of, place, a_merge(place, creating)),
        frozenset({(SUCCEEDED, refused), (refused, SUCCEEDED)}),
        lambda merged, _: (memory_id in tree(place)) == (merged == SUCCEEDED),
    )


def _deleted(place: Somewhere, number: int) -> MemoryId:
    (memory_id,) = published(place, creates(f"{number}.md"))
    published(place, deletes(memory_id))
    return memory_id


RACES: Sequence[Arrangement] = (
    approve_against_a_new_submission,
    approve_against_a_rebase,
    merge_against_a_rebase,
    merge_against_a_discard,
    merge_against_a_selection_that_drops_what_it_changes,
    merge_against_a_selection_of_other_memories,
    merge_against_the_loss_of_its_actors_role,
    merge_against_its_scheduled_publication,
    a_scheduled_publication_against_its_end,
    merge_against_its_expiry,
    two_merges_of_one_review,
    two_reviews_of_one_draft_submitted_and_merged,
    a_merge_against_another_review_that_takes_its_draft,
    two_restores_of_one_memory,
    a_restore_against_a_create_at_its_path,
)
