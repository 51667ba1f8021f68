"""Processes that keep a search index, as far as Temporal and the database know of them."""

import contextlib
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from sqlalchemy import Engine

from models.database import connect
from models.settings import Settings
from models.store.index_owners import IndexOwner, remove_owner, renew_owner
from search.memory_index import MemoryIndex
from tests.databases import url_of
from workflows.index_worker import build_index_worker


def a_queue() -> IndexOwner:
    owner_id = str(uuid.uuid4())
    return IndexOwner(owner_id, f"index/{owner_id}")


@contextlib.contextmanager
def owned(engine: Engine, owner: IndexOwner) -> Iterator[None]:
    """While the block runs, the owner says that it lives."""
    with connect(url_of(engine), Settings(), application_name="canonry-test") as connection:
        renew_owner(connection, owner)
        yield
        remove_owner(connection, owner)


@contextlib.asynccontextmanager
async def an_owner(settings: Settings, engine: Engine, index: MemoryIndex) -> AsyncIterator[IndexOwner]:
    """A process with an index, which repairs it when it is asked to."""
    owner = a_queue()
    database = partial(connect, url_of(engine), Settings(), application_name="canonry-test")
    with ThreadPoolExecutor(1) as threads, owned(engine, owner):
        async with await build_index_worker(settings, owner.task_queue, index, database, threads):
            yield owner
