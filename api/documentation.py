"""The pages about the API, by FastAPI: loaded when somebody asks for them, because serving needs none of it."""

# ruff: noqa: PLC0415

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from api.health import ENDPOINTS
from api.routing import Routes

if TYPE_CHECKING:
    from fastapi import FastAPI


class Documentation:
    """An application of its own behind the paths that FastAPI documents under."""

    PATHS: ClassVar = ("/openapi.json", "/docs", "/docs/oauth2-redirect", "/redoc")

    def __init__(self, resources: Sequence[Routes]) -> None:
        self._resources = resources
        self._lock = threading.Lock()
        self._app: FastAPI | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        app = await run_in_threadpool(self._made)
        await app(scope, receive, send)

    def _made(self) -> "FastAPI":
        with self._lock:
            if self._app is None:
                self._app = documented(self._resources)
            return self._app


def documented(resources: Sequence[Routes]) -> "FastAPI":
    """FastAPI with all routes, to describe them; no request for them gets here."""
    from fastapi import FastAPI

    from api.openapi import document_exactly, endpoint_of, responses_of

    app = FastAPI(title="Canonry", version="1")
    for resource in resources:
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
            )
    for path, endpoint, responses in ENDPOINTS:
        app.router.add_api_route(
            path, endpoint, methods=["GET"], operation_id=endpoint.__name__, tags=["health"], responses=responses
        )
    document_exactly(app)
    return app
