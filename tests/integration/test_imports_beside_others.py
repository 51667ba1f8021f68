"""Imports carried out while others write first: planned anew until they are whole (publication.md §6)."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from activities.drafting import retitle
from models.store.locks import DraftRow
from tests.commands import a_review, merged, problem_of, published, result_of
from tests.imports import (
    a_file,
    an_import,
    drafted,
    drafts_of,
    first_open_draft,
    imported,
    merged_result,
    row_of_import,
    staged_texts,
)
from tests.invariants import check_invariants
from tests.rows import (
    Somewhere,
    a_member,
    acting,
    an_organization,
    appended,
    creates,
    deletes,
    discarded,
    tree,
    updates,
    with_state,
)


def paths(place: Somewhere) -> dict[str, str]:
    """What is published now: body by path."""
    return {path: body for path, _, body in tree(place).values()}


def appends_to(place: Somewhere, draft: DraftRow) -> None:
    appended(place, draft, creates("mine.md"))


def titles(place: Somewhere, draft: DraftRow) -> None:
    with acting(place) as tx:
        retitle(tx, draft.draft_id, expected_version=draft.version, title="Mine")


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


@pytest.mark.parametrize("touch", [appends_to, titles], ids=["appended to", "titled anew"])
def test_a_draft_that_its_author_has_changed_stays_open_and_the_plan_is_made_without_it(
    engine: Engine, touch: Callable[[Somewhere, DraftRow], object]
) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"))
    touched: list[DraftRow] = []

    def compete() -> None:
        if not touched:
            touched.append(first_open_draft(place))
            touch(place, touched[0])

    result = result_of(imported(place, operation, before_submit=compete))
    assert row_of_import(place, operation).attempt == 2
    assert [(draft.draft_id, draft.version) for draft in drafts_of(place, "open")] == [(touched[0].draft_id, 2)]
    assert drafts_of(place, "discarded") == []
    assert result["counts"]["created"] == 1
    merged_result(place, operation)
    assert paths(place) == {"a.md": "text\n"}
    check_invariants(engine, place.org_id)


def test_a_draft_that_its_author_has_changed_stays_open_when_the_import_fails(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"))
    drafted(place, operation)
    appends_to(place, first_open_draft(place))
    with_state(place, place.project_id, "archived")
    assert problem_of(imported(place, operation))["code"] == "project_archived"
    assert [draft.status for draft in drafts_of(place)] == ["open"]
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


def test_a_draft_that_an_admin_discards_is_made_again(engine: Engine, few: int) -> None:
    place = an_organization(engine)
    operation = an_import(place, *(a_file(f"{number}.md") for number in range(few + 1)), author=a_member(place))
    drafted(place, operation)
    discarded(place, first_open_draft(place))
    imported(place, operation)
    assert [draft.status for draft in drafts_of(place)] == ["discarded"] * 2 + ["submitted"] * 2
    assert merged_result(place, operation)["applied_operation_count"] == few + 1
    check_invariants(engine, place.org_id)


def test_a_draft_that_its_author_has_submitted_alone_is_left_to_the_author(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"))
    drafted(place, operation)
    alone = a_review(place, first_open_draft(place))
    result = result_of(imported(place, operation))
    assert result["review_id"] != alone
    assert [draft.status for draft in drafts_of(place)] == ["submitted", "submitted"]
    assert merged(place, alone).status == "succeeded"
    check_invariants(engine, place.org_id)
