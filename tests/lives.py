"""An organization in which everything has happened that verification speaks of, made without the servers."""

from sqlalchemy import Engine

from activities.amendments import amend_review
from activities.comments import add_comment
from models.identifiers import ReviewId
from models.store.tokens import issue_token
from tests.commands import a_review, decided, merged, published, resubmitted, review, selected, withdrawn
from tests.imports import a_file, an_import, imported
from tests.rows import (
    Somewhere,
    a_draft,
    a_project,
    a_user,
    acting,
    an_organization,
    appended,
    creates,
    current,
    deletes,
    discarded,
    renames,
    updates,
)


def a_lived_in_organization(engine: Engine) -> Somewhere:
    """Two projects; Memories that were changed, moved and deleted; Reviews, Drafts and imports in every state.

    In `a/` stand the Memories that last: `a/changed.md` (twice, selected by the second project), `a/moved.md`.
    """
    place = an_organization(engine)
    with acting(place) as tx:
        issue_token(tx, user_id=place.owner, name="Token", permissions=["read"], expires_at=None)
    changed, deleted, moved = published(
        place, creates("a/changed.md", "one\n", "First"), creates("a/deleted.md"), creates("moved.md", "moved\n")
    )
    second = a_project(place)
    selected(place, second, [changed, deleted])
    selected(place, second, [changed, deleted, moved])
    published(place, updates(changed, "two\n"), deletes(deleted))
    published(place, renames(moved, "a/moved.md"), updates(changed, description="Second"))
    _decide_in_every_way(place, changed)
    discarded(place, a_draft(place, creates("discarded.md")))
    appended(
        place, a_draft(place, creates("open.md", "open\n")), updates(changed, "proposed\n"), renames(moved, "b.md")
    )
    _merge_what_has_converged(place, changed)
    imported(place, an_import(place, a_file("imported/one.md"), a_file("imported/two.md", "two of them\n")))
    return place


def _decide_in_every_way(place: Somewhere, changed: str) -> None:
    """Reviews that are approved and merged, approved, rejected, resubmitted, withdrawn, and open."""
    admin = a_user(place, "admin")
    approved = a_review(place, a_draft(place, creates("a/approved.md")), a_draft(place, creates("a/also.md")))
    decided(place, approved, "approved", actor=admin)
    merged(place, approved)
    waiting = a_review(place, a_draft(place, creates("waiting.md", "waiting\n", "Waits")))
    decided(place, waiting, "approved", actor=admin)
    rejected = a_review(place, a_draft(place, updates(changed, "rejected\n")))
    decided(place, rejected, "rejected", actor=admin)
    draft = a_draft(place, creates("again.md"))
    again = a_review(place, draft)
    decided(place, again, "approved", actor=admin)
    resubmitted(place, again, current(place, draft), a_draft(place, creates("more.md")))
    withdrawn(place, a_review(place, a_draft(place, creates("withdrawn.md"))))
    _talk_about(place, a_review(place, a_draft(place, creates("talked-about.md"))))


def _talk_about(place: Somewhere, review_id: ReviewId) -> None:
    with acting(place) as tx:
        add_comment(tx, review_id, body="Why?", anchor=None)
    with acting(place) as tx:
        version = review(place, review_id).version
        amend_review(tx, review_id, expected_version=version, title="Because", description=None)


def _merge_what_has_converged(place: Somewhere, changed: str) -> None:
    """A Review whose change others have published meanwhile: merged without a commit of its own."""
    review_id = a_review(place, a_draft(place, updates(changed, "the same\n")))
    published(place, updates(changed, "the same\n"))
    merged(place, review_id)
