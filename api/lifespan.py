"""What lives as long as the process serves: the pool, the listener, the followers, the delivery loop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial

import anyio.to_thread
from starlette.applications import Starlette

from api.failures import log_defect
from api.following import Followers
from api.index_owner import Owning
from api.services import Services
from api.waiting import OperationListener
from models.connections import Connections
from models.database import API, build_engine, connect
from models.settings import Settings
from search.following import Connect, Follower
from search.index_folder import IndexFolder
from search.memory_index import MemoryIndex
from workflows.delivery import DELIVERY_CONNECTIONS, DeliveryLoop

RESTART_PAUSE_S = 1.0

Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]


def lifespan_of(settings: Settings) -> Lifespan:
    """Open in order, close in reverse; `api.server` has seen to it that the servers are named."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        url = settings.database_url or ""
        async with AsyncExitStack() as closing:
            pool = build_engine(url, settings, pool_size=settings.api_pool_size, application_name=API)
            closing.callback(pool.dispose)
            # More threads than connections would only wait for one another inside the pool.
            threads = max(1, settings.api_pool_size - DELIVERY_CONNECTIONS)
            anyio.to_thread.current_default_thread_limiter().total_tokens = threads
            hot = Connections(url, settings, size=threads, application_name=API)
            closing.callback(hot.close_idle)
            index = MemoryIndex(fetch_limit=settings.memory.fetch_limit)
            services = Services(
                settings, pool, hot, index, OperationListener(url), Followers(pool), DeliveryLoop(pool, settings)
            )
            database = partial(connect, url, settings, application_name=API)
            await closing.enter_async_context(_indexing(index, database, settings))
            await closing.enter_async_context(_running(services.operations.run))
            await closing.enter_async_context(_running(services.followers.run))
            await closing.enter_async_context(_running(services.delivery.run))
            owning = Owning(settings, index, database, lambda: services.delivery.connected)
            await closing.enter_async_context(_running(owning.run))
            app.state.services = services
            yield

    return lifespan


@asynccontextmanager
async def _indexing(index: MemoryIndex, database: Connect, settings: Settings) -> AsyncIterator[None]:
    """Keep the search index current, in a folder of this process."""
    folder = IndexFolder(settings.data)
    follower = Follower(index, database, folder.path)
    follower.start()
    try:
        yield
    finally:
        if await anyio.to_thread.run_sync(follower.end):  # else it may yet write; the process's end frees the folder
            folder.release()


@asynccontextmanager
async def _running(run: Callable[[], Coroutine[None, None, None]]) -> AsyncIterator[None]:
    task = asyncio.create_task(_for_ever(run))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _for_ever(run: Callable[[], Coroutine[None, None, None]]) -> None:
    """A loop that fails for an unforeseen reason is logged and begins again; requests are served meanwhile."""
    while True:
        try:
            await run()
        except Exception as error:  # noqa: BLE001  (whatever it is, the process goes on serving)
            log_defect(error, request_id="-")
        await asyncio.sleep(RESTART_PAUSE_S)
