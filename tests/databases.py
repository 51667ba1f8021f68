"""Databases of their own on the session's server: no worker of other tests looks into them."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import ProgrammingError

from models.database import build_engine, libpq_url, sqlalchemy_url
from models.migrations import upgrade
from models.settings import Settings


@contextmanager
def an_empty_database(engine: Engine) -> Iterator[Engine]:
    """A new database of the same server."""
    name = f"test_{uuid.uuid4().hex}"
    _command(engine, f"create database {name}")
    empty = create_engine(engine.url.set(database=name))
    try:
        yield empty
    finally:
        empty.dispose()
        _drop(engine, name)


@contextmanager
def a_database(engine: Engine) -> Iterator[Engine]:
    """A new database with every migration, behind a pool as the product's."""
    with an_empty_database(engine) as empty:
        url = url_of(empty)
        upgrade(url)
        pool = build_engine(url, Settings(), pool_size=10, application_name="canonry-test")
        try:
            yield pool
        finally:
            pool.dispose()


@contextmanager
def an_unserved_database(database_url: str) -> Iterator[Engine]:
    """A pool on a database that no worker serves: what is accepted there, the test carries out, or nobody does."""
    server = create_engine(sqlalchemy_url(database_url))
    try:
        with a_database(server) as pool:
            yield pool
    finally:
        server.dispose()


def url_of(engine: Engine) -> str:
    """Where an engine connects to, as operators write it."""
    return libpq_url(engine.url.render_as_string(hide_password=False))


def _drop(engine: Engine, name: str) -> None:
    """Drop a database with whoever is still connected; the server's own vacuum may be, and leaves by itself."""
    for _ in range(40):
        try:
            return _command(engine, f"drop database {name} with (force)")
        except ProgrammingError as error:
            if not isinstance(error.orig, InsufficientPrivilege):
                raise
        time.sleep(0.25)
    raise TimeoutError(f"{name} stays in use")


def _command(engine: Engine, command: str) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(command))
