"""Drafts of one Review that change the same Memories or meet at a path (publication.md §4, reconciliation-table.md)."""

from collections.abc import Callable
from itertools import product

import pytest
from sqlalchemy import Engine

from activities.accepting import ProposedOperation
from models.identifiers import MemoryId
from tests.commands import a_review, merged, problem_of, published, result_of, submitted
from tests.contested import contested
from tests.invariants import check_invariants
from tests.rows import (
    a_draft,
    an_organization,
    creates,
    deletes,
    renames,
    tree,
    updates,
)

CHANGES: dict[str, Callable[[MemoryId, str], ProposedOperation]] = {
    "body": lambda one, whose: updates(one, f"{whose}\n"),
    "description": lambda one, whose: updates(one, description=whose),
    "path": lambda one, whose: renames(one, f"{whose}.md"),
    "deletion": lambda one, _: deletes(one),
}
CONTRADICTIONS = {
    ("body", "body"): "body.overlap",
    ("description", "description"): "description.both_changed",
    ("path", "path"): "path.both_renamed",
    ("body", "deletion"): "delete.edited_upstream",
    ("description", "deletion"): "delete.edited_upstream",
    ("path", "deletion"): "delete.renamed_upstream",
    ("deletion", "body"): "edit.deleted_upstream",
    ("deletion", "description"): "edit.deleted_upstream",
    ("deletion", "path"): "rename.deleted_upstream",
}
"""What two Drafts change, in their order, that somebody has to bring together."""
COMBINATIONS = [pair for pair in product(["body", "description", "path"], repeat=2) if pair not in CONTRADICTIONS]


@pytest.mark.parametrize(("first", "second"), CONTRADICTIONS)
def test_two_drafts_that_contradict_each_other_need_reconciliation_of_the_later_one(
    engine: Engine, first: str, second: str
) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    drafts = [a_draft(place, CHANGES[first](one, "first")), a_draft(place, CHANGES[second](one, "second"))]
    problem = problem_of(submitted(place, *drafts))
    assert (problem["code"], problem["draft_id"]) == ("reconciliation_required", drafts[1].draft_id)
    ((conflict,),) = [candidate["conflicts"] for candidate in problem["candidates"]]
    assert conflict["code"] == CONTRADICTIONS[first, second]
    assert conflict["other"] == {"draft_id": drafts[0].draft_id, "memory_id": one, "author_id": drafts[0].author_id}


@pytest.mark.parametrize(("first", "second"), COMBINATIONS)
def test_two_drafts_that_change_one_memory_each_its_own_way_are_published_together(
    engine: Engine, first: str, second: str
) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    drafts = [a_draft(place, CHANGES[first](one, "first")), a_draft(place, CHANGES[second](one, "second"))]
    assert result_of(merged(place, a_review(place, *drafts)))["applied_operation_count"] == 1
    whose = {first: "first", second: "second"}
    assert tree(place)[one] == (
        f"{whose.get('path', 'a')}.md",
        whose.get("description", ""),
        f"{whose.get('body', 'text')}\n",
    )
    check_invariants(engine, place.org_id)


def test_lines_of_three_drafts_are_merged_into_a_text_that_is_kept(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", "1\n2\n3\n4\n5\n"))
    texts = ["1, a\n2\n3\n4\n5\n", "1\n2\n3, b\n4\n5\n", "1\n2\n3\n4\n5, c\n"]
    review_id = a_review(place, *(a_draft(place, updates(one, text)) for text in texts))
    assert result_of(merged(place, review_id))["applied_operation_count"] == 1
    assert tree(place)[one][2] == "1, a\n2\n3, b\n4\n5, c\n"
    check_invariants(engine, place.org_id)


def test_a_draft_that_finds_nothing_left_to_do_after_an_earlier_one_is_empty(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    problem = problem_of(submitted(place, a_draft(place, deletes(one)), a_draft(place, deletes(one))))
    assert problem["code"] == "draft_empty"


@pytest.mark.parametrize(
    ("paths", "code"),
    [
        (("a.md", "A.md"), "path.both_created"),
        (("z.md", "z.md"), "path.both_created"),
        (("a", "a/b.md"), "path.occupied"),
        (("a/b.md", "a"), "path.occupied"),
    ],
)
def test_two_drafts_that_meet_at_a_path_key_need_reconciliation(
    engine: Engine, paths: tuple[str, str], code: str
) -> None:
    place = an_organization(engine)
    drafts = [a_draft(place, creates(path)) for path in paths]
    problem = problem_of(submitted(place, *drafts))
    assert (problem["code"], problem["draft_id"]) == ("reconciliation_required", drafts[1].draft_id)
    assert contested(problem) == {drafts[1].draft_id: [code]}
    assert problem["candidates"][0]["conflicts"][0]["other"]["draft_id"] == drafts[0].draft_id


def test_every_draft_that_needs_reconciliation_is_named_in_the_order_of_the_review(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    behind = a_draft(place, renames(two, "x.md"))
    published(place, updates(two, "theirs\n"))
    drafts = [a_draft(place, updates(one, "a\n")), behind, a_draft(place, updates(one, "b\n"))]
    problem = problem_of(submitted(place, *drafts))
    assert contested(problem) == {behind.draft_id: [], drafts[2].draft_id: ["body.overlap"]}
    assert list(contested(problem)) == [behind.draft_id, drafts[2].draft_id]
