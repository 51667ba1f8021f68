"""psycopg's own connections, for the requests that agents make on every turn (docs/decisions/0015).

Each statement commits by itself unless a transaction is opened. Nothing is asked of a connection before it is used
again: whoever uses one looks up the credential first, and tries that again on a new connection where it had gone.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from models.database import RECYCLE_S, connect
from models.settings import Settings

WAIT_S = 5.0

F = TypeVar("F")
T = TypeVar("T")


class ConnectionsBusy(psycopg.OperationalError):
    """All connections are in use, and have been for a while."""


class _Gone(psycopg.OperationalError):
    """The connection had gone before it was asked for anything."""


class Connections:
    """At most `size` connections, made when needed; the one used last is used again first.

    A connection is made by whoever needs it and in its thread: with the database gone a request is refused at once, and
    with the database back the next one is served.
    """

    def __init__(self, url: str, settings: Settings, *, size: int, application_name: str) -> None:
        self._url = url
        self._settings = settings
        self._application_name = application_name
        self._free = threading.BoundedSemaphore(size)
        self._idle: list[tuple[psycopg.Connection, float]] = []

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection]:
        """A connection for the time of the block.

        Raises:
            ConnectionsBusy: none has become free within 5 s.
            psycopg.OperationalError: the database does not answer.
        """
        if not self._free.acquire(timeout=WAIT_S):
            raise ConnectionsBusy
        try:
            connection, made_at = self._take()
            try:
                yield connection
            finally:
                self._give_back(connection, made_at)
        finally:
            self._free.release()

    def serve(self, look_up: Callable[[psycopg.Connection], F], work: Callable[[psycopg.Connection, F], T]) -> T:
        """Look something up, and go on with it on the same connection; if that had gone before, all on a new one.

        Raises:
            ConnectionsBusy, psycopg.OperationalError: as `connection`.
        """
        try:
            return self._serve(look_up, work)
        except _Gone:
            self.close_idle()
            return self._serve(look_up, work)

    def _serve(self, look_up: Callable[[psycopg.Connection], F], work: Callable[[psycopg.Connection, F], T]) -> T:
        with self.connection() as connection:
            return work(connection, _looked_up(connection, look_up))

    def close_idle(self) -> None:
        """Close what is not in use: at the end, or when the database went away and took all of them with it."""
        while self._idle:
            try:
                connection, _ = self._idle.pop()
            except IndexError:  # another thread took it
                return
            connection.close()

    def _take(self) -> tuple[psycopg.Connection, float]:
        try:
            return self._idle.pop()
        except IndexError:
            made = connect(self._url, self._settings, application_name=self._application_name)
            return made, time.monotonic()

    def _give_back(self, connection: psycopg.Connection, made_at: float) -> None:
        fit = connection.info.transaction_status == TransactionStatus.IDLE
        if fit and time.monotonic() - made_at < RECYCLE_S:
            self._idle.append((connection, made_at))
        else:
            connection.close()


def _looked_up(connection: psycopg.Connection, look_up: Callable[[psycopg.Connection], F]) -> F:
    try:
        return look_up(connection)
    except psycopg.OperationalError as error:
        if connection.closed:
            raise _Gone from error
        raise
