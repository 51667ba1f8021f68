"""Mergeability names every blocker at once and agrees with the merge (publication.md §4)."""

from typing import Any

from sqlalchemy import Engine, event

from models.identifiers import ReviewId
from models.store.mergeability import mergeability
from tests.commands import a_review, decided, merged, problem_of, published, review
from tests.organization_rows import everything
from tests.policies import has_path_owners, requires_approvals
from tests.rows import (
    Somewhere,
    a_draft,
    a_user,
    an_organization,
    creates,
    deletes,
    execute,
    updates,
    with_state,
)


def asked(place: Somewhere, review_id: ReviewId) -> dict[str, Any]:
    with place.engine.connect() as connection:
        return mergeability(connection, review(place, review_id)).model_dump(mode="json")


def blockers(place: Somewhere, review_id: ReviewId) -> list[str]:
    answer = asked(place, review_id)
    assert (answer["state"] == "mergeable") == (not answer["blockers"])
    return sorted(str(blocker["code"]) for blocker in answer["blockers"])


def test_every_blocker_is_named_at_once(engine: Engine) -> None:
    place = an_organization(engine)
    unselected, gone = published(place, creates("docs/a.md"), creates("docs/b.md"))
    drafts = [
        a_draft(place, updates(unselected, "new\n")),
        a_draft(place, creates("c.md")),
        a_draft(place, deletes(gone)),
    ]
    review_id = a_review(place, *drafts)
    published(place, creates("c.md"))
    published(place, updates(gone, description="edited"))
    execute(place, "delete from org_selections where org_id = :o and memory_id = :m", m=unselected)
    requires_approvals(place, 2)
    has_path_owners(place, {"docs/**": [a_user(place)], "other/**": [a_user(place)]})
    with_state(place, place.project_id, "archived")
    found = asked(place, review_id)
    assert found["state"] == "blocked"
    assert {(blocker["code"], blocker.get("draft_id")) for blocker in found["blockers"]} == {
        ("project_archived", None),
        ("memory_not_selected", drafts[0].draft_id),
        ("reconciliation_required", drafts[1].draft_id),
        ("reconciliation_required", drafts[2].draft_id),
        ("approvals_missing", None),
    }
    (missing,) = [blocker for blocker in found["blockers"] if blocker["code"] == "approvals_missing"]
    assert (missing["required"], missing["given"], missing["globs"]) == (2, 0, ["docs/**"])


def test_a_changed_result_is_a_blocker_beside_what_changed_it(engine: Engine) -> None:
    place = an_organization(engine)
    (memory,) = published(place, creates("a.md", "one\n\ntwo\n\nthree\n"))
    review_id = a_review(place, a_draft(place, updates(memory, "ONE\n\ntwo\n\nthree\n")))
    published(place, updates(memory, "one\n\ntwo\n\nTHREE\n"))
    assert "reconciliation_required" in blockers(place, review_id)
    assert "reconciliation_required" in str(merged(place, review_id).problem)


def test_approvals_are_missing_only_where_whoever_merges_would_be_refused(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    requires_approvals(place, 1)
    assert blockers(place, review_id) == []
    requires_approvals(place, 2)
    decided(place, review_id, "approved")
    (missing,) = asked(place, review_id)["blockers"]
    assert (missing["code"], missing["required"], missing["given"]) == ("approvals_missing", 2, 1)
    decided(place, review_id, "approved", actor=a_user(place, "admin"))
    assert blockers(place, review_id) == []
    assert merged(place, review_id).status == "succeeded"


def test_it_counts_what_would_be_created_changed_and_deleted(engine: Engine) -> None:
    place = an_organization(engine)
    edited, deleted = published(place, creates("b.md"), creates("c.md"))
    draft = a_draft(place, creates("a.md"), updates(edited, "new\n"), deletes(deleted))
    review_id = a_review(place, draft)
    answer = asked(place, review_id)
    named = {kind: [item["path"] for item in answer[kind]] for kind in ("creates", "updates", "deletes")}
    assert named == {"creates": ["a.md"], "updates": ["b.md"], "deletes": ["c.md"]}


def test_a_closed_review_is_closed_and_has_no_blockers(engine: Engine) -> None:
    place = an_organization(engine)
    requires_approvals(place, 1)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "rejected")
    answer = asked(place, review_id)
    assert (answer["state"], answer["blockers"]) == ("closed", [])


def test_it_is_a_pure_read(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    published(place, creates("b.md"))
    before = everything(place)
    asked(place, review_id)
    assert everything(place) == before


def test_a_result_that_is_no_longer_the_submitted_one_is_named(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    execute(
        place,
        "update draft_operations set path = 'b.md' where org_id = :o and action = 'create'",
    )
    assert blockers(place, review_id) == ["approval_invalidated"]
    assert "approval_invalidated" in str(merged(place, review_id).problem)


def statements_of_a_look_at(place: Somewhere, count: int) -> int:
    """How many statements it takes to look at a Review with so many Drafts that need reconciliation."""
    memories = published(place, *(creates(f"{count}/{number}.md") for number in range(count)))
    review_id = a_review(place, *(a_draft(place, updates(memory, description="ours")) for memory in memories))
    published(place, *(updates(memory, description="theirs") for memory in memories))
    refused = problem_of(merged(place, review_id))
    assert len(refused["candidates"]) == count
    seen: list[str] = []

    def see(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        seen.append(statement)

    event.listen(place.engine, "before_cursor_execute", see)
    try:
        shown = [candidate for blocker in asked(place, review_id)["blockers"] for candidate in blocker["candidates"]]
    finally:
        event.remove(place.engine, "before_cursor_execute", see)
    assert shown == refused["candidates"]
    return len(seen)


def test_more_drafts_that_need_reconciliation_take_no_more_statements(engine: Engine) -> None:
    place = an_organization(engine)
    assert statements_of_a_look_at(place, 1) == statements_of_a_look_at(place, 4)


def test_what_needs_reconciliation_shows_the_candidate_that_holds_and_makes_none(engine: Engine) -> None:
    place = an_organization(engine)
    (memory,) = published(place, creates("a.md"))
    review_id = a_review(place, a_draft(place, updates(memory, "ours\n")), a_draft(place, creates("b.md")))
    published(place, updates(memory, "theirs\n"))
    assert asked(place, review_id)["blockers"][0]["candidates"] == []
    refused = problem_of(merged(place, review_id))
    (blocker,) = [each for each in asked(place, review_id)["blockers"] if each["code"] == "reconciliation_required"]
    assert blocker["candidates"] == refused["candidates"]
    assert [candidate["reconciliation"] for candidate in blocker["candidates"]] == ["conflicts"]
