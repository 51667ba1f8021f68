"""Rebases: a confirmed candidate rewrites a Draft, and its Review when it is submitted (publication.md §3, §4)."""

from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine

from activities.requests import ResolvedState
from models.identifiers import MemoryId, ReviewId
from models.store.approvals import approvals_of
from models.store.draft_views import draft_body
from models.store.locks import DraftRow
from tests.commands import (
    a_review,
    attempted,
    carried_out,
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
from tests.rebasing import a_candidate, a_rebase, is_to_be, is_to_go, offered, rebased
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    a_user,
    an_organization,
    creates,
    current,
    deletes,
    discarded,
    fetch,
    provisional_ids,
    ref_of,
    tree,
    updates,
    with_state,
)

LINES = "one\ntwo\nthree\nfour\nfive\n"
OURS = LINES.replace("two", "ours")
THEIRS = LINES.replace("two", "theirs")
FAR = LINES.replace("five", "theirs")


def behind(place: Somewhere, theirs: str, *, ours: str = OURS) -> tuple[MemoryId, DraftRow]:
    """A Draft that edits a Memory which Current has edited since."""
    (memory_id,) = published(place, creates("a.md", LINES))
    draft = a_draft(place, updates(memory_id, ours))
    published(place, updates(memory_id, theirs))
    return memory_id, draft


def operations(place: Somewhere, draft: DraftRow) -> list[dict[str, Any]]:
    """What a Draft holds now, without the ids of its operations."""
    with place.engine.connect() as connection:
        body = draft_body(connection, current(place, draft)).model_dump(mode="json")
    names = ("action", "memory_id", "path", "new_path", "content")
    return [{name: operation[name] for name in names if name in operation} for operation in body["operations"]]


# --- an open Draft


def test_a_rebase_moves_the_base_and_expresses_the_clean_result_anew(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id, draft = behind(place, FAR)
    body = result_of(rebased(place, draft, a_candidate(place, draft)))
    both = OURS.replace("five", "theirs")
    assert operations(place, draft) == [{"action": "update", "memory_id": memory_id, "content": {"content": both}}]
    assert (body["version"], body["base_commit_id"], body["status"]) == (draft.version + 1, ref_of(place)[0], "open")
    assert (body["coordination"]["freshness"], body["coordination"]["reconciliation"]) == ("current", "clean")
    merged(place, a_review(place, current(place, draft)))
    assert tree(place)[memory_id] == ("a.md", "", both)
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("keep_current", THEIRS),
        ("keep_draft", OURS),
        ("both_current_first", LINES.replace("two", "theirs\nours")),
        ("both_draft_first", LINES.replace("two", "ours\ntheirs")),
    ],
)
def test_each_resolution_of_an_overlap_is_applied_as_it_is_offered(engine: Engine, name: str, content: str) -> None:
    place = an_organization(engine)
    memory_id, draft = behind(place, THEIRS)
    candidate = a_candidate(place, draft)
    resolved = offered(candidate, name)
    assert [state.content for state in resolved] == [content]
    assert rebased(place, draft, candidate, *resolved).status == "succeeded"
    outcome = submitted(place, current(place, draft))
    if name == "keep_current":
        assert problem_of(outcome)["code"] == "draft_empty"
        return
    assert outcome.review_id is not None
    merged(place, outcome.review_id)
    assert tree(place)[memory_id] == ("a.md", "", content)


def test_an_edit_of_a_memory_deleted_upstream_is_restored_under_its_id(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    draft = a_draft(place, updates(memory_id, OURS))
    published(place, deletes(memory_id), creates("a.md", "another\n"))
    candidate = a_candidate(place, draft)
    (restored,) = offered(candidate, "restore")
    assert (restored.memory_id, restored.path, restored.content) == (memory_id, "a-2.md", OURS)
    rebased(place, draft, candidate, restored)
    assert [operation["action"] for operation in operations(place, draft)] == ["restore"]
    merged(place, a_review(place, current(place, draft)))
    assert tree(place)[memory_id] == ("a-2.md", "", OURS)


def test_a_rebase_may_drop_what_a_draft_creates(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md", "ours\n"), creates("b.md"))
    published(place, creates("a.md", "theirs\n"))
    candidate = a_candidate(place, draft)
    (provisional, kept) = provisional_ids(place, draft.draft_id)
    assert [conflict["code"] for conflict in candidate["conflicts"]] == ["path.both_created"]
    rebased(place, draft, candidate, is_to_go(provisional))
    assert [operation["memory_id"] for operation in operations(place, draft)] == [kept]


def test_a_conflict_with_a_sibling_may_be_settled_before_the_drafts_are_submitted(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    first, second = a_draft(place, updates(memory_id, OURS)), a_draft(place, updates(memory_id, THEIRS))
    (candidate,) = problem_of(submitted(place, first, second))["candidates"]
    assert rebased(place, second, candidate, *offered(candidate, "both_current_first")).status == "succeeded"
    review_id = a_review(place, first, current(place, second))
    assert merged(place, review_id).status == "succeeded"
    assert tree(place)[memory_id][2] == LINES.replace("two", "ours\ntheirs")
    check_invariants(engine, place.org_id)


def test_what_is_left_of_a_review_is_shown_as_a_change_of_what_is_published(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    first, second = a_draft(place, updates(memory_id, OURS)), a_draft(place, updates(memory_id, THEIRS))
    (candidate,) = problem_of(submitted(place, first, second))["candidates"]
    rebased(place, second, candidate, *offered(candidate, "both_current_first"))
    review_id = a_review(place, first, current(place, second))
    discarded(place, current(place, first))
    (shown,) = fetch(
        place,
        """
        select b.content from review_submission_states s
        join blobs b on b.org_id = s.org_id and b.blob_id = s.base_blob_id
        where s.org_id = :o and s.review_id = :r and s.number = 2
        """,
        r=review_id,
    )
    assert shown.content == LINES
    check_invariants(engine, place.org_id)


def test_a_create_that_a_rebase_dropped_is_known_where_another_draft_names_it(engine: Engine) -> None:
    place = an_organization(engine)
    creating = a_draft(place, creates("a.md", "ours\n"), creates("b.md"))
    (dropped, _) = provisional_ids(place, creating.draft_id)
    a_draft(place, updates(dropped, "more\n"))
    published(place, creates("a.md", "theirs\n"))
    rebased(place, creating, a_candidate(place, creating), is_to_go(dropped))
    assert dropped not in provisional_ids(place, creating.draft_id)
    check_invariants(engine, place.org_id)


def test_a_draft_that_builds_on_another_open_draft_is_rebased_beside_it(engine: Engine) -> None:
    place = an_organization(engine)
    first = a_draft(place, creates("new.md", "one\n"))
    (provisional,) = provisional_ids(place, first.draft_id)
    second = a_draft(place, updates(provisional, "two\n"))
    published(place, creates("other.md"))
    rebased(place, second, a_candidate(place, second))
    assert operations(place, second) == [
        {"action": "update", "memory_id": provisional, "content": {"content": "two\n"}}
    ]
    merged(place, a_review(place, first, current(place, second)))
    assert ("new.md", "", "two\n") in tree(place).values()
    check_invariants(engine, place.org_id)


# --- what it refuses


def a_refusal(place: Somewhere, *resolved: ResolvedState, theirs: str = THEIRS) -> dict[str, Any]:
    _, draft = behind(place, theirs)
    problem = problem_of(rebased(place, draft, a_candidate(place, draft), *resolved))
    assert current(place, draft) == draft
    return problem


def test_a_conflict_without_a_resolved_state_is_named(engine: Engine) -> None:
    place = an_organization(engine)
    problem = a_refusal(place)
    assert (problem["code"], problem["status"]) == ("resolution_required", 422)
    assert problem["memory_id"] in tree(place)


def test_a_resolved_state_on_a_clean_candidate_or_of_another_memory_is_an_invalid_request(engine: Engine) -> None:
    place = an_organization(engine)
    problem = a_refusal(place, is_to_be("mem_none", "a.md", OURS), theirs=FAR)
    assert (problem["code"], problem["status"]) == ("invalid_request", 400)
    assert problem["errors"] == [{"field": "resolved_state[0].memory_id", "rule": "unknown"}]


@pytest.mark.parametrize(
    ("state", "field", "rule"),
    [
        (("a//b.md", OURS, ""), "path", "empty_segment"),
        (("a.md", "nul\0\n", ""), "content", "nul"),
        (("a.md", "\ud800\n", ""), "content", "lone_surrogate"),
        (("a.md", " \n", ""), "content", "blank"),
        (("a.md", OURS, "two\nlines"), "description", "line_break"),
    ],
)
def test_a_resolved_state_is_validated_like_any_input(
    engine: Engine, state: tuple[str, str, str], field: str, rule: str
) -> None:
    place = an_organization(engine)
    memory_id, draft = behind(place, THEIRS)
    problem = problem_of(rebased(place, draft, a_candidate(place, draft), is_to_be(memory_id, *state)))
    assert (problem["code"], problem["field"], problem["rule"]) == (
        "operation_invalid",
        f"resolved_state[0].{field}",
        rule,
    )


def test_only_the_author_rebases_and_only_by_a_candidate_of_the_draft(engine: Engine) -> None:
    place = an_organization(engine)
    _, draft = behind(place, FAR)
    other = a_draft(place, creates("b.md"))
    candidate = a_candidate(place, draft)
    assert problem_of(rebased(place, draft, candidate, actor=a_member(place)))["code"] == "not_found"
    problem = problem_of(rebased(place, other, candidate))
    assert (problem["code"], problem["field"]) == ("not_found", "candidate_id")


def test_a_rebase_of_a_closed_draft_or_in_an_archived_project_is_refused(engine: Engine) -> None:
    place = an_organization(engine)
    _, draft = behind(place, FAR)
    candidate = a_candidate(place, draft)
    with_state(place, place.project_id, "archived")
    assert problem_of(rebased(place, draft, candidate))["code"] == "project_archived"
    with_state(place, place.project_id, "active")
    gone = discarded(place, draft)
    assert problem_of(rebased(place, gone, candidate))["code"] == "draft_closed"


def test_a_candidate_is_applied_once_and_stale_from_then_on(engine: Engine) -> None:
    place = an_organization(engine)
    _, draft = behind(place, FAR)
    candidate = a_candidate(place, draft)
    operation = a_rebase(place, draft, candidate)
    first = carried_out(place, operation)
    assert carried_out(place, operation) == first
    assert current(place, draft).version == draft.version + 1
    assert problem_of(rebased(place, current(place, draft), candidate))["code"] == "candidate_stale"


def test_two_rebases_at_once_have_one_effect(engine: Engine) -> None:
    place = an_organization(engine)
    _, draft = behind(place, FAR)
    candidate = a_candidate(place, draft)
    both = [a_rebase(place, draft, candidate) for _ in range(2)]
    with without_deadlocks(engine, connections=2) as pool:
        together(*[partial(attempted, over(pool, place), operation) for operation in both])
    assert sorted(operation_now(place, operation).status for operation in both) == ["failed", "succeeded"]
    assert current(place, draft).version == draft.version + 1


# --- a submitted Draft


def approved_review(place: Somewhere, *drafts: DraftRow) -> ReviewId:
    review_id = a_review(place, *drafts)
    decided(place, review_id, "approved", actor=a_user(place, "admin"))
    return review_id


def stands(place: Somewhere, review_id: ReviewId) -> bool:
    """Whether the Review is approved, and the approval says so."""
    with place.engine.connect() as connection:
        standing = approvals_of(connection, place.org_id, [review_id]).get(review_id, [])
    assert bool(standing) == (review(place, review_id).status == "approved")
    return bool(standing)


def timeline(place: Somewhere, review_id: ReviewId) -> list[str]:
    rows = fetch(
        place, "select event from review_timeline where org_id = :o and review_id = :r order by position", r=review_id
    )
    return [row.event for row in rows]


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_rebase_with_an_equal_result_adds_a_submission_and_keeps_the_approval(engine: Engine, position: int) -> None:
    place = an_organization(engine)
    ids = published(place, creates("a.md", LINES), creates("b.md", LINES), creates("c.md", LINES))
    drafts = [a_draft(place, updates(memory_id, OURS)) for memory_id in ids]
    review_id = approved_review(place, *drafts)
    before = review(place, review_id)
    published(place, updates(ids[position], THEIRS))
    draft = current(place, drafts[position])
    candidate = a_candidate(place, draft)
    assert candidate["reconciliation"] == "conflicts"
    assert rebased(place, draft, candidate, *offered(candidate, "keep_draft")).status == "succeeded"
    after = review(place, review_id)
    assert (after.submission, after.version, after.result_hash) == (2, before.version + 1, before.result_hash)
    assert stands(place, review_id)
    assert timeline(place, review_id) == ["submitted", "approved", "rebased"]
    assert current(place, draft).status == "submitted"
    assert merged(place, review_id).status == "succeeded"
    assert {tree(place)[memory_id][2] for memory_id in ids} == {OURS}
    check_invariants(engine, place.org_id)


CHANGES = {
    "body": lambda memory_id: is_to_be(memory_id, "a.md", LINES.replace("two", "neither")),
    "description": lambda memory_id: is_to_be(memory_id, "a.md", OURS, "other"),
    "path": lambda memory_id: is_to_be(memory_id, "moved.md", OURS),
    "existence": is_to_go,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("position", [0, 1])
def test_any_change_of_any_member_drops_the_approval(engine: Engine, position: int, change: str) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    drafts = [a_draft(place, creates("other.md"))]
    drafts.insert(position, a_draft(place, updates(memory_id, OURS)))
    review_id = approved_review(place, *drafts)
    old_hash = review(place, review_id).result_hash
    published(place, updates(memory_id, THEIRS))
    draft = current(place, drafts[position])
    candidate = a_candidate(place, draft)
    assert rebased(place, draft, candidate, CHANGES[change](memory_id)).status == "succeeded"
    assert not stands(place, review_id)
    assert timeline(place, review_id) == ["submitted", "approved", "approval_dropped", "rebased"]
    (dropped,) = fetch(
        place,
        "select old_hash, new_hash from review_timeline where org_id = :o and review_id = :r "
        "and event = 'approval_dropped'",
        r=review_id,
    )
    assert (dropped.old_hash, dropped.new_hash) == (old_hash, review(place, review_id).result_hash)
    assert old_hash != dropped.new_hash
    check_invariants(engine, place.org_id)


def test_a_rebase_of_an_earlier_draft_leaves_a_later_one_to_be_reconciled(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", LINES))
    first = a_draft(place, updates(memory_id, OURS))
    second = a_draft(place, updates(memory_id, FAR))
    review_id = a_review(place, first, second)
    published(place, updates(memory_id, THEIRS))
    first = current(place, first)
    candidate = a_candidate(place, first)
    resolved = is_to_be(memory_id, "a.md", LINES.replace("five", "first"))
    assert rebased(place, first, candidate, resolved).status == "succeeded"
    problem = problem_of(merged(place, review_id))
    assert (problem["code"], problem["draft_id"]) == ("reconciliation_required", second.draft_id)
    second = current(place, second)
    (fresh,) = problem["candidates"]
    assert fresh["conflicts"][0]["other"]["draft_id"] == first.draft_id
    assert rebased(place, second, fresh, *offered(fresh, "both_current_first")).status == "succeeded"
    assert merged(place, review_id).status == "succeeded"
    assert tree(place)[memory_id][2] == LINES.replace("five", "first\ntheirs")
    check_invariants(engine, place.org_id)


def test_a_taken_path_refuses_the_rebase_of_a_submitted_draft(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id, other = published(place, creates("a.md", LINES), creates("taken.md"))
    draft = a_draft(place, updates(memory_id, OURS))
    review_id = a_review(place, draft)
    published(place, updates(memory_id, THEIRS))
    draft = current(place, draft)
    candidate = a_candidate(place, draft)
    problem = problem_of(rebased(place, draft, candidate, is_to_be(memory_id, "taken.md", OURS)))
    assert (problem["code"], problem["status"]) == ("path_collision", 409)
    assert {other, memory_id} == set(problem["memory_ids"])
    assert current(place, draft) == draft
    assert review(place, review_id).submission == 1
