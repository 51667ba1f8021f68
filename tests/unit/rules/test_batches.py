from collections.abc import Sequence

import pytest

from models.identifiers import MemoryId
from models.rules.batches import TEXT_BYTES, cut
from models.rules.folding import Action
from models.rules.import_plans import PlannedOperation
from models.rules.limits import MAX_DRAFT_OPERATIONS, MAX_REVIEW_DRAFTS, MAX_REVIEW_OPERATIONS


def create(number: int) -> PlannedOperation:
    return PlannedOperation(
        Action.CREATE, path=f"{number}.md", file_path=f"{number}.md", takes_content=True, takes_description=True
    )


def change(number: int) -> list[PlannedOperation]:
    """A rename and an update of one Memory."""
    memory_id = MemoryId(f"mem_{number}")
    return [
        PlannedOperation(Action.RENAME, memory_id, path=f"{number}.md"),
        PlannedOperation(Action.UPDATE, memory_id, file_path=f"{number}.md", takes_content=True),
    ]


def lengths(batches: Sequence[Sequence[PlannedOperation]]) -> list[int]:
    return [len(batch) for batch in batches]


def test_nothing_to_do_is_no_draft() -> None:
    assert cut([], {}) == []


@pytest.mark.parametrize(
    ("operations", "drafts"), [(1, [1]), (1_000, [1_000]), (1_001, [1_000, 1]), (2_500, [1_000, 1_000, 500])]
)
def test_a_draft_holds_a_thousand_operations(operations: int, drafts: list[int]) -> None:
    assert lengths(cut([create(number) for number in range(operations)], {})) == drafts


def test_the_order_is_kept() -> None:
    operations = [create(number) for number in range(2_001)]
    assert [operation for batch in cut(operations, {}) for operation in batch] == operations


def test_the_operations_of_one_memory_stay_together() -> None:
    operations = [create(0), *(operation for number in range(1, 1_001) for operation in change(number))]
    assert lengths(cut(operations, {})) == [999, 1_000, 2]


def test_a_draft_holds_some_eight_mebibytes_of_text() -> None:
    sizes = {f"{number}.md": TEXT_BYTES // 4 for number in range(9)}
    assert lengths(cut([create(number) for number in range(9)], sizes)) == [4, 4, 1]


def test_text_that_is_not_taken_weighs_nothing() -> None:
    deletes = [PlannedOperation(Action.DELETE, MemoryId(f"mem_{number}")) for number in range(5)]
    renames = [PlannedOperation(Action.RENAME, MemoryId(f"mem_x{number}"), path=f"{number}.md") for number in range(5)]
    sizes = {f"{number}.md": TEXT_BYTES for number in range(5)}
    assert lengths(cut([*deletes, *renames], sizes)) == [10]


def test_a_text_larger_than_a_draft_is_given_is_a_draft_of_its_own() -> None:
    sizes = {"0.md": 1, "1.md": 2 * TEXT_BYTES, "2.md": 1}
    assert lengths(cut([create(number) for number in range(3)], sizes)) == [1, 1, 1]


def test_where_there_would_be_too_many_drafts_each_is_given_more_text() -> None:
    number_of = MAX_REVIEW_DRAFTS * 3
    sizes = {f"{number}.md": TEXT_BYTES for number in range(number_of)}
    assert lengths(cut([create(number) for number in range(number_of)], sizes)) == [4] * 75


def test_more_operations_than_a_review_holds_are_refused_rather_than_cut_for_ever() -> None:
    with pytest.raises(ValueError, match="so many"):
        cut([create(number) for number in range(MAX_REVIEW_OPERATIONS + 1)], {})


def test_a_review_is_filled_to_its_last_operation() -> None:
    pairs = [operation for number in range(10_000) for operation in change(number)]
    singles = [create(number) for number in range(MAX_REVIEW_OPERATIONS - len(pairs))]
    sizes = {f"{number}.md": 262_144 for number in range(len(singles))}
    assert lengths(cut([*pairs, *singles], sizes)) == [MAX_DRAFT_OPERATIONS] * MAX_REVIEW_DRAFTS
