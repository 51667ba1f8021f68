"""Requests that fit no route: problem documents in the same order as everywhere, 401 before 404 before 405."""

from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.routing import Route as AnyMethod

from api.answers import API
from api.exchange import hot_function, in_thread, problem_response, read_function
from api.hot import run_hot
from api.requests import Incoming, without_body
from api.routing import Route, Routes
from api.running import authenticate, run_read
from api.services import services_of
from models.errors import MethodNotAllowed, NotFound, Problem

NOT_FOUND, METHOD_NOT_ALLOWED = 404, 405

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


class OneMethod(AnyMethod):
    """A route for exactly one method: what reads does not answer HEAD either."""

    def __init__(self, path: str, endpoint: Endpoint, method: str) -> None:
        super().__init__(path, endpoint)
        self.methods = {method}


def answer_unknown_routes(app: Starlette, resources: Iterable[Routes]) -> None:
    """Replace the framework's texts by problem documents."""
    reads = {route.path: route for resource in resources for route in resource.routes if route.method == "GET"}

    async def no_route(request: Request, _: Exception) -> Response:
        return await _refuse(request, NotFound("There is no such resource."))

    async def no_method(request: Request, _: Exception) -> Response:
        paths, allowed = _matching(app, request)
        read = next((reads[path] for path in paths if path in reads), None)
        response = await _refuse(request, MethodNotAllowed("Not with this method.", allowed=[*allowed]), read)
        if response.status_code == METHOD_NOT_ALLOWED:
            response.headers["Allow"] = ", ".join(allowed)
        return response

    async def unforeseen(request: Request, error: Exception) -> Response:
        return problem_response(error, request)

    app.add_exception_handler(NOT_FOUND, no_route)
    app.add_exception_handler(METHOD_NOT_ALLOWED, no_method)
    app.add_exception_handler(HTTPException, unforeseen)


async def _refuse(request: Request, problem: Problem, read: Route | None = None) -> Response:
    """Authenticate first, below `/v1/api`; then look up what the path names by the route that reads it."""
    try:
        if request.scope["path"].startswith(f"{API}/"):
            incoming = without_body(request, services_of(request))
            await in_thread(partial(_look_up, incoming, read))
    except Exception as error:  # noqa: BLE001  (the border: whatever it is, it is answered)
        return problem_response(error, request)
    return problem_response(problem, request)


def _look_up(incoming: Incoming, read: Route | None) -> None:
    if read is None:
        with incoming.services.engine.connect() as connection:
            authenticate(connection, incoming)
        return
    try:
        if read.is_hot:
            run_hot(incoming, hot_function(read, incoming), read.only_reads)
        else:
            run_read(incoming, read_function(read, incoming))
    except Problem as problem:
        if problem.status in (401, NOT_FOUND):
            raise


def _matching(app: Starlette, request: Request) -> tuple[list[str], list[str]]:
    """The routes of the path, and their methods; sets the path's parameters."""
    paths: list[str] = []
    methods: set[str] = set()
    for route in app.routes:
        match, scope = route.matches(request.scope)
        if match == Match.PARTIAL and isinstance(route, OneMethod):
            request.scope.setdefault("path_params", {}).update(scope["path_params"])
            paths.append(route.path)
            methods |= route.methods or set()
    return paths, sorted(methods)
