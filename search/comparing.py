"""What the index holds of a stretch of the installation's memories, to be held against Postgres."""

import numpy as np

from models.identifiers import OrganizationId, StructuredMemoryId
from models.store.structured_revisions import MemoryKey
from search.columns import LOW_BITS, Integers, View
from search.corpus import Corpus
from search.documents import memory_id_of, memory_number
from search.memory_index import MemoryIndex


def indexed_revisions(index: MemoryIndex, after: MemoryKey, until: MemoryKey | None) -> dict[MemoryKey, int] | None:
    """The revisions of the indexed memories after one key and up to another; None while it is being rebuilt.

    Args:
        index: the index.
        after: the key of empty texts is before all.
        until: None for all that follow.
    """
    with index.lock:
        corpus = index.corpus()
        views = None if corpus is None else _views(corpus, after, until)
    if views is None:
        return None
    found: dict[MemoryKey, int] = {}
    for org_id, view in views:
        first = after.memory_id if org_id == after.org_id else None
        last = until.memory_id if until is not None and org_id == until.org_id else None
        columns = view.columns
        for row in _rows_between(view, first, last).tolist():
            number = int(columns.high[row]) << 64 | int(columns.low[row])
            found[MemoryKey(org_id, memory_id_of(number))] = int(columns.revisions[row])
    return found


def _views(corpus: Corpus, after: MemoryKey, until: MemoryKey | None) -> list[tuple[OrganizationId, View]]:
    """Of the organizations in the stretch, each place as it is now."""
    return [
        (org_id, documents.view(corpus.clock))
        for org_id, places in corpus.organizations.items()
        if org_id >= after.org_id and (until is None or org_id <= until.org_id)
        for documents in places.values()
    ]


def _rows_between(view: View, first: StructuredMemoryId | None, last: StructuredMemoryId | None) -> Integers:
    """The living rows whose memories come after the first and not after the last."""
    high, low, chosen = view.columns.high, view.columns.low, view.living()
    if first:
        bound_high, bound_low = _halves(first)
        chosen &= (high > bound_high) | ((high == bound_high) & (low > bound_low))
    if last:
        bound_high, bound_low = _halves(last)
        chosen &= (high < bound_high) | ((high == bound_high) & (low <= bound_low))
    return np.flatnonzero(chosen)


def _halves(memory_id: StructuredMemoryId) -> tuple[np.uint64, np.uint64]:
    number = memory_number(memory_id)
    return np.uint64(number >> 64), np.uint64(number & LOW_BITS)
