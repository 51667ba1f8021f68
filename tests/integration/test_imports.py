"""Imports carried out on a real Postgres, step by step (publication.md §6)."""

from sqlalchemy import Engine

from activities.imports import ImportActivities
from activities.messages import ImportBatch
from models.identifiers import MemoryId
from tests.commands import operation_now, problem_of, published, result_of, selected
from tests.imports import (
    a_file,
    an_import,
    command_of,
    drafted,
    drafts_of,
    finished,
    imported,
    merged_result,
    planned,
    staged_texts,
)
from tests.invariants import check_invariants
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    an_organization,
    creates,
    fetch,
    refused,
    renames,
    tree,
)


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
    operation = an_import(place, *(a_file(f"{number}.md") for number in range(1_001)))
    step = drafted(place, operation)
    assert (step.batches, step.next_batch) == (2, 2)
    assert finished(place, operation)
    assert merged_result(place, operation)["applied_operation_count"] == 1_001


def test_the_drafts_of_an_import_are_numbered_within_the_limit_of_a_title(engine: Engine, few: int) -> None:
    place = an_organization(engine)
    drafted(place, an_import(place, *(a_file(f"{number}.md") for number in range(2 * few + 1)), title="T" * 200))
    titles = [draft.title for draft in drafts_of(place, "open")]
    assert titles == ["T" * 191 + f" ({number} of 3)" for number in (1, 2, 3)]


def test_the_operation_shows_its_steps(engine: Engine, few: int) -> None:
    place = an_organization(engine)
    operation = an_import(place, *(a_file(f"{number}.md") for number in range(few + 1)))

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


def test_every_step_done_twice_is_done_once(engine: Engine, few: int) -> None:
    place = an_organization(engine)
    operation = an_import(place, *(a_file(f"{number}.md") for number in range(few + 1)))
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
