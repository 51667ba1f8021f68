"""Candidates: what they hold, how they are found again, and when they are stale (publication.md §3)."""

from typing import Any

from sqlalchemy import Engine

from models.identifiers import new_draft_id
from models.rules.hashes import content_hash
from models.store.candidate_views import candidate_body
from models.store.candidates import live_candidates
from models.store.locks import DraftRow
from tests.commands import (
    a_merge,
    a_review,
    carried_out,
    decided,
    problem_of,
    published,
    submitted,
    withdrawn,
)
from tests.invariants import check_invariants
from tests.rebasing import (
    a_candidate,
    a_reconciliation,
    rebased,
    reconciled,
)
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    an_organization,
    appended,
    creates,
    current,
    deletes,
    fetch,
    provisional_ids,
    ref_of,
    updates,
)

LINES = "one\ntwo\nthree\nfour\nfive\n"


def a_conflict(place: Somewhere) -> tuple[str, DraftRow]:
    """A Draft that edits the line which Current has edited as well."""
    (memory_id,) = published(place, creates("a.md", LINES))
    draft = a_draft(place, updates(memory_id, LINES.replace("two", "ours")))
    published(place, updates(memory_id, LINES.replace("two", "theirs")))
    return memory_id, draft


def a_clean_change(place: Somewhere) -> tuple[str, DraftRow]:
    """A Draft whose result changes when it is brought up to date."""
    (memory_id,) = published(place, creates("a.md", LINES))
    draft = a_draft(place, updates(memory_id, LINES.replace("one", "ours")))
    published(place, updates(memory_id, LINES.replace("five", "theirs")))
    return memory_id, draft


def stored(place: Somewhere) -> list[Any]:
    return fetch(place, "select candidate_id, draft_id from reconciliation_candidates where org_id = :o")


def shown(place: Somewhere, candidate: dict[str, Any]) -> dict[str, Any]:
    with place.engine.connect() as connection:
        body = candidate_body(connection, place.org_id, candidate["draft_id"], candidate["candidate_id"])
    return body.model_dump(mode="json")


# --- what it holds


def test_a_clean_candidate_shows_every_state_whole_and_the_hash_of_the_proposed_result(engine: Engine) -> None:
    place = an_organization(engine)
    _, draft = a_clean_change(place)
    candidate = a_candidate(place, draft)
    both = LINES.replace("one", "ours").replace("five", "theirs")
    assert {
        side: state and state["content"] for side, state in candidate["memories"][0].items() if side != "memory_id"
    } == {
        "base": LINES,
        "current": LINES.replace("five", "theirs"),
        "draft": LINES.replace("one", "ours"),
        "proposed": both,
    }
    assert candidate["memories"][0]["proposed"] == {
        "path": "a.md",
        "description": "",
        "content": both,
        "content_hash": content_hash(both),
    }
    commit_id, _ = ref_of(place)
    assert (candidate["reconciliation"], candidate["conflicts"]) == ("clean", [])
    assert (candidate["draft_version"], candidate["base_commit_id"]) == (draft.version, draft.base_commit_id)
    assert (candidate["current_commit_id"], candidate["engine"]) == (commit_id, "diff3-lines/1")
    assert (candidate["approval_survives"], candidate["stale"]) == (None, False)
    body = rebased(place, draft, candidate)
    review_id = a_review(place, current(place, draft))
    assert body.status == "succeeded"
    (row,) = fetch(place, "select result_hash from reviews where org_id = :o and review_id = :r", r=review_id)
    assert row.result_hash == candidate["result_hash"]


def test_the_hash_of_a_result_is_the_drafts_own_whatever_a_later_draft_of_its_review_makes_of_it(
    engine: Engine,
) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    draft = a_draft(place, updates(memory_id, LINES.replace("one", "ours")), creates("b.md"), creates("c.md"))
    kept, _ = provisional_ids(place, draft.draft_id)
    review_id = a_review(place, draft, a_draft(place, deletes(kept)))
    published(place, updates(memory_id, LINES.replace("five", "theirs")))
    among_others = a_candidate(place, current(place, draft))
    withdrawn(place, review_id)
    alone = a_candidate(place, current(place, draft))
    assert among_others["reconciliation"] == "clean"
    assert among_others["result_hash"] == alone["result_hash"]
    check_invariants(engine, place.org_id)


def test_a_conflict_names_the_lines_of_all_three_sides_and_the_commit_and_author_of_the_other(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id, draft = a_conflict(place)
    commit_id, _ = ref_of(place)
    published(place, updates(memory_id, description="said later"))
    candidate = a_candidate(place, draft)
    (conflict,) = candidate["conflicts"]
    assert (conflict["code"], conflict["memory_id"], conflict["field"]) == ("body.overlap", memory_id, "body")
    assert conflict["hunks"] == [
        {
            "base": {"start": 2, "count": 1, "lines": ["two"]},
            "current": {"start": 2, "count": 1, "lines": ["theirs"]},
            "draft": {"start": 2, "count": 1, "lines": ["ours"]},
        }
    ]
    assert conflict["other"] == {"commit_id": commit_id, "memory_id": memory_id, "author_id": place.owner}
    assert (candidate["reconciliation"], candidate["result_hash"]) == ("conflicts", None)
    assert {"identical", "equivalent", "paths"}.isdisjoint(conflict)


def test_making_a_candidate_changes_no_draft_and_an_equal_tuple_gives_the_same_one(engine: Engine) -> None:
    place = an_organization(engine)
    _, draft = a_conflict(place)
    first = a_candidate(place, draft)
    assert current(place, draft) == draft
    assert a_candidate(place, draft) == first == shown(place, first)
    assert len(stored(place)) == 1


def test_a_candidate_asked_for_twice_by_one_operation_is_made_once(engine: Engine) -> None:
    place = an_organization(engine)
    _, draft = a_conflict(place)
    operation = a_reconciliation(place, draft)
    assert carried_out(place, operation) == carried_out(place, operation)
    assert len(stored(place)) == 1


# --- what it refuses


def test_a_candidate_of_a_current_draft_is_refused(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    assert problem_of(reconciled(place, draft))["code"] == "draft_already_current"


def test_a_candidate_is_made_for_the_author_only_and_at_the_version_that_was_read(engine: Engine) -> None:
    place = an_organization(engine)
    _, draft = a_conflict(place)
    assert problem_of(reconciled(place, draft, actor=a_member(place)))["code"] == "not_found"
    appended(place, draft, creates("b.md"))
    problem = problem_of(reconciled(place, draft))
    assert (problem["code"], problem["expected"], problem["actual"]) == ("version_conflict", 1, 2)


# --- stale


def test_a_candidate_is_stale_once_draft_base_or_current_moves(engine: Engine) -> None:
    place = an_organization(engine)
    _, draft = a_conflict(place)
    by_draft = a_candidate(place, draft)
    draft = appended(place, draft, creates("b.md"))
    by_current = a_candidate(place, draft)
    published(place, creates("c.md"))
    assert (shown(place, by_draft)["stale"], shown(place, by_current)["stale"]) == (True, True)
    assert problem_of(rebased(place, draft, by_current))["code"] == "candidate_stale"
    fresh = a_candidate(place, draft)
    with place.engine.connect() as connection:
        live = live_candidates(connection, place.org_id, [draft.draft_id, new_draft_id()])
    assert {draft_id: found.candidate_id for draft_id, found in live.items()} == {draft.draft_id: fresh["candidate_id"]}


# --- in refusals


def test_a_refused_submit_carries_whole_candidates_of_every_draft_that_needs_one_in_order(engine: Engine) -> None:
    place = an_organization(engine)
    one, two, three = published(place, creates("a.md", "1\n"), creates("b.md", "2\n"), creates("c.md", "3\n"))
    drafts = [a_draft(place, updates(memory_id, "ours\n")) for memory_id in (three, one, two)]
    published(place, updates(one, "theirs\n"), updates(three, "theirs\n"))
    operation = submitted(place, *drafts)
    problem = problem_of(operation)
    assert problem["code"] == "reconciliation_required"
    assert [candidate["draft_id"] for candidate in problem["candidates"]] == [drafts[0].draft_id, drafts[1].draft_id]
    assert [current(place, draft) for draft in drafts] == drafts
    for candidate in problem["candidates"]:
        assert shown(place, candidate) == candidate
    assert problem_of(carried_out(place, operation)) == problem
    check_invariants(engine, place.org_id)


def test_a_refusal_for_another_reason_keeps_no_candidates(engine: Engine) -> None:
    place = an_organization(engine)
    _, draft = a_conflict(place)
    assert problem_of(submitted(place, draft, a_draft(place)))["code"] == "draft_empty"
    assert stored(place) == []


def test_a_refused_merge_carries_candidates_that_tell_whether_the_approval_would_survive(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    review_id = a_review(place, a_draft(place, updates(memory_id, LINES.replace("one", "ours"))))
    decided(place, review_id, "approved")
    published(place, updates(memory_id, LINES.replace("five", "theirs")))
    problem = problem_of(carried_out(place, a_merge(place, review_id)))
    assert (problem["code"], problem["status"]) == ("reconciliation_required", 409)
    (candidate,) = problem["candidates"]
    assert (candidate["reconciliation"], candidate["approval_survives"]) == ("clean", False)
    assert shown(place, candidate) == candidate


def test_a_sibling_on_the_other_side_is_named_by_its_draft_and_author(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    first = a_draft(place, updates(memory_id, LINES.replace("two", "first")))
    second = a_draft(place, updates(memory_id, LINES.replace("two", "second")))
    (candidate,) = problem_of(submitted(place, first, second))["candidates"]
    (conflict,) = candidate["conflicts"]
    other = {"draft_id": first.draft_id, "memory_id": memory_id, "author_id": place.owner}
    assert (candidate["draft_id"], conflict["other"]) == (second.draft_id, other)
    assert conflict["current"]["content"] == LINES.replace("two", "first")
