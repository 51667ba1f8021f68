"""Merge: what is checked under the locks, what a Review may still become, and what it answers (publication.md §4)."""

import pytest
from sqlalchemy import Engine

from models.identifiers import CommitId, final_id
from tests.commands import (
    a_merge,
    a_review,
    carried_out,
    decided,
    merged,
    operation_now,
    problem_of,
    published,
    result_of,
    review,
    selected,
    submitted,
    withdrawn,
)
from tests.contested import contested
from tests.invariants import check_invariants
from tests.rows import (
    a_draft,
    a_member,
    a_project,
    a_user,
    an_organization,
    creates,
    current,
    deletes,
    execute,
    fetch,
    provisional_ids,
    ref_of,
    renames,
    tree,
    updates,
)


def test_only_owners_and_admins_merge(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    assert problem_of(merged(place, review_id, actor=a_member(place, "admin")))["code"] == "forbidden"
    assert problem_of(merged(place, review_id, actor=a_user(place)))["code"] == "not_found"
    assert merged(place, review_id, actor=a_user(place, "admin")).status == "succeeded"


def test_a_merge_answers_what_it_did(engine: Engine) -> None:
    place = an_organization(engine)
    kept, gone, _ = published(place, creates("kept.md"), creates("gone.md"), creates("other.md"))
    draft = a_draft(place, updates(kept, "new\n"), deletes(gone), creates("a.md"), creates("tmp.md"))
    made, unmade = provisional_ids(place, draft.draft_id)
    second = a_draft(place, deletes(unmade))
    review_id = a_review(place, draft, second)
    body = result_of(merged(place, review_id))
    assert (body["commit_id"], 2) == ref_of(place)
    assert (body["applied_operation_count"], body["already_published"]) == (3, False)
    assert body["created"] == [
        {"draft_id": draft.draft_id, "provisional_id": made, "memory_id": final_id(made), "path": "a.md"}
    ]
    shown = body["review"]
    assert (shown["status"], shown["version"], shown["mergeability"]["state"]) == ("merged", 2, "closed")
    assert [(item["status"], item["freshness"]) for item in shown["drafts"]] == [("merged", None)] * 2
    check_invariants(engine, place.org_id)


def test_a_direct_merge_is_recorded_as_its_actors_approval(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    shown = result_of(merged(place, review_id))["review"]
    (approval,) = shown["approvals"]
    assert (approval["actor_id"], approval["result_hash"]) == (place.owner, shown["result_hash"])


def test_a_merge_of_an_approved_review_keeps_the_approval_and_adds_the_actors(engine: Engine) -> None:
    place = an_organization(engine)
    admin = a_user(place, "admin")
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "approved", actor=admin)
    shown = result_of(merged(place, review_id))["review"]
    assert [approval["actor_id"] for approval in shown["approvals"]] == [admin, place.owner]


def test_a_merged_review_answers_with_its_commit(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    commit_id = result_of(merged(place, review_id))["commit_id"]
    published(place, creates("b.md"))
    problem = problem_of(merged(place, review_id))
    assert (problem["code"], problem["review_status"], problem["commit_id"]) == ("review_closed", "merged", commit_id)


def test_another_review_version_is_a_conflict(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    stale = a_merge(place, review_id)
    decided(place, review_id, "approved")
    problem = problem_of(carried_out(place, stale))
    assert (problem["code"], problem["expected"], problem["actual"]) == ("version_conflict", 1, 2)


def test_another_organization_ref_than_expected_is_a_conflict(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    unborn = a_merge(place, review_id, expected_org_commit_id="ref-none")
    published(place, creates("b.md"))
    ref, _ = ref_of(place)
    problem = problem_of(carried_out(place, unborn))
    assert (problem["code"], problem["expected"], problem["actual"]) == ("version_conflict", "ref-none", ref)
    problem = problem_of(merged(place, review_id, expected_org_commit_id=CommitId("0" * 64)))
    assert (problem["code"], problem["expected"], problem["actual"]) == ("version_conflict", "0" * 64, ref)
    assert merged(place, review_id, expected_org_commit_id=ref).status == "succeeded"


def test_another_result_hash_than_expected_is_refused(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    actual = review(place, review_id).result_hash
    problem = problem_of(merged(place, review_id, expected_result_hash="0" * 64))
    assert (problem["code"], problem["status"]) == ("approval_invalidated", 409)
    assert (problem["expected"], problem["actual"]) == ("0" * 64, actual)
    assert merged(place, review_id, expected_result_hash=actual).status == "succeeded"


def test_too_few_approvals_are_named_after_a_wrong_hash(engine: Engine) -> None:
    place = an_organization(engine)
    execute(place, "update organizations set required_approvals = 3 where org_id = :o")
    review_id = a_review(place, a_draft(place, creates("a.md")))
    problem = problem_of(merged(place, review_id))
    assert (problem["code"], problem["required"], problem["given"]) == ("approvals_missing", 3, 1)
    assert problem_of(merged(place, review_id, expected_result_hash="0" * 64))["code"] == "approval_invalidated"


def test_a_refused_merge_leaves_everything_as_it_was(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    review_id = a_review(place, draft)
    before = review(place, review_id), current(place, draft), ref_of(place)
    problem_of(merged(place, review_id, expected_result_hash="0" * 64))
    assert (review(place, review_id), current(place, draft), ref_of(place)) == before
    check_invariants(engine, place.org_id)


# --- Current moved between submission and merge


def test_a_review_that_keeps_its_result_is_brought_up_to_date_and_published(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    draft = a_draft(place, updates(one, "mine\n"))
    review_id = a_review(place, draft)
    version, submission = current(place, draft).version, review(place, review_id).submission
    published(place, updates(two, "theirs\n"))
    ref, number = ref_of(place)
    assert merged(place, review_id).status == "succeeded"
    after = current(place, draft)
    assert (after.base_commit_id, after.base_version) == (ref, number)
    assert after.version == version + 1  # by the merge alone
    assert review(place, review_id).submission == submission
    check_invariants(engine, place.org_id)


def test_an_approval_survives_a_base_that_moves_by_itself(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "approved", actor=a_user(place, "admin"))
    published(place, creates("b.md"))
    shown = result_of(merged(place, review_id))["review"]
    assert len(shown["approvals"]) == 2
    assert "approval_dropped" not in {event["event"] for event in shown["timeline"]}


def test_a_review_whose_result_would_change_needs_reconciliation(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("1.md"))
    review_id = a_review(place, a_draft(place, updates(one, "mine\n")))
    published(place, updates(one, "theirs\n"))
    problem = problem_of(merged(place, review_id))
    assert (problem["code"], problem["memory_id"]) == ("reconciliation_required", one)
    assert list(contested(problem).values()) == [["body.overlap"]]
    assert tree(place)[one][2] == "theirs\n"
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize(
    ("taken", "code"),
    [("a.md", "path.both_created"), ("A.md", "path.both_created"), ("a.md/b.md", "path.occupied")],
)
def test_a_path_that_was_taken_since_needs_reconciliation(engine: Engine, taken: str, code: str) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    (theirs,) = published(place, creates(taken))
    problem = problem_of(merged(place, review_id))
    assert problem["code"] == "reconciliation_required"
    assert list(contested(problem).values()) == [[code]]
    assert problem["candidates"][0]["conflicts"][0]["other"]["memory_id"] == theirs


def test_a_review_whose_every_change_has_been_published_by_others_merges_without_a_commit(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    review_id = a_review(place, a_draft(place, updates(one, "same\n"), deletes(two)))
    published(place, updates(one, "same\n"), deletes(two))
    ref = ref_of(place)
    body = result_of(merged(place, review_id))
    assert (body["already_published"], body["applied_operation_count"], body["commit_id"]) == (True, 0, ref[0])
    assert (ref_of(place), review(place, review_id).status) == (ref, "merged")
    assert review(place, review_id).merged_commit_id == ref[0]
    check_invariants(engine, place.org_id)


def test_a_review_whose_drafts_undo_each_other_merges_without_a_commit(engine: Engine) -> None:
    place = an_organization(engine)
    first = a_draft(place, creates("a.md"))
    second = a_draft(place, deletes(provisional_ids(place, first.draft_id)[0]))
    body = result_of(merged(place, a_review(place, first, second)))
    assert (body["already_published"], body["commit_id"], body["created"]) == (True, None, [])
    check_invariants(engine, place.org_id)


def test_a_memory_that_left_the_selection_since_the_submission_is_refused(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("1.md"))
    review_id = a_review(place, a_draft(place, updates(one, "mine\n")))
    execute(place, "delete from org_selections where org_id = :o")
    assert problem_of(merged(place, review_id))["code"] == "memory_not_selected"


def test_mergeability_names_every_blocker_and_the_merge_answers_the_first(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    drafts = [a_draft(place, updates(one, "mine\n")), a_draft(place, creates("x.md"), renames(two, "y.md"))]
    review_id = a_review(place, *drafts)
    published(place, updates(one, "theirs\n"), creates("x.md"), creates("y.md/z.md"))
    shown = result_of(decided(place, review_id, "approved"))["mergeability"]
    assert shown["state"] == "blocked"
    assert [(blocker["code"], blocker["draft_id"]) for blocker in shown["blockers"]] == [
        ("reconciliation_required", drafts[0].draft_id),
        ("reconciliation_required", drafts[1].draft_id),
    ]
    assert problem_of(merged(place, review_id))["code"] == "reconciliation_required"


# --- projections


def test_every_project_whose_selection_holds_a_changed_memory_moves_once(engine: Engine) -> None:
    place = an_organization(engine)
    one, two, three = published(place, creates("1.md"), creates("2.md"), creates("3.md"))
    both, neither = a_project(place), a_project(place)
    selected(place, both, [one, two])
    selected(place, neither, [three])
    published(place, updates(one, "x\n"), updates(two, "y\n"), creates("4.md"))
    versions = fetch(place, "select project_id, version from project_refs where org_id = :o")
    assert {row.project_id: row.version for row in versions} == {place.project_id: 2, both: 2, neither: 1}
    check_invariants(engine, place.org_id)


def test_a_project_commit_says_what_it_stands_on_and_why(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("1.md"))
    operation = submitted(place, draft, title="Why")
    assert operation.review_id is not None
    merged(place, operation.review_id)
    (commit,) = fetch(place, "select * from commits where org_id = :o and scope = 'project'")
    assert (commit.message, commit.review_id, commit.created_by) == ("Why", operation.review_id, place.owner)
    assert (commit.org_commit_id, commit.selection_revision) == (ref_of(place)[0], 1)


def test_equal_selections_over_equal_content_give_one_tree(engine: Engine) -> None:
    place = an_organization(engine)
    ids = published(place, creates("1.md"), creates("2.md"))
    twin = a_project(place)
    selected(place, twin, ids[:1])
    selected(place, twin, ids)
    trees = fetch(
        place,
        """
        select c.tree_id from commits c join project_refs r on r.org_id = c.org_id and r.commit_id = c.commit_id
        where c.org_id = :o
        """,
    )
    assert len({row.tree_id for row in trees}) == 1


def test_commits_are_stamped_in_their_order_even_when_the_clock_goes_back(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("1.md"))
    execute(place, "update organization_refs set updated_at = updated_at + interval '1 hour' where org_id = :o")
    published(place, creates("2.md"))
    published(place, creates("3.md"))
    rows = fetch(place, "select created_at from commits where org_id = :o and scope = 'org' order by version")
    times = [row.created_at for row in rows]
    assert times == sorted(times)


# --- a withdrawn Review


def test_a_withdrawn_review_is_not_merged(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    waiting = a_merge(place, review_id)
    withdrawn(place, review_id)
    assert problem_of(carried_out(place, waiting))["review_status"] == "withdrawn"
    assert ref_of(place) == (None, 0)


def test_what_a_merge_wrote_is_compared_with_what_was_approved(engine: Engine) -> None:
    """A defect in writing must not get through: a trigger that changes what is written stands for one."""
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md", description="as approved")))
    waiting = a_merge(place, review_id)
    execute(
        place,
        f"""
        create function forge_{place.org_id}() returns trigger language plpgsql as
        $$ begin new.description := 'forged'; return new; end $$;
        create trigger forge_{place.org_id} before insert on memory_versions for each row
        when (new.org_id = '{place.org_id}') execute function forge_{place.org_id}()
        """,
    )
    try:
        carried_out(place, waiting)
    finally:
        execute(place, f"drop function forge_{place.org_id} cascade")
    failed = operation_now(place, waiting)
    assert (failed.status, failed.failures) == ("pending", 1)
    assert ref_of(place) == (None, 0)
    assert merged(place, review_id).status == "succeeded"
    carried_out(place, waiting)
    check_invariants(engine, place.org_id)
