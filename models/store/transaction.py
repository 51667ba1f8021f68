"""What every write carries: the open database transaction, for whom, and when."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine
from sqlmodel import Session

from models.identifiers import OrganizationId, UserId


@dataclass(frozen=True, slots=True)
class Transaction:
    """One open transaction of one organization on behalf of one actor.

    Store functions take it and never commit; whoever opened it does. `session` writes through `connection`, in the
    same transaction: flush it before a statement on the connection has to see its rows. `now` is the time of
    everything written.
    """

    connection: Connection
    session: Session
    org_id: OrganizationId
    actor_id: UserId
    request_id: str
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


@contextmanager
def transaction(engine: Engine, *, org_id: OrganizationId, actor_id: UserId, request_id: str) -> Iterator[Transaction]:
    """Open a transaction; it commits when the block ends and rolls back when it raises."""
    with engine.begin() as connection, Session(connection, expire_on_commit=False) as session:
        yield Transaction(connection, session, org_id, actor_id, request_id)
        session.flush()
