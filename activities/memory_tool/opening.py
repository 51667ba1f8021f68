"""The tool in a process of its own: connections, an index, and what keeps that current."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from activities.memory_tool.tool import MemoryTool
from models.connections import Connections
from models.database import connect
from models.settings import Settings
from search.following import Follower
from search.memory_index import MemoryIndex

NAME = "canonry-tool"
CONNECTIONS = 4
"""One call holds one for its time; the index follows by another of its own."""


@contextmanager
def open_memory_tool(url: str, settings: Settings) -> Iterator[MemoryTool]:
    """The tool for the time of the block, safe to call from several threads.

    Its index is built from the database at the beginning, and follows it. Until it is ready, what a session sees is
    found without it, up to 1,500 memories; beyond that a search is `index_not_ready`.

    Args:
        url: the database's, with the schema of this version.
        settings: those of memory, and the time-outs of statements.
    """
    index = MemoryIndex(fetch_limit=settings.memory.fetch_limit)
    connections = Connections(url, settings, size=CONNECTIONS, application_name=NAME)
    follower = Follower(index, partial(connect, url, settings, application_name=NAME), folder=None)
    try:
        with follower.following():
            yield MemoryTool(connections, index, settings.memory)
    finally:
        connections.close_idle()
