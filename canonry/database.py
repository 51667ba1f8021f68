"""The database for commands that need no running server: the operator's, or the embedded one of a data folder."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from canonry.data_folders import require_installation
from canonry.embedded.postgres import start_postgres
from canonry.failures import CommandFailed
from canonry.invocation import command_line
from canonry.signals import stoppable
from models.database import COMMAND, build_engine
from models.migrations import applied_revisions, includes_all
from models.settings import Settings


@contextmanager
def open_database(settings: Settings) -> Iterator[Engine]:
    """An engine for the block; the embedded server is used where it runs, else started and stopped again.

    Raises:
        CommandFailed: there is no database yet, no Canonry in it, it does not answer, or its schema is an older
            version's.
    """
    with _database_url(settings) as url:
        engine = build_engine(url, settings, pool_size=1, application_name=COMMAND)
        try:
            with engine.connect() as connection:
                _require_current(applied_revisions(connection))
            yield engine
        except OperationalError as error:
            raise CommandFailed(f"The database does not answer: {error.orig}") from error
        finally:
            engine.dispose()


def _require_current(applied: Collection[str]) -> None:
    if not applied:
        raise CommandFailed(
            "There is no Canonry in this database: look whether the address is right;"
            f" `{command_line('migrate')}` makes one."
        )
    if not includes_all(applied):
        raise CommandFailed("The database has an older version's schema: run `canonry up` or `canonry migrate` first.")


@contextmanager
def _database_url(settings: Settings) -> Iterator[str]:
    if settings.database_url is not None:
        yield settings.database_url
        return
    require_installation(settings)
    with stoppable():
        server = start_postgres(settings.data)
        try:
            yield server.url
        finally:
            server.stop()
