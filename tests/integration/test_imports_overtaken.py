"""What an import ends with when somebody has written first each time: the refusal of its last submission."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from activities.import_steps import OVERTAKEN
from models.store.drafts import read_draft
from models.store.locks import DraftRow
from tests.commands import a_review, merged, problem_of, published, result_of
from tests.imports import a_file, an_import, drafts_of, imported
from tests.rows import Somewhere, an_organization, appended, creates, discarded, execute, tree, updates

Deed = Callable[[Somewhere], object]


def its_draft(place: Somewhere) -> DraftRow:
    with place.engine.connect() as connection:
        draft = read_draft(connection, place.org_id, drafts_of(place, "open")[0].draft_id)
    assert draft is not None
    return draft


def somebody_discards_its_draft(place: Somewhere) -> None:
    discarded(place, its_draft(place))


def its_author_submits_its_draft(place: Somewhere) -> None:
    a_review(place, its_draft(place))


def its_author_appends_to_its_draft(place: Somewhere) -> None:
    appended(place, its_draft(place), creates("mine.md"))


def somebody_publishes_the_same(place: Somewhere) -> None:
    published(place, updates(min(tree(place)), "imported\n"))


def somebody_publishes_something_else(place: Somewhere) -> None:
    published(place, updates(min(tree(place)), "theirs\n"))


def the_selection_loses_its_memory(place: Somewhere) -> None:
    execute(place, "delete from org_selections where org_id = :o")


def somebody_takes_its_id(place: Somewhere) -> None:
    taking = result_of(imported(place, an_import(place, a_file("theirs.md", memory_id="ctx_1"))))
    result_of(merged(place, taking["review_id"]))


DEEDS: list[tuple[Deed, str]] = [
    (somebody_discards_its_draft, "draft_closed"),
    (its_author_submits_its_draft, "draft_submitted"),
    (its_author_appends_to_its_draft, "version_conflict"),
    (somebody_publishes_the_same, "draft_empty"),
    (the_selection_loses_its_memory, "memory_not_selected"),
    (somebody_takes_its_id, "duplicate_id"),
    (somebody_publishes_something_else, "reconciliation_required"),
]


@pytest.mark.parametrize(("deed", "code"), DEEDS)
def test_the_refusal_of_the_last_submission_is_the_outcome(engine: Engine, deed: Deed, code: str) -> None:
    place = an_organization(engine)
    published(place, creates("a.md", "was\n"))
    files = [a_file("b.md", memory_id="ctx_1")] if code == "duplicate_id" else [a_file("a.md", "imported\n")]
    operation = an_import(place, *files)
    execute(place, "update imports set attempt = 4 where org_id = :o")
    assert problem_of(imported(place, operation, before_submit=lambda: deed(place)))["code"] == code


def test_every_code_that_is_documented_for_it_is_produced() -> None:
    assert {code for _, code in DEEDS} == {kind.code for kind in OVERTAKEN}


def test_more_operations_than_a_review_holds_fail(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.rules.import_operations.MAX_REVIEW_OPERATIONS", 2)
    place = an_organization(engine)
    problem = problem_of(imported(place, an_import(place, *(a_file(f"{number}.md") for number in range(3)))))
    assert (problem["code"], problem["rule"]) == ("operation_invalid", "too_many")
