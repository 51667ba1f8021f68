"""The index's folder is free for another process when nothing of this one writes to it any more."""

import asyncio
import threading
from pathlib import Path

import psycopg
import pytest

from api.lifespan import _indexing
from models.settings import Settings
from search.following import Follower
from search.index_folder import IndexFolder
from search.memory_index import MemoryIndex


@pytest.mark.parametrize(("goes_on", "next_folder"), [(True, "1"), (False, "0")])
def test_the_folder_is_kept_as_long_as_the_follower_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, goes_on: bool, next_folder: str
) -> None:
    ended = threading.Event()
    if not goes_on:
        ended.set()
    monkeypatch.setattr(Follower, "run", lambda _: ended.wait(20))
    monkeypatch.setattr("search.following.END_S", 0.05)

    async def serve() -> None:
        async with _indexing(MemoryIndex(), psycopg.connect, Settings(data=tmp_path)):
            pass

    asyncio.run(serve())
    after = IndexFolder(tmp_path)
    ended.set()
    assert after.path == tmp_path / "index" / next_folder
    after.release()
