"""Whether the process lives, and whether its parts are ready (tenancy.md)."""

from collections.abc import Callable, Coroutine
from typing import Any, Literal

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import Response

from api.answers import answer, problem_content
from api.exchange import in_thread, problem_response
from api.services import Services, services_of
from models.errors import Unavailable
from models.migrations import is_current
from models.schemas.common import Output
from models.store.events import feed_lag_s
from models.store.operations import any_finished
from models.store.structured import driver_connection_of
from models.store.structured_feed import latest_change


class Health(Output):
    """The process answers."""

    status: Literal["ok"] = "ok"


class IndexReadiness(Output):
    """The search index of this process; while it is being rebuilt, `progress` goes from 0 to 1.

    `applied` numbers the last change of a memory that it took in, `latest` the last that there is.
    """

    status: Literal["up", "rebuilding"]
    applied: int
    latest: int
    progress: float


class Readiness(Output):
    """Each part; a lost Temporal is named and keeps 200, because commands are still accepted."""

    status: Literal["ready", "unavailable"]
    database: Literal["up", "down"]
    migrations: Literal["up", "down"]
    temporal: Literal["up", "down"]
    index: IndexReadiness
    feed_lag_s: float | None


async def get_health(request: Request) -> Response:
    """The process answers requests."""
    return answer(Health()).response()


async def get_readiness(request: Request) -> Response:
    """All parts, by name. First 200 when all are up together; from then on a lost Temporal alone stays 200.

    A restart forgets nothing: where an operation has ever ended, all parts were up together once.
    """
    services = services_of(request)
    readiness = await in_thread(lambda: _readiness(services))
    if readiness.status == "unavailable":
        parts = readiness.model_dump(exclude={"status"})
        return problem_response(Unavailable("Not all parts are ready.", **parts), request)
    services.was_ready = True
    return answer(readiness).response()


FOREIGN = problem_content("forbidden")
ENDPOINTS: tuple[tuple[str, Callable[[Request], Coroutine[Any, Any, Response]], dict[int | str, Any]], ...] = (
    ("/healthz", get_health, {200: {"model": Health}, 403: FOREIGN}),
    ("/readyz", get_readiness, {200: {"model": Readiness}, 403: FOREIGN, 503: problem_content("unavailable")}),
)
"""Path, endpoint and documented answers; no prefix, no credential."""


def _readiness(services: Services) -> Readiness:
    temporal: Literal["up", "down"] = "up" if services.delivery.connected else "down"
    lag: float | None = None
    was_ready = services.was_ready
    database: Literal["up", "down"] = "down"
    migrations: Literal["up", "down"] = "down"
    latest = 0
    try:
        with services.engine.connect() as connection:
            database = "up"
            migrations = "up" if is_current(connection) else "down"
            was_ready = services.was_ready or (migrations == "up" and temporal == "down" and any_finished(connection))
            latest = latest_change(driver_connection_of(connection)) if migrations == "up" else 0
        lag = round(feed_lag_s(services.engine), 3)
    except SQLAlchemyError:
        database = "down"
    index = _index(services, latest)
    holds = database == "up" and migrations == "up" and index.status == "up"
    serves = holds and (temporal == "up" or was_ready)
    return Readiness(
        status="ready" if serves else "unavailable",
        database=database,
        migrations=migrations,
        temporal=temporal,
        index=index,
        feed_lag_s=lag,
    )


def _index(services: Services, latest: int) -> IndexReadiness:
    """How far the index is; what it noted itself counts too, where the database does not answer."""
    state = services.index.state
    return IndexReadiness(
        status="up" if state.ready else "rebuilding",
        applied=state.applied,
        latest=max(state.latest, latest),
        progress=round(state.progress, 3),
    )
