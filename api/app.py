"""The application: a list of steps."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as AnyMethod

from api import (
    audit,
    comments,
    commits,
    drafts,
    health,
    imports,
    me,
    members,
    operations,
    org_memories,
    organizations,
    projects,
    review_commands,
    reviews,
    selections,
    tokens,
    users,
)
from api.documentation import Documentation
from api.exchange import exchange
from api.lifespan import lifespan_of
from api.middleware import AllowedOrigins, RequestIds
from api.routing import Route, Routes
from api.unknown import Endpoint, OneMethod, answer_unknown_routes
from models.settings import Settings

RESOURCES: tuple[Routes, ...] = (
    me.routes,
    organizations.routes,
    users.routes,
    tokens.routes,
    audit.routes,
    projects.routes,
    members.routes,
    drafts.routes,
    reviews.routes,
    review_commands.routes,
    imports.routes,
    comments.routes,
    commits.routes,
    org_memories.routes,
    selections.routes,
    operations.routes,
)


def create_app(settings: Settings) -> Starlette:
    """The API of one process."""
    app = Starlette(routes=[*_documentation(), *_resources(), *_health()], lifespan=lifespan_of(settings))
    app.router.redirect_slashes = False
    answer_unknown_routes(app, RESOURCES)
    _check_every_request(app, settings)
    return app


def _documentation() -> list[BaseRoute]:
    documentation = Documentation(RESOURCES)
    return [AnyMethod(path, documentation, methods=["GET"]) for path in documentation.PATHS]


def _resources() -> list[BaseRoute]:
    return [OneMethod(route.path, _endpoint_of(route), route.method) for each in RESOURCES for route in each.routes]


def _endpoint_of(route: Route) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return await exchange(route, request)

    return endpoint


def _health() -> list[BaseRoute]:
    return [OneMethod(path, endpoint, "GET") for path, endpoint, _ in health.ENDPOINTS]


def _check_every_request(app: Starlette, settings: Settings) -> None:
    app.add_middleware(AllowedOrigins, allowed_hosts=settings.allowed_hosts)
    app.add_middleware(RequestIds)  # added last, so outermost
