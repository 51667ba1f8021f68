"""Commands that wait to be carried out, each with something of everything that it may have to do."""

from collections.abc import Callable

from activities.reverts import revert
from models.store.operations import StoredOperation
from tests.commands import (
    a_decision,
    a_merge,
    a_resubmit,
    a_review,
    a_selection,
    a_submit,
    a_withdrawal,
    decided,
    published,
    selected,
)
from tests.policies import from_now, scheduled, scheduled_merges, timers_run
from tests.rebasing import a_candidate, a_rebase, a_reconciliation, a_submit_of, confirmed, offered
from tests.rows import (
    Somewhere,
    a_draft,
    a_project,
    a_user,
    acting,
    creates,
    current,
    deletes,
    ref_of,
    renames,
    restores,
    updates,
)


def a_merge_of_many_kinds(place: Somewhere) -> StoredOperation:
    one, two, three, gone = published(place, creates("1.md"), creates("2.md"), creates("3.md"), creates("gone.md"))
    published(place, deletes(gone))
    selected(place, a_project(place), [one, two])
    first = a_draft(place, renames(one, "2.md"), renames(two, "1.md"), creates("new.md"))
    second = a_draft(place, deletes(three), restores(gone, "back.md"))
    review_id = a_review(place, first, second)
    decided(place, review_id, "approved", actor=a_user(place, "admin"))
    published(place, creates("behind.md"))
    return a_merge(place, review_id)


def a_submit_of_two(place: Somewhere) -> StoredOperation:
    (one,) = published(place, creates("1.md"))
    drafts = [a_draft(place, updates(one, "more\n")), a_draft(place, creates("2.md"))]
    published(place, creates("behind.md"))
    return a_submit(place, *drafts)


def a_resubmit_that_leaves_one_out_and_takes_one_in(place: Somewhere) -> StoredOperation:
    kept, left = a_draft(place, creates("1.md")), a_draft(place, creates("2.md"))
    review_id = a_review(place, kept, left)
    decided(place, review_id, "approved")
    return a_resubmit(place, review_id, current(place, kept), a_draft(place, creates("3.md")), title="Again")


def an_approval(place: Somewhere) -> StoredOperation:
    return a_decision(place, a_review(place, a_draft(place, creates("1.md"))), "approved")


def a_rejection(place: Somewhere) -> StoredOperation:
    review_id = a_review(place, a_draft(place, creates("1.md")))
    decided(place, review_id, "approved")
    return a_decision(place, review_id, "rejected")


def a_withdrawal_of_two(place: Somewhere) -> StoredOperation:
    return a_withdrawal(place, a_review(place, a_draft(place, creates("1.md")), a_draft(place, creates("2.md"))))


def a_selection_that_adds_and_removes(place: Somewhere) -> StoredOperation:
    one, two = published(place, creates("1.md"), creates("2.md"))
    other = a_project(place)
    selected(place, other, [one])
    return a_selection(place, other, [two])


def a_rebase_of_a_submitted_draft(place: Somewhere) -> StoredOperation:
    """The second of two: it stands on what the first makes, and the approval falls."""
    (one,) = published(place, creates("1.md", "a\nb\nc\n"))
    first, second = a_draft(place, updates(one, "a\nb\nfirst\n")), a_draft(place, updates(one, "second\nb\nc\n"))
    review_id = a_review(place, first, second)
    decided(place, review_id, "approved")
    published(place, updates(one, "theirs\nb\nc\n"))
    second = current(place, second)
    candidate = a_candidate(place, second)
    return a_rebase(place, second, candidate, *offered(candidate, "both_current_first"))


def a_submit_with_candidates(place: Somewhere) -> StoredOperation:
    """The first merges cleanly, the second is chosen for."""
    one, two = published(place, creates("1.md", "a\nb\nc\n"), creates("2.md"))
    drafts = [a_draft(place, updates(one, "ours\nb\nc\n")), a_draft(place, updates(two, "ours\n"))]
    published(place, updates(one, "a\nb\ntheirs\n"), updates(two, "theirs\n"))
    first, second = (a_candidate(place, draft) for draft in drafts)
    return a_submit_of(
        place, confirmed(drafts[0], first), confirmed(drafts[1], second, *offered(second, "both_draft_first"))
    )


def a_candidate_asked_for(place: Somewhere) -> StoredOperation:
    (one,) = published(place, creates("1.md"))
    draft = a_draft(place, updates(one, "ours\n"), creates("2.md"))
    published(place, updates(one, "theirs\n"))
    return a_reconciliation(place, draft)


def a_submit_of_a_restore(place: Somewhere) -> StoredOperation:
    gone, back = published(place, creates("gone.md", "gone\n"), creates("back.md"))
    published(place, deletes(gone), deletes(back))
    return a_submit(place, a_draft(place, restores(gone)), a_draft(place, restores(back, "other.md", "other\n")))


def a_merge_of_a_revert(place: Somewhere) -> StoredOperation:
    """What its commit created, changed, moved and deleted; somebody has published since."""
    edited, moved, gone = published(place, creates("edited.md"), creates("moved.md"), creates("gone.md"))
    published(place, creates("new.md"), updates(edited, "new\n"), renames(moved, "to.md"), deletes(gone))
    commit_id, _ = ref_of(place)
    assert commit_id is not None
    published(place, creates("since.md"))
    with acting(place) as tx:
        draft = revert(tx, project_id=place.project_id, commit_id=commit_id)
    return a_merge(place, a_review(place, draft))


def a_merge_that_fell_due(place: Somewhere) -> StoredOperation:
    (gone,) = published(place, creates("gone.md"))
    published(place, deletes(gone))
    review_id = a_review(place, a_draft(place, creates("1.md"), restores(gone)))
    decided(place, review_id, "approved", actor=a_user(place, "admin"))
    scheduled(place, review_id, from_now(60))
    published(place, creates("behind.md"))
    timers_run(place, review_id, at=from_now(60))
    (merge,) = scheduled_merges(place, review_id)
    return merge


COMMANDS: list[Callable[[Somewhere], StoredOperation]] = [
    a_merge_of_many_kinds,
    a_submit_of_two,
    a_resubmit_that_leaves_one_out_and_takes_one_in,
    an_approval,
    a_rejection,
    a_withdrawal_of_two,
    a_selection_that_adds_and_removes,
    a_rebase_of_a_submitted_draft,
    a_submit_with_candidates,
    a_candidate_asked_for,
    a_submit_of_a_restore,
    a_merge_of_a_revert,
    a_merge_that_fell_due,
]
