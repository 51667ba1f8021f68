"""A database line that is cut at a chosen statement: a test-only psycopg connection, and no hook in the product."""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, event

from models.database import RECYCLE_S
from tests.rows import Somewhere

COMMIT = "COMMIT"

every_stop = pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
"""A test of the usual run cuts after every third statement, one of the long run after each."""


def stops(statements: Sequence[str], every: int) -> list[int]:
    """After how many statements to cut: 0, each so many, and right before and after every COMMIT."""
    commits = [number for number, statement in enumerate(statements) if statement == COMMIT]
    return sorted({*range(0, len(statements), every), *commits, *(number + 1 for number in commits)})


@dataclass
class Fuse:
    """Counts what goes over a line while it is armed, and cuts the line after so many statements (0: before any)."""

    cut_after: int | None = None
    armed: bool = False
    statements: list[str] = field(default_factory=list)

    @contextmanager
    def arm(self, pool: Engine, cut_after: int | None = None) -> Iterator[Self]:
        """Watch what goes over a live line of the pool; connecting is not counted."""
        pool.connect().close()
        self.cut_after, self.armed, self.statements = cut_after, True, []
        try:
            yield self
        finally:
            self.armed = False

    def starts(self, connection: psycopg.Connection[Any]) -> None:
        if self.armed and self.cut_after == len(self.statements) == 0:
            self._cut(connection)

    def ended(self, connection: psycopg.Connection[Any], statement: str) -> None:
        if self.armed:
            self.statements.append(statement)
            if self.cut_after == len(self.statements):
                self._cut(connection)

    def _cut(self, connection: psycopg.Connection[Any]) -> None:
        """The server sees the line drop, as when the process is killed; the client hears of it by an exception."""
        self.armed = False
        with socket.socket(fileno=os.dup(connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)
        connection.pgconn.finish()
        raise psycopg.OperationalError("the line was cut")


def fused(engine: Engine) -> tuple[Engine, Fuse]:
    """A pool of one connection to the same database, and the fuse in it."""
    fuse = Fuse()

    class FusedCursor(psycopg.Cursor[Any]):
        def execute(self, query: Any, *args: Any, **options: Any) -> Self:
            fuse.starts(self.connection)
            super().execute(query, *args, **options)
            fuse.ended(self.connection, str(query))
            return self

        def executemany(self, query: Any, *args: Any, **options: Any) -> None:
            fuse.starts(self.connection)
            super().executemany(query, *args, **options)
            fuse.ended(self.connection, str(query))

    class FusedConnection(psycopg.Connection[Any]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.cursor_factory = FusedCursor

        def commit(self) -> None:
            super().commit()
            fuse.ended(self, COMMIT)

    pool = create_engine(engine.url, pool_size=1, max_overflow=0, pool_recycle=RECYCLE_S)

    @event.listens_for(pool, "do_connect")
    def connect(_dialect: Any, _record: Any, arguments: Any, options: Any) -> FusedConnection:
        return FusedConnection.connect(*arguments, **options)

    return pool, fuse


def over(pool: Engine, place: Somewhere) -> Somewhere:
    """The same place over another line."""
    return Somewhere(pool, place.org_id, place.owner, place.project_id)
