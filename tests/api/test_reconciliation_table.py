"""Cells of reconciliation-table.md over HTTP; all of them are driven through the rules in tests/unit/rules."""

from collections.abc import Mapping, Sequence

import httpx
import pytest

from tests.client import Client, Json, ok, problem
from tests.proposals import inside, listed, submit
from tests.reconciliation_over_http import (
    Shelf,
    candidates_of,
    choices,
    confirming,
    current_of,
    rebase,
    records_of,
    result_of,
    settled,
    shelves,
    submit_confirmed,
)
from tests.reconciliation_steps import BASE, after
from tests.reconciliation_table import the_cases
from tests.reconciliation_verdicts import Case

pytestmark = pytest.mark.usefixtures("worker")

ALL: Mapping[str, Case] = {case.name: case for case in the_cases()}
SOME = (
    "edit body x edit body",
    "edit body x delete",
    "edit description x edit description",
    "delete x edit body",
    "rename x rename, case as q",
    "create x rename, case as q",
    "create x create, same as q",
    "edits of the same lines",
    "a swap that Current edited halfway",
    "a cleared description against an edit of the body",
    "a file where Current has a folder",
    "nothing x rename, same as taken",
    "nothing x rename, same as q",
)
AGAINST_SIBLINGS = (
    "edit body x edit body",
    "edit body x delete",
    "create x create, same as q",
    "edits of the same lines",
)
AT_LENGTH = [name for name in ALL if name not in SOME]


@pytest.fixture(scope="module")
def library(api: Client, worker: object) -> Mapping[str, Shelf]:
    return shelves(api, {name: ALL[name] for name in SOME}, publish_current=True)


@pytest.fixture(scope="module")
def whole_library(api: Client, worker: object) -> Mapping[str, Shelf]:
    return shelves(api, {name: ALL[name] for name in AT_LENGTH}, publish_current=True)


@pytest.fixture(scope="module")
def untouched(api: Client, worker: object) -> Mapping[str, Shelf]:
    return shelves(api, {name: ALL[name] for name in AGAINST_SIBLINGS}, publish_current=False)


@pytest.mark.parametrize("name", SOME)
def test_a_cell_of_the_table_is_refused_and_settled_as_it_says(library: Mapping[str, Shelf], name: str) -> None:
    _settle_against_current(library[name], ALL[name])


@pytest.mark.long
@pytest.mark.parametrize("name", AT_LENGTH)
def test_every_other_cell_is_refused_and_settled_as_it_says(whole_library: Mapping[str, Shelf], name: str) -> None:
    _settle_against_current(whole_library[name], ALL[name])


@pytest.mark.parametrize("name", AGAINST_SIBLINGS)
def test_an_earlier_draft_of_the_review_is_met_as_current_is(untouched: Mapping[str, Shelf], name: str) -> None:
    shelf, case = untouched[name], ALL[name]
    earlier, draft = shelf.draft(case.current), shelf.draft(case.draft)
    if not case.records:
        review = ok(submit(shelf.author, earlier, draft), 201)
        assert inside(review, "mergeability")["state"] == "mergeable"
        return
    refused = problem(submit(shelf.author, earlier, draft), 409, "reconciliation_required")
    [candidate] = candidates_of(refused)
    assert records_of(shelf, draft, candidate) == case.records
    others = [inside(conflict, "other") for conflict in listed(candidate, "conflicts")]
    assert {other["draft_id"] for other in others} == {earlier["draft_id"]}
    for chosen in choices(candidate):
        first, second = shelf.draft(case.current), shelf.draft(case.draft)
        [again] = candidates_of(problem(submit(shelf.author, first, second), 409, "reconciliation_required"))
        states = _same(chosen, again)
        _require_submitted(
            submit_confirmed(shelf.author, (first, {}), (second, confirming(again, states))),
            changes=settled(again, states or []) != current_of(again),
        )


def _settle_against_current(shelf: Shelf, case: Case) -> None:
    draft = shelf.draft(case.draft)
    if case.collides:
        problem(submit(shelf.author, draft), 409, "path_collision")
        return
    if _has_converged(case) or not case.asks:
        _require_submitted(submit(shelf.author, draft), changes=not _has_converged(case))
        return
    [candidate] = candidates_of(problem(submit(shelf.author, draft), 409, "reconciliation_required"))
    assert records_of(shelf, draft, candidate) == case.records
    assert candidate["reconciliation"] == ("conflicts" if case.records else "clean")
    for chosen in choices(candidate):
        _rebase(shelf, case, chosen)
        _submit(shelf, case, chosen)


def _rebase(shelf: Shelf, case: Case, chosen: Sequence[Json]) -> None:
    draft, candidate, states = _another(shelf, case, chosen)
    rebased = ok(rebase(shelf.author, draft, candidate, states))
    coordination = inside(rebased, "coordination")
    assert (coordination["freshness"], coordination["reconciliation"]) == ("current", "clean")
    wanted = {memory_id: state for memory_id, state in settled(candidate, states or []).items() if state is not None}
    result = result_of(ok(shelf.author.get(f"/drafts/{draft['draft_id']}/result")))
    assert {memory_id: state for memory_id, state in result.items() if state is not None} == wanted


def _submit(shelf: Shelf, case: Case, chosen: Sequence[Json]) -> None:
    draft, candidate, states = _another(shelf, case, chosen)
    wanted = settled(candidate, states or [])
    answer = submit_confirmed(shelf.author, (draft, confirming(candidate, states)))
    review = _require_submitted(answer, changes=wanted != current_of(candidate))
    if review is not None:
        diff = result_of(ok(shelf.author.get(f"/reviews/{review['review_id']}/diff")))
        assert _standing(diff) == _standing(wanted)
        gone = {memory_id for memory_id, state in current_of(candidate).items() if state and wanted[memory_id] is None}
        assert gone <= {memory_id for memory_id, state in diff.items() if state is None}


def _has_converged(case: Case) -> bool:
    """Whether nothing is left of the Draft, as everybody has it already."""
    current = after(BASE, case.current)
    return case.result is not None and all(current.get(letter) == state for letter, state in case.result.items())


def _standing(result: Mapping[str, Json | None]) -> list[str]:
    """What exists in a result; what a Draft makes has another id in its Review."""
    return sorted(str(state) for state in result.values() if state is not None)


def _require_submitted(answer: httpx.Response, *, changes: bool) -> Json | None:
    """Submitted and in nobody's way, or refused because nothing is left of the last Draft."""
    if not changes:
        problem(answer, 422, "draft_empty")
        return None
    review = ok(answer, 201)
    assert inside(review, "mergeability")["state"] == "mergeable"
    return review


def _another(shelf: Shelf, case: Case, chosen: Sequence[Json]) -> tuple[Json, Json, Sequence[Json] | None]:
    """The same Draft once more, its candidate, and the same choice for it."""
    draft = shelf.draft(case.draft)
    [candidate] = candidates_of(problem(submit(shelf.author, draft), 409, "reconciliation_required"))
    return draft, candidate, _same(chosen, candidate)


def _same(chosen: Sequence[Json], candidate: Json) -> Sequence[Json] | None:
    """A choice for the candidate of a Draft that is the same but for the ids of what it makes; None of a clean one."""
    contested = dict.fromkeys(str(conflict["memory_id"]) for conflict in listed(candidate, "conflicts"))
    if not contested:
        return None
    return [{**state, "memory_id": memory_id} for state, memory_id in zip(chosen, contested, strict=True)]
