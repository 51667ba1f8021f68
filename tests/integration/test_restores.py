"""Restores: a deleted Memory comes back under its id, as it was or as the restore says (publication.md §2)."""

from functools import partial

import pytest
from sqlalchemy import Engine

from activities.accepting import ProposedOperation
from models.errors import MemoryNotSelected, OperationInvalid, TargetMissing
from models.store.commits import organization_ref
from models.store.draft_views import draft_body, draft_result
from models.store.locks import DraftRow
from tests.commands import a_merge, a_review, merged, problem_of, published, result_of, selected, submitted
from tests.contested import contested
from tests.invariants import check_invariants
from tests.racing import SUCCEEDED, race
from tests.rows import (
    Somewhere,
    a_draft,
    a_project,
    an_organization,
    appended,
    creates,
    deletes,
    fetch,
    provisional_ids,
    refused,
    renames,
    restores,
    tree,
    updates,
)


def a_deleted_memory(place: Somewhere, path: str = "a.md") -> str:
    """A Memory that was edited once, and deleted."""
    (memory_id,) = published(place, creates(path, "one\n", "First"))
    published(place, updates(memory_id, "two\n", "Second"))
    published(place, deletes(memory_id))
    return memory_id


def operations(place: Somewhere, draft: DraftRow) -> list[tuple[object, ...]]:
    """What a Draft's operations do: action, path, text, description."""
    with place.engine.connect() as connection:
        shown = draft_body(connection, draft).operations
    return [
        (each.action, each.path, each.content and each.content.content, each.content and each.content.description)
        for each in shown
    ]


def selection(place: Somewhere, project_id: str) -> set[str]:
    rows = fetch(place, "select memory_id from org_selections where org_id = :o and project_id = :p", p=project_id)
    return {row.memory_id for row in rows}


def projection(place: Somewhere, project_id: str) -> set[str]:
    rows = fetch(
        place,
        """
        select memory_id from projection_versions
        where org_id = :o and project_id = :p and to_version is null and path is not null
        """,
        p=project_id,
    )
    return {row.memory_id for row in rows}


# --- what is accepted


def test_a_restore_is_stored_with_what_it_brings_back_where_it_does_not_say_otherwise(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id = a_deleted_memory(place)
    draft = a_draft(place, restores(memory_id))
    assert operations(place, draft) == [("restore", "a.md", "two\n", "Second")]


def test_a_restore_takes_the_path_and_texts_that_it_is_given(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id = a_deleted_memory(place)
    draft = a_draft(place, restores(memory_id, "b/e\u0301.md", content="new\r\n", description=" "))
    assert operations(place, draft) == [("restore", "b/\u00e9.md", "new\n", "")]


def test_a_memory_that_the_draft_deleted_comes_back_as_the_draft_had_made_it(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", "one\n", "First"))
    draft = a_draft(place, updates(memory_id, "edited\n"), renames(memory_id, "b.md"), deletes(memory_id))
    draft = appended(place, draft, restores(memory_id), deletes(memory_id), restores(memory_id, description="Again"))
    assert operations(place, draft)[3:] == [
        ("restore", "b.md", "edited\n", "First"),
        ("delete", None, None, None),
        ("restore", "b.md", "edited\n", "Again"),
    ]


def test_what_is_restored_can_be_changed_by_the_operations_after_it(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id = a_deleted_memory(place)
    draft = a_draft(place, restores(memory_id), ProposedOperation(updates("").action, path="a.md", content="three\n"))
    with engine.connect() as connection:
        (shown,) = draft_result(connection, draft).memories
    assert (shown.base, shown.result and shown.result.content) == (None, "three\n")


@pytest.mark.parametrize("edited", [False, True])
def test_an_active_memory_is_not_restored(engine: Engine, edited: bool) -> None:  # noqa: FBT001  (a parameter)
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md"))
    before = [updates(memory_id, "new\n")] if edited else []
    problem = refused(lambda: a_draft(place, *before, restores(memory_id)))
    assert isinstance(problem, OperationInvalid)
    assert (problem.context["rule"], problem.context["index"]) == ("active", len(before))


def test_what_was_never_published_is_not_restored(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("a.md"))
    draft = a_draft(place, creates("b.md"))
    (provisional,) = provisional_ids(place, draft.draft_id)
    for operation in (restores("mem_unknown"), restores(provisional)):
        problem = refused(partial(appended, place, draft, deletes(provisional), operation))
        assert isinstance(problem, TargetMissing)
        assert problem.context["index"] == 1


def test_what_was_deleted_after_the_base_is_active_there(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md"))
    behind = a_draft(place, creates("b.md"))
    published(place, deletes(memory_id))
    problem = refused(lambda: appended(place, behind, restores(memory_id)))
    assert (problem.code, problem.context["rule"]) == ("operation_invalid", "active")


def test_a_restore_needs_no_selection_but_a_deletion_before_it_does(engine: Engine) -> None:
    place = an_organization(engine)
    other = a_project(place)
    (memory_id,) = published(place, creates("a.md"))
    assert isinstance(
        refused(lambda: a_draft(place, deletes(memory_id), restores(memory_id), project_id=other)), MemoryNotSelected
    )
    published(place, deletes(memory_id))
    a_draft(place, restores(memory_id), updates(memory_id, "new\n"), project_id=other)


# --- what is published


def test_a_merged_restore_brings_the_same_id_back_and_selects_it_for_its_project_alone(engine: Engine) -> None:
    place = an_organization(engine)
    other = a_project(place)
    memory_id = a_deleted_memory(place)
    outcome = result_of(merged(place, a_review(place, a_draft(place, restores(memory_id), project_id=other))))
    assert (outcome["created"], outcome["applied_operation_count"]) == ([], 1)
    assert tree(place) == {memory_id: ("a.md", "Second", "two\n")}
    (row,) = fetch(place, "select status, revision from memories where org_id = :o and memory_id = :m", m=memory_id)
    assert (row.status, row.revision) == ("active", 4)
    assert (selection(place, other), selection(place, place.project_id)) == ({memory_id}, set())
    assert (projection(place, other), projection(place, place.project_id)) == ({memory_id}, set())
    check_invariants(engine, place.org_id)


def test_a_deletion_and_a_restore_in_one_draft_move_a_memory_under_its_id(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", "one\n"))
    published(place, deletes(memory_id), restores(memory_id, "b.md"))
    assert tree(place) == {memory_id: ("b.md", "", "one\n")}
    assert selection(place, place.project_id) == {memory_id}
    check_invariants(engine, place.org_id)


def test_a_later_draft_of_the_review_edits_what_an_earlier_one_restores(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id = a_deleted_memory(place)
    first = a_draft(place, restores(memory_id, content="top\n\nend\n"))
    second = a_draft(place, restores(memory_id, content="top\n\nend\n"), creates("b.md"))
    assert submitted(place, first, second).status == "succeeded"


def test_a_restore_to_a_path_that_is_taken_is_a_collision_on_a_current_draft(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id = a_deleted_memory(place)
    (standing,) = published(place, creates("A.md"))
    problem = problem_of(submitted(place, a_draft(place, restores(memory_id))))
    assert (problem["code"], set(problem["memory_ids"])) == ("path_collision", {memory_id, standing})


def test_a_restore_to_a_path_that_was_taken_since_needs_reconciliation(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id = a_deleted_memory(place)
    draft = a_draft(place, restores(memory_id))
    published(place, creates("a.md"))
    problem = problem_of(submitted(place, draft))
    assert contested(problem) == {draft.draft_id: ["path.occupied"]}


# --- what was restored meanwhile


def test_a_restore_that_others_have_made_alike_is_empty(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id = a_deleted_memory(place)
    draft = a_draft(place, restores(memory_id))
    published(place, restores(memory_id))
    assert problem_of(submitted(place, draft))["code"] == "draft_empty"


def test_a_memory_that_others_have_restored_alike_is_selected_for_this_project_too(engine: Engine) -> None:
    place = an_organization(engine)
    other = a_project(place)
    memory_id = a_deleted_memory(place)
    draft = a_draft(place, restores(memory_id), creates("b.md"), project_id=other)
    review_id = a_review(place, draft)
    published(place, restores(memory_id))
    assert result_of(merged(place, review_id))["applied_operation_count"] == 1
    (created,) = provisional_ids(place, draft.draft_id)
    both = {memory_id, created.replace("prv_", "mem_")}
    assert (selection(place, other), projection(place, other)) == (both, both)
    check_invariants(engine, place.org_id)


def test_a_restore_of_which_nothing_is_left_but_the_selection_selects_it_without_a_commit(engine: Engine) -> None:
    place = an_organization(engine)
    other = a_project(place)
    memory_id = a_deleted_memory(place)
    review_id = a_review(place, a_draft(place, restores(memory_id), project_id=other))
    published(place, restores(memory_id))
    with engine.connect() as connection:
        before = organization_ref(connection, place.org_id)
    result = result_of(merged(place, review_id))
    assert (result["already_published"], result["applied_operation_count"]) == (True, 0)
    with engine.connect() as connection:
        assert organization_ref(connection, place.org_id) == before
    assert (selection(place, other), projection(place, other)) == ({memory_id}, {memory_id})
    check_invariants(engine, place.org_id)


def test_a_memory_that_others_have_restored_in_another_way_is_compared_field_by_field(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id = a_deleted_memory(place)
    draft = a_draft(place, restores(memory_id, "ours.md", content="ours\n"))
    published(place, restores(memory_id, "theirs.md", content="theirs\n"))
    problem = problem_of(submitted(place, draft))
    assert contested(problem) == {draft.draft_id: ["path.both_renamed", "body.overlap"]}


def test_an_append_goes_on_from_a_restore_whose_base_has_moved_over_the_same_restore(engine: Engine) -> None:
    place = an_organization(engine)
    other = a_project(place)
    memory_id = a_deleted_memory(place)
    draft = a_draft(place, restores(memory_id), creates("b.md"), project_id=other)
    published(place, restores(memory_id))
    with engine.begin() as connection:
        ref = connection.exec_driver_sql(
            "select commit_id, version from organization_refs where org_id = %s", (place.org_id,)
        ).one()
        connection.exec_driver_sql(
            "update drafts set base_commit_id = %s, base_version = %s where org_id = %s and draft_id = %s",
            (ref.commit_id, ref.version, place.org_id, draft.draft_id),
        )
    draft = appended(place, draft, updates(memory_id, "three\n"))
    with engine.connect() as connection:
        results = {each.memory_id: each.result for each in draft_result(connection, draft).memories}
    restored = results[memory_id]
    assert restored is not None
    assert restored.content == "three\n"


def test_a_deselected_memory_is_still_selected_by_its_restore(engine: Engine) -> None:
    place = an_organization(engine)
    kept, memory_id = published(place, creates("kept.md"), creates("a.md"))
    published(place, deletes(memory_id))
    selected(place, place.project_id, [kept])
    published(place, restores(memory_id))
    assert selection(place, place.project_id) == {kept, memory_id}


# --- twice, and at once


def test_the_second_of_two_equal_restores_is_published_already(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id = a_deleted_memory(place)
    reviews = [a_review(place, a_draft(place, restores(memory_id))) for _ in range(2)]
    results = [result_of(merged(place, review_id)) for review_id in reviews]
    assert [result["already_published"] for result in results] == [False, True]
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize(("theirs", "other"), [("ours\n", SUCCEEDED), ("theirs\n", "reconciliation_required")])
def test_two_restores_merged_at_once_are_both_published_or_one_is_refused(
    engine: Engine, theirs: str, other: str
) -> None:
    place = an_organization(engine)
    for number in range(5):
        memory_id = a_deleted_memory(place, f"{number}.md")
        drafts = [a_draft(place, restores(memory_id, content=content)) for content in ("ours\n", theirs)]
        verdicts = race(place, *(a_merge(place, a_review(place, draft)) for draft in drafts))
        assert sorted(verdicts, reverse=True) == [SUCCEEDED, other]
    check_invariants(engine, place.org_id)


def test_a_restored_memory_can_be_deleted_and_restored_again(engine: Engine) -> None:
    place = an_organization(engine)
    memory_id = a_deleted_memory(place)
    for number in range(2):
        published(place, restores(memory_id, content=f"{number}\n"))
        published(place, deletes(memory_id))
    draft = a_draft(place, restores(memory_id))
    assert operations(place, draft) == [("restore", "a.md", "1\n", "Second")]
    check_invariants(engine, place.org_id)
