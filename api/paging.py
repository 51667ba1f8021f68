"""Pages: opaque cursors that only fit the list they came from."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from models.rules.cursors import decode_cursor, encode_cursor, fingerprint_of
from models.schemas.common import Item, ListQuery, Page

R = TypeVar("R")


class Paging:
    """One page of one list.

    Args:
        query: which page.
        scope: what the list is of: its name, the organization, the filters. A cursor of another scope is refused.
        parts: how many texts a position has (the sort key of the last row of a page).
    """

    def __init__(self, query: ListQuery, *scope: str | None, parts: int = 1) -> None:
        self.limit = query.limit
        self._fingerprint = fingerprint_of(scope)
        self.after = None if query.cursor is None else decode_cursor(query.cursor, self._fingerprint, parts=parts)

    @property
    def fetch(self) -> int:
        """How many rows to read: one more than the page has tells whether there is another page."""
        return self.limit + 1

    @property
    def after_id(self) -> str | None:
        """The position after which the page begins, for lists that are sorted by one id."""
        return None if self.after is None else self.after[0]

    def page(
        self,
        kind: type[Page[Item]],
        rows: Sequence[R],
        *,
        show: Callable[[R], Item],
        position: Callable[[R], Sequence[str]],
        looked_up_to: Sequence[str] | None = None,
    ) -> Page[Item]:
        """The page of the rows that were read (`fetch` at most), and the cursor of the next one.

        Args:
            kind: as `Page[ProjectView]`.
            rows: as the store read them.
            show: how a row is answered.
            position: the sort key of a row, as texts.
            looked_up_to: where to go on if these were all, because no more was looked through; None if nothing follows.
        """
        shown = rows[: self.limit]
        last = position(shown[-1]) if len(rows) > self.limit else looked_up_to
        return kind(
            items=[show(row) for row in shown],
            next_cursor=None if last is None else encode_cursor(self._fingerprint, last),
        )
