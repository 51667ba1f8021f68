"""Submit and resubmit: what they refuse, in which order, and what they keep (publication.md §4, §6)."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from models.identifiers import MemoryId, final_id, new_draft_id, new_project_id
from models.store.locks import DraftRow
from models.store.operations import StoredOperation
from tests.commands import (
    a_review,
    decided,
    merged,
    problem_of,
    published,
    resubmitted,
    result_of,
    review,
    submitted,
    withdrawn,
)
from tests.contested import contested
from tests.invariants import check_invariants
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    a_project,
    a_user,
    an_organization,
    appended,
    creates,
    current,
    deletes,
    discarded,
    execute,
    fetch,
    leaves,
    provisional_ids,
    ref_of,
    renames,
    updates,
    with_state,
)


def refusal(operation: StoredOperation) -> tuple[str, int]:
    problem = problem_of(operation)
    return problem["code"], problem["status"]


# --- submit


def test_a_submit_opens_a_review_at_version_1_and_marks_its_drafts_submitted(engine: Engine) -> None:
    place = an_organization(engine)
    drafts = [a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))]
    body = result_of(submitted(place, *drafts, title="Both"))
    assert (body["status"], body["version"], body["submission"], body["title"]) == ("open", 1, 1, "Both")
    assert [(item["draft_id"], item["draft_version"], item["status"]) for item in body["drafts"]] == [
        (draft.draft_id, draft.version + 1, "submitted") for draft in drafts
    ]
    assert [event["event"] for event in body["timeline"]] == ["submitted"]
    assert body["mergeability"]["state"] == "mergeable"
    check_invariants(engine, place.org_id)


def test_a_refused_submit_leaves_every_draft_as_it_was(engine: Engine) -> None:
    place = an_organization(engine)
    good, empty = a_draft(place, creates("a.md")), a_draft(place)
    assert refusal(submitted(place, good, empty)) == ("draft_empty", 422)
    assert (current(place, good), current(place, empty)) == (good, empty)
    assert fetch(place, "select 1 from reviews where org_id = :o") == []
    check_invariants(engine, place.org_id)


def test_a_draft_of_somebody_else_is_not_found(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"), author=a_member(place))
    problem = problem_of(submitted(place, draft, author=place.owner))
    assert (problem["code"], problem["status"], problem["field"]) == ("not_found", 404, "drafts[0].draft_id")


def test_an_unknown_draft_is_not_found(engine: Engine) -> None:
    place = an_organization(engine)
    draft = replace(a_draft(place, creates("a.md")), draft_id=new_draft_id())
    assert refusal(submitted(place, draft)) == ("not_found", 404)


def test_an_unknown_project_is_not_found(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    assert refusal(submitted(place, draft, project_id=new_project_id())) == ("not_found", 404)


def test_an_author_who_left_the_project_finds_nothing_and_one_who_only_reads_is_forbidden(engine: Engine) -> None:
    place = an_organization(engine)
    author = a_member(place)
    draft = a_draft(place, creates("a.md"), author=author)
    execute(place, "update project_members set role = 'viewer' where org_id = :o and user_id = :u", u=author)
    assert refusal(submitted(place, draft)) == ("forbidden", 403)
    leaves(place, author)
    assert refusal(submitted(place, draft)) == ("not_found", 404)


def test_a_merged_or_discarded_draft_is_closed(engine: Engine) -> None:
    place = an_organization(engine)
    gone = a_draft(place, creates("a.md"))
    done = a_draft(place, creates("b.md"))
    discarded(place, gone)
    merged(place, a_review(place, done))
    for draft in (gone, done):
        problem = problem_of(submitted(place, current(place, draft)))
        assert (problem["code"], problem["draft_id"]) == ("draft_closed", draft.draft_id)


def test_a_submitted_draft_is_not_submitted_twice(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    a_review(place, draft)
    problem = problem_of(submitted(place, current(place, draft)))
    assert (problem["code"], problem["draft_id"]) == ("draft_submitted", draft.draft_id)


def test_an_archived_project_takes_no_submission(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    with_state(place, place.project_id, "archived")
    problem = problem_of(submitted(place, draft))
    assert (problem["code"], problem["status"], problem["project_id"]) == ("project_archived", 409, place.project_id)


def test_a_draft_at_another_version_is_a_version_conflict(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    appended(place, draft, creates("b.md"))
    problem = problem_of(submitted(place, draft))
    assert (problem["code"], problem["expected"], problem["actual"]) == ("version_conflict", 1, 2)
    assert (problem["draft_id"], problem["field"]) == (draft.draft_id, "drafts[0].expected_draft_version")


@pytest.mark.parametrize("kind", ["no operations", "a rename back", "the same text", "create and delete"])
def test_a_draft_that_changes_nothing_is_empty(engine: Engine, kind: str) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", "text\n"))
    draft = a_draft(place)
    if kind == "a rename back":
        draft = appended(place, draft, renames(one, "b.md"), renames(one, "a.md"))
    if kind == "the same text":
        draft = appended(place, draft, updates(one, "text"))
    if kind == "create and delete":
        draft = appended(place, draft, creates("b.md"))
        draft = appended(place, draft, deletes(provisional_ids(place, draft.draft_id)[0]))
    problem = problem_of(submitted(place, draft))
    assert (problem["code"], problem["draft_id"]) == ("draft_empty", draft.draft_id)


def test_a_draft_whose_every_change_has_been_published_by_others_is_empty(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("a.md"), creates("b.md"))
    draft = a_draft(place, updates(one, "same\n"), deletes(two))
    published(place, updates(one, "same\n"), deletes(two))
    assert refusal(submitted(place, draft)) == ("draft_empty", 422)


def test_a_stored_operation_that_breaks_a_rule_is_invalid(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"), creates("b.md"))
    execute(place, "update draft_operations set path = 'b\\c' where org_id = :o and index = 1")
    problem = problem_of(submitted(place, draft))
    assert (problem["code"], problem["status"]) == ("operation_invalid", 422)
    assert (problem["draft_id"], problem["index"], problem["field"], problem["rule"]) == (
        draft.draft_id,
        1,
        "path",
        "backslash",
    )


def test_drafts_of_two_projects_are_invalid(engine: Engine) -> None:
    place = an_organization(engine)
    first, second = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"), project_id=a_project(place))
    problem = problem_of(submitted(place, first, second))
    assert (problem["code"], problem["index"], problem["rule"]) == ("operation_invalid", 1, "other_project")
    assert problem["field"] == "drafts[1].draft_id"


def test_the_target_of_a_draft_submitted_without_the_one_it_builds_on_is_missing(engine: Engine) -> None:
    place = an_organization(engine)
    first = a_draft(place, creates("a.md"))
    (made,) = provisional_ids(place, first.draft_id)
    second = a_draft(place, creates("b.md"), updates(made, "more\n"))
    problem = problem_of(submitted(place, second))
    assert (problem["code"], problem["index"], problem["memory_id"]) == ("target_missing", 1, made)
    assert refusal(submitted(place, second, first)) == ("target_missing", 422)
    assert submitted(place, first, second).status == "succeeded"


def test_a_target_that_left_the_selection_is_not_selected(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    draft = a_draft(place, updates(one, "more\n"))
    execute(place, "delete from org_selections where org_id = :o")  # as a race with the append would leave it
    problem = problem_of(submitted(place, draft))
    assert (problem["code"], problem["memory_id"]) == ("memory_not_selected", one)


def test_one_draft_named_twice_is_a_duplicate(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    problem = problem_of(submitted(place, draft, draft))
    assert (problem["code"], problem["draft_id"]) == ("duplicate_id", draft.draft_id)


@pytest.mark.parametrize("taken", ["a.md", "A.md", "cafe\u0301.md", "a.md/inside.md"])
def test_a_path_occupied_in_current_is_a_collision_that_names_both(engine: Engine, taken: str) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates(taken))
    path = "CAF\u00c9.md" if "e\u0301" in taken else "a.md"
    draft = a_draft(place, creates(path))
    problem = problem_of(submitted(place, draft))
    assert (problem["code"], problem["status"]) == ("path_collision", 409)
    made = final_id(provisional_ids(place, draft.draft_id)[0])
    assert problem["memory_ids"] == [made, one]
    assert problem["paths"] == [path, taken.replace("e\u0301", "\u00e9")]


def test_two_paths_of_one_draft_that_meet_are_a_collision(engine: Engine) -> None:
    place = an_organization(engine)
    problem = problem_of(submitted(place, a_draft(place, creates("a"), creates("A/b.md"))))
    assert (problem["code"], problem["paths"]) == ("path_collision", ["a", "A/b.md"])


# --- precedence: of several that hold, the first is the answer


def _closed(place: Somewhere, draft: DraftRow) -> DraftRow:
    return replace(discarded(place, draft), version=draft.version)


FAULTS: list[tuple[str, Callable[[Somewhere], DraftRow]]] = [
    ("draft_closed", lambda place: _closed(place, a_draft(place, creates("x.md")))),
    ("version_conflict", lambda place: replace(a_draft(place, creates("y.md")), version=7)),
    ("draft_empty", a_draft),
    ("target_missing", lambda place: a_draft(place, updates(_made_elsewhere(place), "more\n"))),
    ("path_collision", lambda place: a_draft(place, creates("p.md"), creates("P.md"))),
]


def _made_elsewhere(place: Somewhere) -> MemoryId:
    return provisional_ids(place, a_draft(place, creates("z.md")).draft_id)[0]


@pytest.mark.parametrize("position", range(len(FAULTS) - 1))
def test_of_several_problems_the_first_in_precedence_is_the_answer(engine: Engine, position: int) -> None:
    place = an_organization(engine)
    later = [fault(place) for _, fault in FAULTS[position:]]
    assert problem_of(submitted(place, *reversed(later)))["code"] == FAULTS[position][0]


def test_an_archived_project_goes_between_closed_drafts_and_version_conflicts(engine: Engine) -> None:
    place = an_organization(engine)
    closed, stale = _closed(place, a_draft(place, creates("a.md"))), a_draft(place, creates("b.md"))
    stale = replace(stale, version=9)
    with_state(place, place.project_id, "archived")
    assert problem_of(submitted(place, stale))["code"] == "project_archived"
    assert problem_of(submitted(place, stale, closed))["code"] == "draft_closed"


# --- Drafts that are behind


def test_a_behind_draft_that_keeps_its_result_is_submitted_and_only_its_base_moves(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("a.md"), creates("b.md"))
    draft = a_draft(place, updates(one, "mine\n"), creates("c.md"))
    published(place, updates(two, "theirs\n"), creates("d.md"))
    operation = submitted(place, draft)
    assert operation.status == "succeeded"
    after = current(place, draft)
    assert (after.base_commit_id, after.base_version) == ref_of(place)
    assert after.version == draft.version + 1  # by the submission alone
    check_invariants(engine, place.org_id)


def test_a_behind_draft_whose_result_would_change_needs_reconciliation(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    draft = a_draft(place, renames(one, "b.md"))
    published(place, updates(one, "theirs\n"))
    problem = problem_of(submitted(place, draft))
    assert (problem["code"], problem["status"]) == ("reconciliation_required", 409)
    assert (problem["draft_id"], problem["memory_id"]) == (draft.draft_id, one)
    assert [candidate["draft_id"] for candidate in problem["candidates"]] == [draft.draft_id]
    assert current(place, draft) == draft


UPSTREAM = {
    "body": lambda one: updates(one, "theirs\n"),
    "description": lambda one: updates(one, description="theirs"),
    "path": lambda one: renames(one, "theirs.md"),
    "deletion": deletes,
}
MINE = {
    "body": lambda one: updates(one, "mine\n"),
    "description": lambda one: updates(one, description="mine"),
    "path": lambda one: renames(one, "mine.md"),
    "deletion": deletes,
}


@pytest.mark.parametrize("mine", MINE)
@pytest.mark.parametrize("theirs", UPSTREAM)
def test_a_memory_that_both_changed_needs_reconciliation_unless_both_deleted_it(
    engine: Engine, theirs: str, mine: str
) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    draft = a_draft(place, MINE[mine](one), creates("new.md"))
    published(place, UPSTREAM[theirs](one))
    operation = submitted(place, draft)
    if theirs == mine == "deletion":
        assert operation.status == "succeeded"
    else:
        assert refusal(operation) == ("reconciliation_required", 409)


@pytest.mark.parametrize("change", ["body", "description", "path"])
def test_a_change_that_current_has_made_too_passes(engine: Engine, change: str) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    draft = a_draft(place, MINE[change](one), creates("new.md"))
    published(place, MINE[change](one))
    review_id = submitted(place, draft).review_id
    assert review_id is not None
    assert result_of(merged(place, review_id))["applied_operation_count"] == 1
    check_invariants(engine, place.org_id)


def test_a_path_that_current_freed_does_not_ask(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("a.md"), creates("b/c.md"))
    draft = a_draft(place, creates("a.md"), creates("b"))
    published(place, renames(one, "x.md"), deletes(two))
    assert submitted(place, draft).status == "succeeded"


def test_a_path_occupied_by_a_memory_unchanged_since_the_base_is_a_collision_on_a_behind_draft_too(
    engine: Engine,
) -> None:
    place = an_organization(engine)
    published(place, creates("a.md"))
    draft = a_draft(place, creates("A.md"))
    published(place, creates("other.md"))
    assert refusal(submitted(place, draft)) == ("path_collision", 409)


@pytest.mark.parametrize("how", ["created", "moved", "edited", "described"])
def test_a_path_occupied_by_a_memory_that_current_changed_since_the_base_needs_reconciliation(
    engine: Engine, how: str
) -> None:
    place = an_organization(engine)
    one, there = published(place, creates("elsewhere.md"), creates("there.md"))
    draft = a_draft(place, creates("there.md" if how in ("edited", "described") else "a.md/b.md"))
    published(
        place,
        {
            "created": creates("A.md"),
            "moved": renames(one, "a.md"),
            "edited": updates(there, "theirs\n"),
            "described": updates(there, description="theirs"),
        }[how],
    )
    problem = problem_of(submitted(place, draft))
    assert problem["code"] == "reconciliation_required"
    assert contested(problem) == {draft.draft_id: ["path.occupied"]}


def test_an_occupied_path_of_a_draft_that_needs_reconciliation_anyway_is_part_of_it(engine: Engine) -> None:
    place = an_organization(engine)
    one, _ = published(place, creates("a.md"), creates("b.md"))
    draft = a_draft(place, renames(one, "c.md"), creates("b.md"))
    published(place, updates(one, "theirs\n"))
    problem = problem_of(submitted(place, draft))
    assert problem["code"] == "reconciliation_required"
    assert contested(problem) == {draft.draft_id: ["path.occupied"]}


# --- several Drafts


def test_a_later_draft_builds_on_what_an_earlier_one_creates(engine: Engine) -> None:
    place = an_organization(engine)
    first = a_draft(place, creates("a.md"))
    (made,) = provisional_ids(place, first.draft_id)
    second = a_draft(place, renames(made, "b.md"), updates(made, "more\n"))
    review_id = a_review(place, first, second)
    created = result_of(merged(place, review_id))["created"]
    assert [(item["draft_id"], item["path"]) for item in created] == [(first.draft_id, "b.md")]
    check_invariants(engine, place.org_id)


def test_a_swap_across_two_drafts_is_clean(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    review_id = a_review(place, a_draft(place, renames(one, "2.md")), a_draft(place, renames(two, "1.md")))
    assert result_of(merged(place, review_id))["applied_operation_count"] == 2
    check_invariants(engine, place.org_id)


def test_drafts_with_different_bases_are_brought_up_to_date_together(engine: Engine) -> None:
    place = an_organization(engine)
    one, two, three = published(place, creates("1.md"), creates("2.md"), creates("3.md"))
    old = a_draft(place, updates(one, "mine\n"))
    published(place, updates(three, "theirs\n"))
    newer = a_draft(place, updates(two, "mine\n"))
    published(place, creates("4.md"))
    review_id = a_review(place, old, newer)
    assert {current(place, draft).base_version for draft in (old, newer)} == {3}
    assert merged(place, review_id).status == "succeeded"
    check_invariants(engine, place.org_id)


# --- resubmit


def test_only_the_author_resubmits(engine: Engine) -> None:
    place = an_organization(engine)
    author = a_member(place)
    draft = a_draft(place, creates("a.md"), author=author)
    review_id = a_review(place, draft)
    now = current(place, draft)
    assert refusal(resubmitted(place, review_id, now, actor=place.owner)) == ("forbidden", 403)
    assert refusal(resubmitted(place, review_id, now, actor=a_user(place))) == ("not_found", 404)
    assert refusal(resubmitted(place, review_id, actor=a_member(place))) == ("forbidden", 403)


def test_drafts_left_out_of_a_resubmission_reopen(engine: Engine) -> None:
    place = an_organization(engine)
    kept, left = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    review_id = a_review(place, kept, left)
    body = result_of(resubmitted(place, review_id, current(place, kept), title="Less"))
    assert (body["version"], body["submission"], body["title"], body["status"]) == (2, 2, "Less", "open")
    assert (current(place, left).status, current(place, left).version) == ("open", 3)
    assert (current(place, kept).status, current(place, kept).version) == ("submitted", 2)
    check_invariants(engine, place.org_id)


def test_a_withdrawn_or_merged_review_is_not_resubmitted(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    review_id = a_review(place, draft)
    withdrawn(place, review_id)
    problem = problem_of(resubmitted(place, review_id, current(place, draft)))
    assert (problem["code"], problem["review_status"], problem["commit_id"]) == ("review_closed", "withdrawn", None)
    done = a_review(place, current(place, draft))
    commit_id = result_of(merged(place, done))["commit_id"]
    problem = problem_of(resubmitted(place, done, current(place, draft)))
    assert (problem["code"], problem["review_status"], problem["commit_id"]) == ("review_closed", "merged", commit_id)


def test_a_resubmission_of_another_review_version_is_a_conflict(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    review_id = a_review(place, draft)
    problem = problem_of(resubmitted(place, review_id, current(place, draft), expected_review_version=4))
    assert (problem["code"], problem["expected"], problem["actual"]) == ("version_conflict", 4, 1)


def test_a_draft_of_another_review_is_not_resubmitted(engine: Engine) -> None:
    place = an_organization(engine)
    first, second = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    review_id, _ = a_review(place, first), a_review(place, second)
    assert refusal(resubmitted(place, review_id, current(place, second))) == ("draft_submitted", 409)


def test_a_rejected_review_opens_again_by_resubmission(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    review_id = a_review(place, draft)
    decided(place, review_id, "rejected")
    draft = appended(place, current(place, draft), creates("b.md"))
    body = result_of(resubmitted(place, review_id, draft))
    assert (body["status"], body["submission"]) == ("open", 2)
    assert [event["event"] for event in body["timeline"]] == ["submitted", "rejected", "resubmitted"]
    check_invariants(engine, place.org_id)


def test_drafts_of_a_rejected_review_that_went_elsewhere_stay_there(engine: Engine) -> None:
    place = an_organization(engine)
    moved, kept = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    review_id = a_review(place, moved, kept)
    decided(place, review_id, "rejected")
    other = a_review(place, current(place, moved))
    result_of(resubmitted(place, review_id, current(place, kept)))
    assert current(place, moved).review_id == other
    check_invariants(engine, place.org_id)


def test_a_resubmission_with_an_equal_result_keeps_the_approval(engine: Engine) -> None:
    place = an_organization(engine)
    first, second = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    review_id = a_review(place, first, second)
    approvals = result_of(decided(place, review_id, "approved"))["approvals"]
    body = result_of(resubmitted(place, review_id, current(place, second), current(place, first)))
    assert (body["status"], body["submission"], body["approvals"]) == ("approved", 2, approvals)
    assert "approval_dropped" not in {event["event"] for event in body["timeline"]}
    check_invariants(engine, place.org_id)


def test_a_resubmission_with_another_result_drops_the_approval_with_both_hashes(engine: Engine) -> None:
    place = an_organization(engine)
    first, second = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    review_id = a_review(place, first, second)
    decided(place, review_id, "approved")
    old = review(place, review_id).result_hash
    body = result_of(resubmitted(place, review_id, current(place, first)))
    assert (body["status"], body["approvals"]) == ("open", [])
    (dropped,) = [event for event in body["timeline"] if event["event"] == "approval_dropped"]
    assert (dropped["old_hash"], dropped["new_hash"]) == (old, body["result_hash"])
    assert old != body["result_hash"]
    check_invariants(engine, place.org_id)


def test_a_resubmission_refuses_what_a_submission_refuses(engine: Engine) -> None:
    place = an_organization(engine)
    one, _ = published(place, creates("a.md"), creates("taken.md"))
    kept = a_draft(place, updates(one, "mine\n"))
    review_id = a_review(place, kept)
    kept = current(place, kept)
    gone = discarded(place, a_draft(place, creates("x.md")))
    expected = {
        "draft_closed": [kept, gone],
        "draft_empty": [kept, a_draft(place)],
        "path_collision": [kept, a_draft(place, creates("taken.md"))],
        "duplicate_id": [kept, kept],
        "reconciliation_required": [kept, a_draft(place, updates(one, "again\n"))],
        "version_conflict": [replace(kept, version=1)],
        "operation_invalid": [kept, a_draft(place, creates("y.md"), project_id=a_project(place))],
    }
    for code, drafts in expected.items():
        assert problem_of(resubmitted(place, review_id, *drafts))["code"] == code
    assert review(place, review_id).submission == 1
    with_state(place, place.project_id, "archived")
    assert refusal(resubmitted(place, review_id, kept)) == ("project_archived", 409)
    check_invariants(engine, place.org_id)


# --- discarding a submitted Draft


def test_discarding_a_submitted_draft_submits_what_is_left(engine: Engine) -> None:
    place = an_organization(engine)
    gone, kept = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    review_id = a_review(place, gone, kept)
    decided(place, review_id, "approved")
    assert discarded(place, gone).status == "discarded"
    after = review(place, review_id)
    assert (after.status, after.submission, after.version) == ("open", 2, 3)
    assert merged(place, review_id).status == "succeeded"
    assert [row.path for row in fetch(place, "select path from memory_versions where org_id = :o")] == ["b.md"]
    check_invariants(engine, place.org_id)


def test_discarding_the_last_draft_withdraws_the_review(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    review_id = a_review(place, draft)
    discarded(place, draft)
    after = review(place, review_id)
    assert (after.status, after.closed_reason) == ("withdrawn", "last_draft_discarded")
    check_invariants(engine, place.org_id)


def test_what_built_on_a_discarded_draft_is_invalid_and_says_so(engine: Engine) -> None:
    place = an_organization(engine)
    first = a_draft(place, creates("a.md"))
    (made,) = provisional_ids(place, first.draft_id)
    second = a_draft(place, creates("b.md"), updates(made, "more\n"))
    review_id = a_review(place, first, second)
    discarded(place, first)
    problem = problem_of(merged(place, review_id))
    assert (problem["code"], problem["memory_id"], problem["draft_id"]) == ("target_missing", made, second.draft_id)
    check_invariants(engine, place.org_id)
