"""The OpenAPI document, from the routes: operation ids, statuses with their problem codes, headers, no invention."""

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, Path, Query
from fastapi.security import HTTPBearer

from api.answers import problem_content
from api.headers import IDEMPOTENCY_KEY, IF_MATCH, IF_NONE_MATCH, LAST_EVENT_ID
from api.health import ENDPOINTS
from api.routing import Route, Routes
from models.errors import (
    PRECEDENCE,
    Forbidden,
    IdempotencyKeyReused,
    InternalError,
    InvalidRequest,
    NotFound,
    OperationInProgress,
    PreconditionFailed,
    PreconditionRequired,
    Problem,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnsupportedMediaType,
)
from models.schemas.common import NoParameters, ProblemDocument
from models.schemas.operations import OperationView

ALWAYS: tuple[type[Problem], ...] = (Unauthenticated, Forbidden, InvalidRequest, Unavailable, InternalError)
BEARER = HTTPBearer(bearerFormat="cnr_…", description="A token's secret", auto_error=False)

TITLE, VERSION = "Canonry", "1"
EVENT_STREAM = "text/event-stream"
STREAMED = "Server-sent events: `id` is where to resume, `data` an `EventBody` as JSON; comments keep it alive"
VERSION_READ = "the entity tag of what you read"

Responses = dict[int | str, dict[str, Any]]  # FastAPI's own shape


def document_when_asked(app: FastAPI, resources: Sequence[Routes]) -> None:
    """Describe the routes at the first request for their description: no start has to wait for that.

    What serves are Starlette's routes; FastAPI describes the same ones in an application of their own, which answers
    nothing.
    """

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document_of(resources)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI documents this way


def _document_of(resources: Sequence[Routes]) -> dict[str, Any]:
    described = FastAPI(title=TITLE, version=VERSION)
    for resource in resources:
        for route in resource.routes:
            described.router.add_api_route(
                route.path,
                _signature_of(route),
                methods=[route.method],
                name=route.name,
                operation_id=route.name,
                tags=[route.tag],
                status_code=route.status,
                responses=responses_of(route),
                deprecated=route.deprecated or None,
            )
    for path, endpoint, responses in ENDPOINTS:
        described.router.add_api_route(
            path, endpoint, methods=["GET"], operation_id=endpoint.__name__, tags=["health"], responses=responses
        )
    return _exact(described.openapi())


def _exact(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out what FastAPI documents by itself and we never answer: its 422 for invalid input."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= schemas["Problem"].pop("$defs", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for operations in document["paths"].values():
        for operation in operations.values():
            _drop_foreign_422(operation["responses"])
    return document


def _signature_of(route: Route) -> Callable[[], None]:
    """A function with the signature that FastAPI documents; nobody calls it."""

    def endpoint() -> None:
        raise NotImplementedError

    endpoint.__name__ = route.name
    endpoint.__doc__ = route.function.__doc__
    endpoint.__signature__ = inspect.Signature(_parameters(route))  # type: ignore[attr-defined]
    return endpoint


def responses_of(route: Route) -> Responses:
    """Every status of a route: its success, and its problems with their codes."""
    success: dict[str, Any] = {"description": "Done", "headers": _headers(route)}
    documented: Responses = {route.status: success if route.answers is None else success | {"model": route.answers}}
    if route.is_stream:
        documented[route.status] = {"description": STREAMED, "content": {EVENT_STREAM: {"schema": {"type": "string"}}}}
    if route.tried is not None:
        both = route.tried if route.status != 200 else route.answers | route.tried  # noqa: PLR2004  (done)
        documented[200] = success | {"model": both}
    if route.is_command:
        location = {"Location": {"schema": {"type": "string"}, "description": "where to poll the operation"}}
        documented[202] = {"model": OperationView, "description": "Accepted", "headers": location}
    if route.also is not None:
        documented[route.also] = documented[route.status]
    if route.conditional:
        documented[304] = {"description": "Not modified"}
    for status, codes in _codes_by_status(route).items():
        documented[status] = problem_content(*codes)
    return documented


def _drop_foreign_422(responses: dict[str, Any]) -> None:
    if "application/json" in responses.get("422", {}).get("content", {}):
        del responses["422"]


def problems_of(route: Route) -> list[type[Problem]]:
    """Every problem that a route can answer, in order of precedence."""
    kinds = {*ALWAYS, *route.problems}
    if route.path_parameters:
        kinds.add(NotFound)
    if route.accepts is not None:
        kinds |= {TooLarge, UnsupportedMediaType}
    if route.if_match:
        kinds.add(PreconditionRequired)
    if route.if_match or route.if_match_optional or route.if_none_match_optional:
        kinds.add(PreconditionFailed)
    if route.method == "POST":
        kinds |= {IdempotencyKeyReused, OperationInProgress}
    return [kind for kind in PRECEDENCE if kind in kinds]


def _codes_by_status(route: Route) -> dict[int, list[str]]:
    codes: dict[int, list[str]] = {}
    for kind in problems_of(route):
        codes.setdefault(kind.status, []).append(kind.code)
    return dict(sorted(codes.items()))


def _parameters(route: Route) -> list[inspect.Parameter]:
    """The signature that FastAPI documents; headers may be left out, except a required precondition."""
    needed: dict[str, object] = {name: Annotated[str, Path()] for name in route.path_parameters}
    if route.accepts is not None:
        needed["body"] = route.accepts
    if route.query is not NoParameters:
        needed["query"] = Annotated[route.query, Query()]
    if route.if_match:
        needed["if_match"] = Annotated[str, Header(alias=IF_MATCH, description=VERSION_READ)]
    needed["credential"] = Annotated[object, Depends(BEARER)]
    optional: dict[str, object] = {}
    if route.method == "POST":
        optional["idempotency_key"] = _header(IDEMPOTENCY_KEY, "makes the request repeatable for 7 days")
    if route.if_match_optional:
        optional["if_match"] = _header(IF_MATCH, VERSION_READ)
    if route.is_stream:
        optional["last_event_id"] = _header(LAST_EVENT_ID, "the `id` of the last event that arrived")
    if route.if_none_match_optional:
        optional["if_none_match"] = _header(IF_NONE_MATCH, "`*`: refuse to overwrite")
    if route.conditional:
        optional["if_none_match"] = _header(IF_NONE_MATCH, "the entity tag of what you have")
    if route.is_command:
        optional["prefer"] = _header("Prefer", "`wait=N`: hold the request up to N seconds, 30 at most")
    by_name = inspect.Parameter.KEYWORD_ONLY
    return [
        *(inspect.Parameter(name, by_name, annotation=annotation) for name, annotation in needed.items()),
        *(
            inspect.Parameter(name, by_name, annotation=annotation, default=None)
            for name, annotation in optional.items()
        ),
    ]


def _header(name: str, description: str) -> object:
    return Annotated[str | None, Header(alias=name, description=description)]


def _headers(route: Route) -> dict[str, Any]:
    if not route.etag:
        return {}
    return {"ETag": {"schema": {"type": "string"}, "description": "the version or commit id, quoted"}}
