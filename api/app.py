"""The application: a list of steps."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

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
from api.lifespan import lifespan_of
from api.middleware import AllowedOrigins, RequestIds
from api.openapi import document_exactly, endpoint_of, responses_of
from api.routing import Routes
from api.unknown import answer_unknown_routes
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


def create_app(settings: Settings) -> FastAPI:
    """The API of one process."""
    app = FastAPI(title="Canonry", version="1", lifespan=lifespan_of(settings), redirect_slashes=False)
    _add_resources(app)
    _add_health(app)
    answer_unknown_routes(app, RESOURCES)
    _check_every_request(app, settings)
    document_exactly(app)
    return app


class CanonryRoute(APIRoute):
    """FastAPI routes and documents; `api.exchange` answers, in the contract's order of precedence."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The endpoint itself, instead of FastAPI's own reading of parameters and body."""
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


def _add_resources(app: FastAPI) -> None:
    for resource in RESOURCES:
        for route in resource.routes:
            app.router.add_api_route(
                route.path,
                endpoint_of(route),
                methods=[route.method],
                name=route.name,
                operation_id=route.name,
                tags=[route.tag],
                status_code=route.status,
                responses=responses_of(route),
                route_class_override=CanonryRoute,
            )


def _add_health(app: FastAPI) -> None:
    for path, endpoint, responses in health.ENDPOINTS:
        app.router.add_api_route(
            path,
            endpoint,
            methods=["GET"],
            operation_id=endpoint.__name__,
            tags=["health"],
            responses=responses,
            route_class_override=CanonryRoute,
        )


def _check_every_request(app: FastAPI, settings: Settings) -> None:
    app.add_middleware(AllowedOrigins, allowed_hosts=settings.allowed_hosts)
    app.add_middleware(RequestIds)  # added last, so outermost
