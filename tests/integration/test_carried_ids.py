"""Creates that carry their final id, as inside an import: an id like any other, given once (publication.md §2)."""

import pytest
from sqlalchemy import Engine

from activities.accepting import ProposedOperation
from models.identifiers import MemoryId
from models.rules.folding import Action
from tests.commands import a_review, merged, problem_of, published, result_of, submitted
from tests.invariants import check_invariants
from tests.rows import (
    Somewhere,
    a_draft,
    an_organization,
    appended,
    creates,
    current,
    deletes,
    fetch,
    provisional_ids,
    refused,
    tree,
    updates,
)

CARRIED = MemoryId("ctx_9-a_B")


def carries(memory_id: str, path: str, content: str = "text\n") -> ProposedOperation:
    return ProposedOperation(Action.CREATE, MemoryId(memory_id), path=path, content=content, description="")


def selection(place: Somewhere) -> set[str]:
    rows = fetch(
        place, "select memory_id from org_selections where org_id = :o and project_id = :p", p=place.project_id
    )
    return {row.memory_id for row in rows}


def test_the_draft_names_it_and_the_merge_keeps_it_and_selects_it_for_the_project(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, carries(CARRIED, "a.md"))
    assert provisional_ids(place, draft.draft_id) == [CARRIED]
    outcome = result_of(merged(place, a_review(place, draft)))
    assert outcome["created"] == [
        {"draft_id": draft.draft_id, "provisional_id": CARRIED, "memory_id": CARRIED, "path": "a.md"}
    ]
    assert outcome["review"]["mergeability"]["creates"] == [{"memory_id": CARRIED, "path": "a.md"}]
    assert tree(place) == {CARRIED: ("a.md", "", "text\n")}
    assert selection(place) == {CARRIED}
    check_invariants(engine, place.org_id)


def test_operations_of_the_same_draft_change_it_by_its_id(engine: Engine) -> None:
    place = an_organization(engine)
    draft = appended(place, a_draft(place, carries(CARRIED, "a.md")), updates(CARRIED, "edited\n"))
    assert merged(place, a_review(place, draft)).status == "succeeded"
    assert tree(place)[CARRIED] == ("a.md", "", "edited\n")
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize("archived", [False, True])
def test_a_draft_that_carries_the_id_of_a_memory_is_not_submitted(engine: Engine, *, archived: bool) -> None:
    place = an_organization(engine)
    draft = a_draft(place, carries(CARRIED, "a.md"))
    published(place, carries(CARRIED, "b.md"))
    if archived:
        assert merged(place, a_review(place, a_draft(place, deletes(CARRIED)))).status == "succeeded"
    problem = problem_of(submitted(place, draft))
    assert (problem["code"], problem["status"], problem["memory_id"]) == ("duplicate_id", 422, CARRIED)
    assert (problem["draft_id"], problem["index"]) == (draft.draft_id, 0)
    assert current(place, draft).status == "open"
    check_invariants(engine, place.org_id)


def test_of_two_reviews_that_carry_one_id_the_second_is_not_merged(engine: Engine) -> None:
    place = an_organization(engine)
    first, second = (a_review(place, a_draft(place, carries(CARRIED, path))) for path in ("a.md", "b.md"))
    assert merged(place, first).status == "succeeded"
    problem = problem_of(merged(place, second))
    assert (problem["code"], problem["memory_id"]) == ("duplicate_id", CARRIED)
    assert tree(place) == {CARRIED: ("a.md", "", "text\n")}
    check_invariants(engine, place.org_id)


def test_two_drafts_of_one_review_do_not_carry_one_id(engine: Engine) -> None:
    place = an_organization(engine)
    first, second = (a_draft(place, carries(CARRIED, path)) for path in ("a.md", "b.md"))
    problem = problem_of(submitted(place, first, second))
    assert (problem["code"], problem["draft_id"], problem["memory_id"]) == ("duplicate_id", second.draft_id, CARRIED)


def test_an_id_of_the_drafts_base_is_refused_when_the_create_is_accepted(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md"))
    problem = refused(lambda: a_draft(place, carries(memory_id, "b.md")))
    assert (problem.code, problem.context) == ("duplicate_id", {"index": 0, "memory_id": memory_id})


def test_another_organization_may_hold_the_same_id(engine: Engine) -> None:
    for _ in range(2):
        place = an_organization(engine)
        published(place, carries(CARRIED, "a.md"))
        assert set(tree(place)) == {CARRIED}
