"""A plan cut into Drafts: in order, within the limits of Drafts and Reviews (publication.md §1)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from models.rules.import_plans import PlannedOperation
from models.rules.limits import MAX_DRAFT_OPERATIONS, MAX_REVIEW_DRAFTS, MAX_REVIEW_OPERATIONS

TEXT_BYTES = 8 * 1024 * 1024
"""About as much text as a Draft is given: one batch at a time is in memory."""


def cut(operations: Sequence[PlannedOperation], sizes: Mapping[str, int]) -> list[list[PlannedOperation]]:
    """The operations in order, cut into as few Drafts as the limits allow; those of one Memory stay together.

    A Draft holds some 8 MiB of text, or twice, four times as much where there would be too many Drafts otherwise.

    Args:
        operations: those of one Memory follow each other, a pair at most; the pairs come first.
        sizes: the bytes of text by `file_path`.

    Raises:
        ValueError: more operations than a Review holds.
    """
    if len(operations) > MAX_REVIEW_OPERATIONS:
        raise ValueError("a Review does not hold so many operations")
    groups = [list(group) for _, group in groupby(enumerate(operations), key=_memory)]
    weighed = [([operation for _, operation in group], _weight(group, sizes)) for group in groups]
    limit = TEXT_BYTES
    while len(batches := _within(weighed, limit)) > MAX_REVIEW_DRAFTS:
        limit *= 2
    return batches


def _memory(numbered: tuple[int, PlannedOperation]) -> str | int:
    """What an operation must not be parted from: those of its Memory; a create without an id stands alone."""
    index, operation = numbered
    return operation.memory_id or index


def _weight(group: Iterable[tuple[int, PlannedOperation]], sizes: Mapping[str, int]) -> int:
    return sum(sizes.get(operation.file_path or "", 0) for _, operation in group if operation.takes_content)


def _within(groups: Iterable[tuple[list[PlannedOperation], int]], limit: int) -> list[list[PlannedOperation]]:
    batches: list[list[PlannedOperation]] = []
    weight = 0
    for operations, added in groups:
        if not batches or len(batches[-1]) + len(operations) > MAX_DRAFT_OPERATIONS or weight + added > limit:
            batches.append([])
            weight = 0
        batches[-1].extend(operations)
        weight += added
    return batches
