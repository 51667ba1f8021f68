"""What one API process holds open; made and closed by the lifespan."""

from dataclasses import dataclass
from typing import cast

from sqlalchemy import Engine
from starlette.requests import HTTPConnection

from api.following import Followers
from api.waiting import OperationListener
from models.connections import Connections
from models.settings import Settings
from search.memory_index import MemoryIndex
from workflows.delivery import DeliveryLoop


@dataclass(slots=True)
class Services:
    """Engine, connections of the hot path, search index, LISTEN connection, followers of the feed and delivery loop.

    `was_ready` is whether it has been ready.
    """

    settings: Settings
    engine: Engine
    hot: Connections
    index: MemoryIndex
    operations: OperationListener
    followers: Followers
    delivery: DeliveryLoop
    was_ready: bool = False


def services_of(connection: HTTPConnection) -> Services:
    """The process's services, as the lifespan put them there."""
    return cast("Services", connection.app.state.services)
