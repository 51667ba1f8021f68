"""Imports carried out on a real Postgres, step by step and beside others who write (publication.md §6)."""

import pytest
from sqlalchemy import Engine

from activities.imports import ImportActivities
from activities.messages import ImportBatch
from models.identifiers import MemoryId
from models.store.drafts import read_draft
from models.store.locks import DraftRow
from models.store.operations import StoredOperation
from tests.commands import a_review, merged, operation_now, problem_of, published, result_of, selected
from tests.imports import a_file, an_import, command_of, drafted, drafts_of, finished, imported, planned, row_of_import
from tests.invariants import check_invariants
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    an_organization,
    creates,
    deletes,
    discarded,
    execute,
    fetch,
    leaves,
    refused,
    renames,
    tree,
    updates,
    with_state,
)


def merged_result(place: Somewhere, operation: StoredOperation) -> dict[str, object]:
    """What the merge of an import's Review answers."""
    review_id = row_of_import(place, operation).review_id
    assert review_id is not None
    return result_of(merged(place, review_id))


def staged_texts(place: Somewhere) -> int:
    (row,) = fetch(place, "select count(content) as texts from import_files where org_id = :o")
    return int(row.texts)


def the_first_draft(place: Somewhere) -> DraftRow:
    with place.engine.connect() as connection:
        draft = read_draft(connection, place.org_id, drafts_of(place)[0].draft_id)
    assert draft is not None
    return draft


def paths(place: Somewhere) -> dict[str, str]:
    """What is published now: body by path."""
    return {path: body for path, _, body in tree(place).values()}


def test_files_become_drafts_and_one_review_that_is_merged_like_any_other(engine: Engine) -> None:
    place = an_organization(engine)
    author = a_member(place)
    operation = an_import(place, a_file("a.md"), a_file("b.md", "b\n", description="B"), author=author, title="Notes")
    result = result_of(imported(place, operation))
    assert (result["status"], result["counts"]["created"]) == ("succeeded", 2)
    assert result["progress"] == {"step": "succeeded", "done": 1, "total": 1}
    (draft,) = drafts_of(place)
    assert (draft.title, draft.status) == ("Notes", "submitted")
    (review,) = fetch(place, "select review_id, title, author_id, refresh_pending from reviews where org_id = :o")
    assert (review.review_id, review.title, review.author_id) == (result["review_id"], "Notes", author)
    assert review.refresh_pending
    merged_result(place, operation)
    assert sorted(tree(place).values()) == [("a.md", "", "text\n"), ("b.md", "B", "b\n")]
    check_invariants(engine, place.org_id)


def test_what_was_staged_under_an_id_keeps_it(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md", memory_id="ctx_old-1"), a_file("b.md"))
    imported(place, operation)
    created = merged_result(place, operation)["created"]
    assert isinstance(created, list)
    assert {item["path"]: item["memory_id"] for item in created}["a.md"] == "ctx_old-1"
    assert {item["provisional_id"] for item in created if item["path"] == "a.md"} == {"ctx_old-1"}
    assert tree(place)["ctx_old-1"] == ("a.md", "", "text\n")
    check_invariants(engine, place.org_id)


def test_every_kind_of_change_in_one_import(engine: Engine) -> None:
    place = an_organization(engine)
    kept, moved, edited, gone = published(
        place, creates("kept.md"), creates("old.md", "moved\n"), creates("edited.md", "was\n"), creates("gone.md")
    )
    operation = an_import(
        place,
        a_file("kept.md"),
        a_file("new.md", "moved and edited\n", memory_id=moved),
        a_file("edited.md", "is\n", description="now"),
        a_file("created.md", "created\n"),
        mirror=True,
    )
    result = result_of(imported(place, operation))
    assert result["counts"] == {"created": 1, "updated": 2, "renamed": 1, "deleted": 1, "unchanged": 1}
    merged_result(place, operation)
    now = tree(place)
    assert now[kept] == ("kept.md", "", "text\n")
    assert now[moved] == ("new.md", "", "moved and edited\n")
    assert now[edited] == ("edited.md", "now", "is\n")
    assert gone not in now
    assert "created.md" in paths(place)
    check_invariants(engine, place.org_id)


def test_an_import_of_nothing_new_succeeds_without_a_review(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("a.md"))
    result = result_of(imported(place, an_import(place, a_file("a.md"))))
    assert (result["review_id"], result["counts"]["unchanged"], result["status"]) == (None, 1, "succeeded")
    assert drafts_of(place) == drafts_of(place, "merged")


def test_more_than_a_thousand_operations_are_several_drafts_of_one_review(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, *(a_file(f"{number}.md") for number in range(2_001)), title="T" * 200)
    step = drafted(place, operation)
    assert (step.batches, step.next_batch) == (3, 3)
    drafts = drafts_of(place, "open")
    assert [draft.title for draft in drafts] == ["T" * 191 + f" ({number} of 3)" for number in (1, 2, 3)]
    assert finished(place, operation)
    result = merged_result(place, operation)
    assert result["applied_operation_count"] == 2_001
    assert len(tree(place)) == 2_001


def test_the_operation_shows_its_steps(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, *(a_file(f"{number}.md") for number in range(1_001)))

    def shown() -> tuple[str, int, int]:
        now = operation_now(place, operation)
        assert now.status == "running"
        return now.progress_step, now.progress_done, now.progress_total

    step = planned(place, operation)
    assert shown() == ("drafts", 0, 2)
    for done in (("drafts", 1, 2), ("submit", 0, 1)):
        batch = ImportBatch(command=command_of(operation), batch=step.next_batch)
        step = ImportActivities(place.engine).draft_import_batch(batch)
        assert shown() == done


def test_the_texts_of_staged_files_are_dropped_when_it_has_ended_and_reports_stay(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"), a_file("A.md"), a_file("b.md"), a_file("blank.md", " \n"))
    result = result_of(imported(place, operation))
    assert [report["path"] for report in result["reports"]] == ["A.md", "a.md", "blank.md"]
    assert staged_texts(place) == 0
    assert fetch(place, "select * from import_operations where org_id = :o") == []


def test_its_open_drafts_hold_the_selection(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md"))
    drafted(place, an_import(place, a_file("a.md", "edited\n")))
    assert problem_of(selected(place, place.project_id, []))["code"] == "selection_in_use"
    assert memory_id in tree(place)


# --- others write first


def test_a_memory_that_changes_in_between_makes_it_plan_anew(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", "was\n"))
    operation = an_import(place, a_file("a.md", "imported\n"))
    edits = iter([updates(memory_id, "theirs\n")])

    def compete() -> None:
        for edit in edits:
            published(place, edit)

    result = result_of(imported(place, operation, before_submit=compete))
    assert result["counts"]["updated"] == 1
    assert row_of_import(place, operation).attempt == 2
    merged_result(place, operation)
    assert paths(place) == {"a.md": "imported\n"}
    assert [draft.status for draft in drafts_of(place)].count("discarded") == 1
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize(
    "theirs", [creates("new.md", "theirs\n"), creates("NEW.md", "theirs\n")], ids=["at the path", "spelled otherwise"]
)
def test_a_memory_that_appears_at_a_files_path_becomes_its_target(engine: Engine, theirs: object) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("new.md", "imported\n"))
    waiting = [theirs]

    def compete() -> None:
        while waiting:
            published(place, waiting.pop())  # type: ignore[arg-type]

    result = result_of(imported(place, operation, before_submit=compete))
    assert (result["counts"]["created"], result["counts"]["updated"]) == (0, 1)
    merged_result(place, operation)
    assert paths(place) == {"new.md": "imported\n"}
    check_invariants(engine, place.org_id)


def test_a_carried_id_that_is_given_away_in_between_names_that_memory(engine: Engine) -> None:
    place = an_organization(engine)
    first, second = (an_import(place, a_file(f"{name}.md", memory_id="mem_one")) for name in "ab")
    drafted(place, first)
    imported(place, second)
    merged_result(place, second)
    result = result_of(imported(place, first))
    assert (result["counts"]["created"], result["counts"]["renamed"]) == (0, 1)
    merged_result(place, first)
    assert tree(place) == {"mem_one": ("a.md", "", "text\n")}


def test_a_memory_deleted_in_between_is_created_anew(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", "was\n"))
    operation = an_import(place, a_file("a.md", "imported\n"))
    waiting = [deletes(memory_id)]

    def compete() -> None:
        while waiting:
            published(place, waiting.pop())

    assert result_of(imported(place, operation, before_submit=compete))["counts"]["created"] == 1
    merged_result(place, operation)
    assert paths(place) == {"a.md": "imported\n"}


def test_what_others_have_published_meanwhile_is_not_submitted_again(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", "was\n"))
    operation = an_import(place, a_file("a.md", "imported\n"))
    waiting = [updates(memory_id, "imported\n")]

    def compete() -> None:
        while waiting:
            published(place, waiting.pop())

    result = result_of(imported(place, operation, before_submit=compete))
    assert (result["review_id"], result["counts"]["unchanged"]) == (None, 1)
    assert drafts_of(place, "open") == []


def test_what_others_write_elsewhere_does_not_disturb_it(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"))
    imported(place, operation, before_submit=lambda: published(place, creates("other.md")))
    assert row_of_import(place, operation).attempt == 1
    merged_result(place, operation)
    check_invariants(engine, place.org_id)


def test_the_fifth_plan_that_is_overtaken_is_the_last(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", "was\n"))
    operation = an_import(place, a_file("a.md", "imported\n"))
    rounds = iter(range(100))
    problem = problem_of(
        imported(place, operation, before_submit=lambda: published(place, updates(memory_id, f"{next(rounds)}\n")))
    )
    assert (problem["code"], problem["status"]) == ("reconciliation_required", 409)
    assert next(rounds) == row_of_import(place, operation).attempt == 5
    assert drafts_of(place, "open") == []
    assert staged_texts(place) == 0
    check_invariants(engine, place.org_id)


def test_a_draft_that_an_admin_discards_is_made_again(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, *(a_file(f"{number}.md") for number in range(1_001)), author=a_member(place))
    drafted(place, operation)
    discarded(place, the_first_draft(place))
    imported(place, operation)
    assert [draft.status for draft in drafts_of(place)] == ["discarded"] * 2 + ["submitted"] * 2
    assert merged_result(place, operation)["applied_operation_count"] == 1_001
    check_invariants(engine, place.org_id)


def test_a_draft_that_its_author_has_submitted_alone_is_left_to_the_author(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"))
    drafted(place, operation)
    alone = a_review(place, the_first_draft(place))
    result = result_of(imported(place, operation))
    assert result["review_id"] != alone
    assert [draft.status for draft in drafts_of(place)] == ["submitted", "submitted"]
    assert merged(place, alone).status == "succeeded"
    check_invariants(engine, place.org_id)


# --- imports that fail


def test_an_import_into_a_project_that_is_archived_meanwhile_fails_and_leaves_no_draft(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"))
    drafted(place, operation)
    with_state(place, place.project_id, "archived")
    assert problem_of(imported(place, operation))["code"] == "project_archived"
    assert [draft.status for draft in drafts_of(place)] == ["discarded"]
    assert row_of_import(place, operation).ended_at is not None
    assert staged_texts(place) == 0


@pytest.mark.parametrize("after", [planned, drafted, None])
def test_an_import_of_somebody_who_has_left_fails_and_leaves_no_draft(engine: Engine, after: object) -> None:
    place = an_organization(engine)
    author = a_member(place)
    operation = an_import(place, a_file("a.md"), author=author)
    if callable(after):
        after(place, operation)
    leaves(place, author)
    assert problem_of(imported(place, operation))["code"] == "not_found"
    assert drafts_of(place, "open") == []
    assert staged_texts(place) == 0


def test_a_defect_ends_it_at_the_fifth_time_and_leaves_no_draft(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, *(a_file(f"{number}.md") for number in range(1_001)))
    step = planned(place, operation)
    first = ImportBatch(command=command_of(operation), batch=step.next_batch)
    assert ImportActivities(place.engine).draft_import_batch(first).advanced
    execute(place, "update import_operations set path = null where org_id = :o and batch = 1")
    answers = [
        ImportActivities(place.engine).draft_import_batch(first.model_copy(update={"batch": 1})) for _ in "12345"
    ]
    assert [(answer.finished, answer.advanced) for answer in answers] == [(False, False)] * 4 + [(True, False)]
    assert problem_of(operation_now(place, operation))["code"] == "internal_error"
    assert drafts_of(place, "open") == []
    assert row_of_import(place, operation).ended_at is not None


# --- every step may be repeated


def test_every_step_done_twice_is_done_once(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, *(a_file(f"{number}.md") for number in range(1_001)))
    assert planned(place, operation) == planned(place, operation)
    for batch in (1, 0, 1, 0):
        ImportActivities(place.engine).draft_import_batch(ImportBatch(command=command_of(operation), batch=batch))
    assert len(drafts_of(place)) == 2
    assert finished(place, operation)
    assert finished(place, operation)
    assert planned(place, operation).finished
    assert len(fetch(place, "select review_id from reviews where org_id = :o")) == 1


def test_a_finish_that_comes_too_early_waits_for_the_drafts(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"))
    assert not finished(place, operation)
    planned(place, operation)
    assert not finished(place, operation)
    assert drafts_of(place) == []


def test_renames_that_swap_two_memories_are_one_review(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md", "one\n"), creates("2.md", "two\n"))
    operation = an_import(place, a_file("2.md", "one\n", memory_id=one), a_file("1.md", "two\n", memory_id=two))
    assert result_of(imported(place, operation))["counts"]["renamed"] == 2
    merged_result(place, operation)
    assert tree(place) == {one: ("2.md", "", "one\n"), two: ("1.md", "", "two\n")}
    assert refused(lambda: a_draft(place, renames(MemoryId("mem_none"), "x.md"))).code == "target_missing"
