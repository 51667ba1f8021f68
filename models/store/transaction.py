"""What every write carries: the open database transaction, for whom, and when."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine

from models.identifiers import OrganizationId, UserId


@dataclass(frozen=True, slots=True)
class Transaction:
    """One open transaction of one organization on behalf of one actor.

    Store functions take it and never commit; whoever opened it does. `now` is the time of everything written.
    `kept_if_refused` is what a command leaves behind although it is refused, and all else of it rolled back.
    """

    connection: Connection
    org_id: OrganizationId
    actor_id: UserId
    request_id: str
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    kept_if_refused: list[Callable[["Transaction"], None]] = field(default_factory=list)


@contextmanager
def transaction(engine: Engine, *, org_id: OrganizationId, actor_id: UserId, request_id: str) -> Iterator[Transaction]:
    """Open a transaction; it commits when the block ends and rolls back when it raises."""
    with engine.begin() as connection:
        yield Transaction(connection, org_id, actor_id, request_id)
