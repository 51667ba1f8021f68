"""Submit and resubmit with confirmed candidates: applied in the same transaction, or nothing is (publication.md §4)."""

from functools import partial

import pytest
from sqlalchemy import Engine

from models.identifiers import MemoryId
from models.store.locks import DraftRow
from tests.commands import (
    a_review,
    attempted,
    decided,
    merged,
    operation_now,
    problem_of,
    published,
    result_of,
    review,
    submitted,
)
from tests.fuse import over
from tests.invariants import check_invariants
from tests.racing import together, without_deadlocks
from tests.rebasing import (
    Candidate,
    Confirmed,
    a_candidate,
    a_submit_of,
    confirmed,
    is_to_be,
    is_to_go,
    offered,
    resubmitted_with,
    submitted_with,
)
from tests.rows import Somewhere, a_draft, an_organization, appended, creates, current, fetch, ref_of, tree, updates

LINES = "one\ntwo\nthree\nfour\nfive\n"


def edited(line: str, text: str, *, of: str = LINES) -> str:
    return of.replace(line, text)


def two_conflicts(place: Somewhere) -> tuple[list[MemoryId], list[DraftRow]]:
    """Two Drafts, each of which edits the line of a Memory that Current has edited."""
    ids = published(place, creates("a.md", LINES), creates("b.md", LINES))
    drafts = [a_draft(place, updates(memory_id, edited("two", "ours"))) for memory_id in ids]
    published(place, *[updates(memory_id, edited("two", "theirs")) for memory_id in ids])
    return ids, drafts


def contested(candidate: Candidate) -> list[MemoryId]:
    return list(dict.fromkeys(MemoryId(str(conflict["memory_id"])) for conflict in candidate["conflicts"]))


def kept_candidates(place: Somewhere) -> dict[str, tuple[object, ...]]:
    rows = fetch(
        place, "select candidate_id, memories, conflicts, created_at from reconciliation_candidates where org_id = :o"
    )
    return {row.candidate_id: tuple(row) for row in rows}


def test_confirmed_candidates_are_applied_by_the_submission(engine: Engine) -> None:
    place = an_organization(engine)
    ids, drafts = two_conflicts(place)
    candidates = problem_of(submitted(place, *drafts))["candidates"]
    body = result_of(
        submitted_with(
            place,
            *[
                confirmed(draft, candidate, *offered(candidate, name))
                for draft, candidate, name in zip(drafts, candidates, ("both_current_first", "keep_draft"), strict=True)
            ],
        )
    )
    assert [member["draft_version"] for member in body["drafts"]] == [draft.version + 2 for draft in drafts]
    assert [current(place, draft).base_commit_id for draft in drafts] == [ref_of(place)[0]] * 2
    assert body["mergeability"]["state"] == "mergeable"
    merged(place, body["review_id"])
    assert [tree(place)[memory_id][2] for memory_id in ids] == [edited("two", "theirs\nours"), edited("two", "ours")]
    saved = fetch(place, "select draft_id, version from draft_revisions where org_id = :o order by draft_id")
    assert [(row.draft_id, row.version) for row in saved] == [(draft.draft_id, draft.version) for draft in drafts]
    check_invariants(engine, place.org_id)


def test_candidates_made_for_each_draft_alone_serve_in_a_submission_of_both(engine: Engine) -> None:
    place = an_organization(engine)
    _, drafts = two_conflicts(place)
    alone = [a_candidate(place, draft) for draft in drafts]
    operation = submitted_with(
        place,
        *[confirmed(draft, one, *offered(one, "keep_draft")) for draft, one in zip(drafts, alone, strict=True)],
    )
    assert operation.status == "succeeded", operation.problem


def test_a_submission_that_lacks_one_confirmation_changes_nothing_and_asks_for_that_one(engine: Engine) -> None:
    place = an_organization(engine)
    _, drafts = two_conflicts(place)
    first, second = problem_of(submitted(place, *drafts))["candidates"]
    problem = problem_of(
        submitted_with(place, confirmed(drafts[0], first, *offered(first, "keep_draft")), Confirmed(drafts[1]))
    )
    assert (problem["code"], problem["draft_id"]) == ("reconciliation_required", drafts[1].draft_id)
    assert problem["candidates"] == [second]
    assert [current(place, draft) for draft in drafts] == drafts
    assert fetch(place, "select 1 from draft_revisions where org_id = :o") == []


def test_a_conflict_of_siblings_is_resolved_by_resubmitting_with_its_candidate(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    first, second = (a_draft(place, updates(memory_id, edited("two", text))) for text in ("first", "second"))
    (candidate,) = problem_of(submitted(place, first, second))["candidates"]
    outcome = submitted_with(
        place, Confirmed(first), confirmed(second, candidate, *offered(candidate, "both_current_first"))
    )
    assert outcome.status == "succeeded", outcome.problem
    assert outcome.review_id is not None
    merged(place, outcome.review_id)
    assert tree(place)[memory_id][2] == edited("two", "first\nsecond")
    check_invariants(engine, place.org_id)


def test_drafts_that_edit_distant_lines_of_one_memory_go_together_unasked(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    drafts = [a_draft(place, updates(memory_id, edited(line, "ours"))) for line in ("one", "three", "five")]
    review_id = a_review(place, *drafts)
    merged(place, review_id)
    assert tree(place)[memory_id][2] == "ours\ntwo\nours\nfour\nours\n"


def test_a_resolution_that_changes_what_a_later_candidate_was_made_from_asks_again(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    first = a_draft(place, updates(memory_id, edited("two", "first")))
    second = a_draft(place, updates(memory_id, edited("two", "second")))
    published(place, updates(memory_id, edited("two", "theirs")))
    one, two = problem_of(submitted(place, first, second))["candidates"]
    resolved = is_to_be(memory_id, "a.md", edited("two", "neither"))
    confirmation = confirmed(first, one, resolved)
    problem = problem_of(submitted_with(place, confirmation, confirmed(second, two, *offered(two, "keep_draft"))))
    assert (problem["code"], problem["draft_id"]) == ("reconciliation_required", second.draft_id)
    (fresh,) = problem["candidates"]
    assert fresh["candidate_id"] != two["candidate_id"]
    assert fresh["memories"][0]["current"]["content"] == edited("two", "neither")
    outcome = submitted_with(place, confirmation, confirmed(second, fresh, *offered(fresh, "both_current_first")))
    assert outcome.review_id is not None
    merged(place, outcome.review_id)
    assert tree(place)[memory_id][2] == edited("two", "neither\nsecond")
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize("choice", ["drop", "move"])
def test_two_memories_of_a_draft_at_a_path_that_current_took_are_settled_by_one_confirmation(
    engine: Engine, choice: str
) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md", "one\n"), creates("A.md", "two\n"), creates("b.md"))
    published(place, creates("a.md", "theirs\n"))
    (candidate,) = problem_of(submitted(place, draft))["candidates"]
    assert [conflict["code"] for conflict in candidate["conflicts"]] == ["path.both_created"] * 2
    outcome = submitted_with(place, confirmed(draft, candidate, *offered(candidate, choice)))
    assert outcome.status == "succeeded", outcome.problem
    assert outcome.review_id is not None
    merged(place, outcome.review_id)
    moved = {"a-2.md", "A-3.md"} if choice == "move" else set()
    assert {path for path, *_ in tree(place).values()} == {"a.md", "b.md", *moved}


def test_resolved_states_at_one_path_collide_and_leave_the_candidate_as_it_was_handed_out(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md", "one\n"), creates("a.md", "two\n"))
    published(place, creates("a.md", "theirs\n"))
    candidate = a_candidate(place, draft)
    before = kept_candidates(place)
    for path in ("b.md", "a.md"):
        chosen = [is_to_be(memory_id, path, "text\n") for memory_id in contested(candidate)]
        assert problem_of(submitted_with(place, confirmed(draft, candidate, *chosen)))["code"] == "path_collision"
        assert kept_candidates(place) == before
    again = problem_of(submitted(place, draft))["candidates"]
    assert again == [candidate]


def test_a_confirmation_of_one_draft_leaves_the_candidates_of_others_as_they_were_handed_out(engine: Engine) -> None:
    place = an_organization(engine)
    drafts = [a_draft(place, creates("a.md", text)) for text in ("first\n", "second\n")]
    published(place, creates("a.md", "theirs\n"))
    first, second = problem_of(submitted(place, *drafts))["candidates"]
    assert [len(each["conflicts"]) for each in (first, second)] == [1, 2]
    before = kept_candidates(place)
    moving = confirmed(drafts[0], first, *offered(first, "move"))
    (later,) = problem_of(submitted_with(place, moving, Confirmed(drafts[1])))["candidates"]
    assert len(later["conflicts"]) == 1
    assert before.items() <= kept_candidates(place).items()
    assert (second["candidate_id"] in before, later["candidate_id"] in before) == (True, False)
    outcome = submitted_with(place, moving, confirmed(drafts[1], later, *offered(later, "move")))
    assert outcome.status == "succeeded", outcome.problem


def test_a_confirmed_draft_that_meets_another_one_as_well_is_asked_about_all_at_once(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md", "one\n"), creates("b.md", "two\n"))
    published(place, creates("a.md", "theirs\n"))
    alone = a_candidate(place, draft)
    beside = a_draft(place, creates("b.md", "beside\n"))
    refused = submitted_with(place, Confirmed(beside), confirmed(draft, alone, *offered(alone, "move")))
    (candidate,) = problem_of(refused)["candidates"]
    assert len(contested(candidate)) == 2
    outcome = submitted_with(place, Confirmed(beside), confirmed(draft, candidate, *offered(candidate, "move")))
    assert outcome.status == "succeeded", outcome.problem


def test_a_candidate_of_a_draft_that_needs_none_is_applied_all_the_same(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    candidate = a_candidate(place, draft)
    body = result_of(submitted_with(place, confirmed(draft, candidate)))
    assert body["drafts"][0]["draft_version"] == draft.version + 2


def test_a_resolution_that_leaves_nothing_to_do_makes_the_draft_empty(engine: Engine) -> None:
    place = an_organization(engine)
    _, drafts = two_conflicts(place)
    candidate = a_candidate(place, drafts[0])
    outcome = submitted_with(place, confirmed(drafts[0], candidate, *offered(candidate, "keep_current")))
    assert problem_of(outcome)["code"] == "draft_empty"
    assert current(place, drafts[0]) == drafts[0]


def test_a_stale_candidate_refuses_the_submission(engine: Engine) -> None:
    place = an_organization(engine)
    _, drafts = two_conflicts(place)
    candidate = a_candidate(place, drafts[0])
    published(place, creates("new.md"))
    problem = problem_of(submitted_with(place, confirmed(drafts[0], candidate, *offered(candidate, "keep_draft"))))
    assert (problem["code"], problem["status"], problem["field"]) == ("candidate_stale", 409, "drafts[0].candidate_id")


def test_a_candidate_is_stale_when_a_draft_before_it_in_the_submission_moves(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    first, second = (a_draft(place, updates(memory_id, edited("two", text))) for text in ("first", "second"))
    (candidate,) = problem_of(submitted(place, first, second))["candidates"]
    first = appended(place, first, creates("b.md"))
    confirmation = confirmed(second, candidate, *offered(candidate, "keep_draft"))
    assert problem_of(submitted_with(place, Confirmed(first), confirmation))["code"] == "candidate_stale"
    assert problem_of(submitted_with(place, confirmation))["code"] == "candidate_stale"


def test_the_candidate_of_another_draft_is_not_found(engine: Engine) -> None:
    place = an_organization(engine)
    _, drafts = two_conflicts(place)
    candidate = a_candidate(place, drafts[0])
    problem = problem_of(submitted_with(place, Confirmed(drafts[0]), confirmed(drafts[1], candidate)))
    assert (problem["code"], problem["field"]) == ("not_found", "drafts[1].candidate_id")


def test_resolved_states_are_counted_and_validated_where_they_stand(engine: Engine) -> None:
    place = an_organization(engine)
    ids, drafts = two_conflicts(place)
    one, two = (a_candidate(place, draft) for draft in drafts)
    good = confirmed(drafts[0], one, *offered(one, "keep_draft"))
    missing = problem_of(submitted_with(place, good, confirmed(drafts[1], two)))
    assert (missing["code"], missing["memory_id"]) == ("resolution_required", ids[1])
    broken = problem_of(submitted_with(place, good, confirmed(drafts[1], two, is_to_be(ids[1], "a/../b", LINES))))
    assert (broken["code"], broken["field"]) == ("operation_invalid", "drafts[1].resolved_state[0].path")
    extra = problem_of(submitted_with(place, good, confirmed(drafts[1], two, is_to_go(ids[1]), is_to_go(ids[0]))))
    assert extra["errors"] == [{"field": "drafts[1].resolved_state[1].memory_id", "rule": "unknown"}]
    assert [current(place, draft) for draft in drafts] == drafts


@pytest.mark.parametrize("name", ["keep_draft", "keep_current"])
def test_resubmitting_with_a_candidate_keeps_the_approval_exactly_when_the_result_is_equal(
    engine: Engine, name: str
) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    draft = a_draft(place, updates(memory_id, edited("two", "ours")), creates("new.md"))
    review_id = a_review(place, draft)
    decided(place, review_id, "approved")
    published(place, updates(memory_id, edited("two", "theirs")))
    draft = current(place, draft)
    candidate = a_candidate(place, draft)
    outcome = resubmitted_with(place, review_id, confirmed(draft, candidate, *offered(candidate, name)))
    assert outcome.status == "succeeded", outcome.problem
    assert current(place, draft).version == draft.version + 1
    assert review(place, review_id).status == ("approved" if name == "keep_draft" else "open")
    check_invariants(engine, place.org_id)


def test_two_submissions_with_the_same_candidate_at_once_have_one_effect(engine: Engine) -> None:
    place = an_organization(engine)
    _, drafts = two_conflicts(place)
    candidate = a_candidate(place, drafts[0])
    confirmation = confirmed(drafts[0], candidate, *offered(candidate, "keep_draft"))
    both = [a_submit_of(place, confirmation) for _ in range(2)]
    with without_deadlocks(engine, connections=2) as pool:
        together(*[partial(attempted, over(pool, place), operation) for operation in both])
    assert sorted(operation_now(place, operation).status for operation in both) == ["failed", "succeeded"]
    assert current(place, drafts[0]).version == drafts[0].version + 2
