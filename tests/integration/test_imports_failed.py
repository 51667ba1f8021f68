"""Imports that fail: no Draft of theirs stays open, and no text (publication.md §6)."""

import pytest
from sqlalchemy import Engine

from activities.imports import ImportActivities
from activities.messages import ImportBatch
from tests.commands import operation_now, problem_of
from tests.imports import (
    a_file,
    an_import,
    command_of,
    drafted,
    drafts_of,
    imported,
    planned,
    row_of_import,
    staged_texts,
)
from tests.rows import (
    a_member,
    an_organization,
    execute,
    leaves,
    with_state,
)


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


def test_a_defect_ends_it_at_the_fifth_time_and_leaves_no_draft(engine: Engine, few: int) -> None:
    place = an_organization(engine)
    operation = an_import(place, *(a_file(f"{number}.md") for number in range(few + 1)))
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
