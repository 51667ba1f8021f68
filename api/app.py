"""The application: a list of steps."""

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from api import (
    admin_memories,
    audit,
    comments,
    commits,
    context,
    draft_batches,
    draft_events,
    drafts,
    effective,
    events,
    health,
    imports,
    me,
    members,
    memories,
    operations,
    org_memories,
    organizations,
    project_memories,
    projects,
    reconciliation,
    reverts,
    review_commands,
    reviews,
    selections,
    sessions,
    tokens,
    tools,
    users,
    workstreams,
)
from api.exchange import exchange
from api.lifespan import lifespan_of
from api.middleware import AllowedOrigins, EncodedSlashes, RequestIds
from api.openapi import TITLE, VERSION, document_when_asked
from api.routing import Route, Routes
from api.unknown import Endpoint, OneMethod, answer_unknown_routes
from models.settings import Settings

RESOURCES: tuple[Routes, ...] = (
    memories.routes,  # first of all: a request is compared with one route after the other, and these come most often
    tools.routes,
    context.routes,
    me.routes,
    organizations.routes,
    users.routes,
    tokens.routes,
    audit.routes,
    admin_memories.routes,
    projects.routes,
    members.routes,
    workstreams.routes,
    sessions.routes,
    drafts.routes,
    draft_batches.routes,
    draft_events.routes,
    reconciliation.routes,
    reviews.routes,
    review_commands.routes,
    imports.routes,
    comments.routes,
    commits.routes,
    reverts.routes,
    org_memories.routes,
    effective.routes,
    project_memories.routes,
    selections.routes,
    operations.routes,
    events.routes,
)


def create_app(settings: Settings) -> FastAPI:
    """The API of one process."""
    app = FastAPI(
        title=TITLE,
        version=VERSION,
        routes=[*_resources(), *_health()],
        lifespan=lifespan_of(settings),
        redirect_slashes=False,
    )
    answer_unknown_routes(app, RESOURCES)
    _check_every_request(app, settings)
    document_when_asked(app, RESOURCES)
    return app


def _resources() -> list[BaseRoute]:
    return [OneMethod(route.path, _endpoint_of(route), route.method) for each in RESOURCES for route in each.routes]


def _endpoint_of(route: Route) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return await exchange(route, request)

    return endpoint


def _health() -> list[BaseRoute]:
    return [OneMethod(path, endpoint, "GET") for path, endpoint, _ in health.ENDPOINTS]


def _check_every_request(app: FastAPI, settings: Settings) -> None:
    app.add_middleware(EncodedSlashes)
    app.add_middleware(AllowedOrigins, allowed_hosts=settings.allowed_hosts)
    app.add_middleware(RequestIds)  # added last, so outermost
