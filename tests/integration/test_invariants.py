"""That each invariant can be broken: rows are changed behind the product's back, and the check says so."""

import pytest
from sqlalchemy import Engine, text

from tests import invariants
from tests.commands import a_review, decided, merged, published, selected
from tests.invariants import check_invariants
from tests.organization_rows import read_rows
from tests.rows import Somewhere, a_draft, a_project, an_organization, creates, deletes, discarded, updates


@pytest.fixture(scope="module")
def lived_in(engine: Engine) -> Somewhere:
    """An organization in which everything has happened that the invariants speak of."""
    place = an_organization(engine)
    one, two, _ = published(place, creates("1.md"), creates("a/2.md"), creates("3.md"))
    selected(place, a_project(place), [one])
    published(place, updates(one, "changed\n"), deletes(two))
    approved = a_review(place, a_draft(place, creates("4.md")))
    decided(place, approved, "approved")
    a_review(place, a_draft(place, creates("5.md")))
    discarded(place, a_draft(place, creates("6.md")))
    merged(place, approved, expected_result_hash="0" * 64)
    return place


def test_an_organization_that_only_the_product_touched_holds_every_invariant(lived_in: Somewhere) -> None:
    check_invariants(lived_in.engine, lived_in.org_id)


BROKEN = [
    ("blobs_hash_to_their_ids", "update blobs set content = content || 'x' where org_id = :o"),
    (
        "every_chain_is_linear_and_ends_at_its_ref",
        "update commits set parent_commit_id = null where org_id = :o and version = 2",
    ),
    (
        "every_chain_is_linear_and_ends_at_its_ref",
        "update organization_refs set version = version + 1 where org_id = :o",
    ),
    ("every_commit_hashes_to_its_id", "update commits set message = 'x' where org_id = :o and scope = 'org'"),
    (
        "every_tree_hashes_to_its_id",
        "update memory_versions set description = 'x' where org_id = :o and to_version is not null",
    ),
    ("every_tree_hashes_to_its_id", "delete from tree_buckets where org_id = :o"),
    (
        "no_version_holds_two_memories_that_no_disk_could",
        "update memory_versions set path_key = '3.md' where org_id = :o and path = '1.md' and to_version is not null",
    ),
    ("every_identity_lives_once", "update memories set status = 'active' where org_id = :o"),
    (
        "every_projection_is_selection_times_organization",
        "delete from org_selections where org_id = :o and project_id <> :p",
    ),
    (
        "every_merge_has_one_commit_and_every_commit_one_merge",
        "update operations set review_id = 'rev_other' where org_id = :o and kind = 'review.merge'",
    ),
    (
        "what_was_approved_is_what_was_published",
        "update memory_versions set description = 'x' where org_id = :o and from_version = 1",
    ),
    (
        "every_submission_hashes_to_its_hash",
        "update review_submissions set result_hash = repeat('0', 64) where org_id = :o",
    ),
    (
        "every_review_agrees_with_its_submissions_approvals_and_drafts",
        "update drafts set status = 'open' where org_id = :o and status = 'merged'",
    ),
    (
        "every_review_agrees_with_its_submissions_approvals_and_drafts",
        "update review_approvals set result_hash = repeat('0', 64) where org_id = :o",
    ),
    ("every_operation_that_ended_has_one_outcome", "update operations set progress_done = 0 where org_id = :o"),
    ("every_state_change_is_audited_once", "delete from audit_events where org_id = :o and action = 'review.merge'"),
    ("every_commit_is_told_once", "delete from events where org_id = :o and kind = 'commit.published'"),
]


@pytest.mark.parametrize(("name", "statement"), BROKEN)
def test_a_broken_invariant_is_found(lived_in: Somewhere, name: str, statement: str) -> None:
    check = next(check for check in invariants.CHECKS if check.__name__ == name)
    with lived_in.engine.connect() as connection:
        connection.execute(text(statement), {"o": lived_in.org_id, "p": lived_in.project_id})
        with pytest.raises(AssertionError):
            check(read_rows(connection, lived_in.org_id))
        connection.rollback()


def test_every_invariant_is_broken_once() -> None:
    assert {check.__name__ for check in invariants.CHECKS} == {name for name, _ in BROKEN}
