from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from tests.fuse import Fuse, fused


@pytest.fixture
def line(engine: Engine) -> Iterator[tuple[Engine, Fuse]]:
    """A pool of one connection, and the fuse that cuts it."""
    pool, fuse = fused(engine)
    yield pool, fuse
    pool.dispose()
