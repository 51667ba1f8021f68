"""Steps of an import where something is amiss: a late one changes nothing, a failed one ends (publication.md §6)."""

import pytest
from sqlalchemy import Engine

from activities.imports import ImportActivities
from activities.messages import ImportBatch
from models.store.operations import MAX_FAILURES
from tests.commands import operation_now, problem_of
from tests.imports import (
    a_file,
    an_import,
    command_of,
    drafted,
    drafts_of,
    finished,
    planned,
    row_of_import,
    staged_texts,
)
from tests.rows import an_organization, execute


def test_a_late_batch_of_a_plan_that_was_given_up_makes_no_draft(engine: Engine) -> None:
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"))
    planned(place, operation)
    late = ImportBatch(command=command_of(operation), batch=1)
    assert ImportActivities(place.engine).draft_import_batch(late).next_batch == 0
    assert drafts_of(place) == []
    drafted(place, operation)
    assert finished(place, operation)


def test_an_import_whose_drafts_cannot_be_discarded_has_ended_all_the_same(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = 2_147_483_647  # there is no version after it
    monkeypatch.setattr("activities.import_steps.FIRST_VERSION", last)
    place = an_organization(engine)
    operation = an_import(place, a_file("a.md"))
    drafted(place, operation)
    execute(place, "update drafts set version = :last where org_id = :o", last=last)
    answers = [finished(place, operation) for _ in range(MAX_FAILURES)]
    assert answers == [False] * (MAX_FAILURES - 1) + [True]
    assert problem_of(operation_now(place, operation))["code"] == "internal_error"
    assert row_of_import(place, operation).ended_at is not None
    assert staged_texts(place) == 0
    assert [draft.status for draft in drafts_of(place)] == ["open"]
