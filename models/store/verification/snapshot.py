"""One organization as it stands at one moment, read row by row however much there is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, Executable, RowMapping, text

from models.database import TRANSACTION_TIMEOUT_SINCE
from models.identifiers import OrganizationId

ROWS_A_FETCH = 1_000

# Reading a large organization takes minutes; the time-outs only end what hangs. The snapshot holds no lock and no
# transaction id, so neither writers nor the change feed wait for it; it keeps vacuum from what is deleted meanwhile.
PATIENT = (
    text("set lock_timeout = '1min'"),
    text("set statement_timeout = '2h'"),
    text("set idle_in_transaction_session_timeout = '15min'"),
    # A cursor's plan is chosen for its first tenth by default, which is wrong for what is read to its end.
    text("set cursor_tuple_fraction = 1.0"),
    # After a restore or a large import the planner knows nothing of the rows, takes them for few and compares all with
    # all. Sorting and hashing cost the same whatever it believes.
    text("set enable_nestloop = off"),
    text("set jit = off"),
)
PATIENT_AS_A_WHOLE = text("set transaction_timeout = '12h'")
VERSION = text("select cast(current_setting('server_version_num') as integer)")
BEGIN = text("set transaction isolation level repeatable read, read only")


class Snapshot:
    """The rows of one organization over a connection whose transaction does not see later changes."""

    def __init__(
        self, connection: Connection, org_id: OrganizationId, progress: Callable[[int], None] | None = None
    ) -> None:
        self.org_id = org_id
        self.rows_read = 0
        self._connection = connection
        self._progress = progress

    def rows(self, statement: Executable, *, at_once: int = ROWS_A_FETCH, **values: object) -> Iterator[RowMapping]:
        """The rows of a statement that names its organization `:org_id`; `at_once` of them are in memory."""
        result = self._connection.execute(
            statement, {"org_id": self.org_id, **values}, execution_options={"yield_per": at_once}
        )
        for rows in result.mappings().partitions(at_once):
            self.rows_read += len(rows)
            if self._progress is not None:
                self._progress(self.rows_read)
            yield from rows

    def all(self, statement: Executable, **values: object) -> list[RowMapping]:
        """The rows of a statement that answers few."""
        return list(self._connection.execute(statement, {"org_id": self.org_id, **values}).mappings())


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection with one read-only snapshot of the database for the whole block, and time enough to read it."""
    with engine.connect() as connection:
        connection.detach()  # it is closed at the end: nobody else gets its time-outs
        for setting in PATIENT:
            connection.execute(setting)
        if connection.execute(VERSION).scalar_one() >= TRANSACTION_TIMEOUT_SINCE:
            connection.execute(PATIENT_AS_A_WHOLE)
        connection.commit()
        connection.execute(BEGIN)
        yield connection
