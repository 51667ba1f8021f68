"""Pages: opaque cursors that only fit the list they came from."""

import base64
import binascii
import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import orjson

from models.errors import InvalidRequest
from models.schemas.common import Item, ListQuery, Page

_FINGERPRINT_CHARACTERS = 12

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
        self._fingerprint = hashlib.sha256(orjson.dumps(scope)).hexdigest()[:_FINGERPRINT_CHARACTERS]
        self.after = None if query.cursor is None else self._decode(query.cursor, parts)

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
        return kind(items=[show(row) for row in shown], next_cursor=None if last is None else self._encode(last))

    def _encode(self, position: Sequence[str]) -> str:
        return base64.urlsafe_b64encode(orjson.dumps([self._fingerprint, *position])).decode().rstrip("=")

    def _decode(self, cursor: str, parts: int) -> list[str]:
        try:
            padded = cursor + "=" * (-len(cursor) % 4)
            value = orjson.loads(base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True))
        except (binascii.Error, ValueError):
            raise InvalidRequest.of("cursor", "malformed") from None
        if not isinstance(value, list) or not all(isinstance(part, str) and "\0" not in part for part in value):
            raise InvalidRequest.of("cursor", "malformed")
        if len(value) != parts + 1 or value[0] != self._fingerprint:
            raise InvalidRequest.of("cursor", "foreign")
        return [str(part) for part in value[1:]]
