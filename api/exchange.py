"""One request from arrival to answer: run in a thread, wait without one, tell problems as documents."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar, cast

import anyio.to_thread
import orjson
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from api.answers import API, Answer, answer, etag, refusal, refusal_of_document, told_to_model
from api.bodies import parse_query
from api.calls import Call, Held, Later
from api.failures import problem_of
from api.headers import preferred_wait_s
from api.hot import run_hot
from api.requests import Incoming, receive, request_id_of
from api.routing import Route
from api.running import REPLAYED, Accepted, HotFunction, ReadFunction, WriteFunction, run_read, run_trial, run_write
from api.services import Services, services_of
from models.errors import NotFound
from models.identifiers import OperationId, OrganizationId
from models.schemas.common import DryRunQuery
from models.schemas.operations import OperationView, Progress
from models.store.operations import StoredOperation, read_operation

CLIENT_CLOSED_REQUEST = 499  # nobody reads it; it only keeps logs honest

T = TypeVar("T")


async def exchange(route: Route, request: Request) -> Response:
    """Answer a request to a route."""
    try:
        incoming = await receive(request, services_of(request), max_body=route.max_body)
        return await _answer(route, incoming)
    except ClientDisconnect:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    except Exception as error:  # noqa: BLE001  (the border: whatever it is, it is answered, and logged if unforeseen)
        return problem_response(error, request, to_model=route.is_tool)


def problem_response(error: Exception, request: Request, *, to_model: bool = False) -> Response:
    """The problem document of whatever went wrong; `to_model` has it say so to a model too."""
    request_id = request_id_of(request)
    problem = problem_of(error, request_id=request_id)
    if to_model:
        problem = told_to_model(problem)
    return refusal(problem, instance=request.scope["path"], request_id=request_id).response()


async def in_thread(work: Callable[[], T]) -> T:
    """Run blocking work in one of the process's threads; there are as many as pooled connections."""
    return await anyio.to_thread.run_sync(work)


def read_function(route: Route, incoming: Incoming) -> ReadFunction:
    """The function of a GET route, with its path parameters."""
    return cast("ReadFunction", partial(_call, route, incoming))


def hot_function(route: Route, incoming: Incoming) -> HotFunction:
    """The function of a hot route, with its path parameters."""
    return cast("HotFunction", partial(_call, route, incoming))


async def _answer(route: Route, incoming: Incoming) -> Response:
    if route.is_hot:
        run_route = partial(run_hot, incoming, hot_function(route, incoming), route.only_reads)
        return (await in_thread(run_route)).response()
    if route.method != "GET":
        write = cast("WriteFunction", partial(_call, route, incoming))
        run = partial(run_trial, only_reads=route.tried_by_reading) if _is_trial(route, incoming) else run_write
        done = await in_thread(partial(run, incoming, write))
        return done.response() if isinstance(done, Answer) else await _command_response(route, incoming, done)
    found = await in_thread(partial(run_read, incoming, read_function(route, incoming)))
    if isinstance(found, Later):
        return await found.respond()
    if isinstance(found, Held):
        found = answer(_view(await _outcome(incoming.services, found.operation, found.wait_s)))
    return found.response()


def _is_trial(route: Route, incoming: Incoming) -> bool:
    """Whether a command is only tried; a query that is none is refused in its turn, by `call.body`."""
    query, _ = parse_query(incoming.query, DryRunQuery) if route.tried is not None else (None, [])
    return query is not None and query.dry_run


def _call(route: Route, incoming: Incoming, call: Call) -> Answer | StoredOperation | Held | Later:
    if not incoming.has_plausible_path:
        raise NotFound("There is no such resource.")
    return route.function(call, **incoming.path_parameters)


async def _command_response(route: Route, incoming: Incoming, accepted: Accepted) -> Response:
    operation = accepted.operation
    headers = {"Location": f"{API}/operations/{operation.operation_id}"}
    if accepted.replayed:
        headers |= REPLAYED
    wait_s = preferred_wait_s(incoming.headers)
    if wait_s is not None:
        with suppress(SQLAlchemyError):  # accepted is accepted, even when the database is gone a moment later
            operation = await _outcome(incoming.services, operation, wait_s)
        if operation.finished:
            headers["Preference-Applied"] = f"wait={wait_s}"
            return _synchronous(route, incoming, operation).response(*headers.items())
    return answer(_view(operation), status=202).response(*headers.items())


def _synchronous(route: Route, incoming: Incoming, operation: StoredOperation) -> Answer:
    """As if the route had done it at once."""
    if operation.problem is not None:
        return refusal_of_document(operation.problem, instance=incoming.path, request_id=incoming.request_id)
    result = operation.result or {}
    version = result.get("version", result.get("revision"))
    headers = {"ETag": etag(version)} if isinstance(version, int) else {}
    return Answer(route.status, orjson.dumps(result), headers)


def _view(row: StoredOperation) -> OperationView:
    return OperationView.model_validate(
        {
            "operation_id": row.operation_id,
            "kind": row.kind.value,
            "status": row.status,
            "progress": Progress(step=row.progress_step, done=row.progress_done, total=row.progress_total),
            "result": row.result,
            "problem": row.problem,
            "workflow_id": row.workflow_id,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
        }
    )


async def _outcome(services: Services, operation: StoredOperation, wait_s: int) -> StoredOperation:
    """The operation when it is finished, or as it is after the wait."""
    if operation.finished or wait_s == 0:
        return operation
    clock = asyncio.get_running_loop().time
    deadline = clock() + wait_s
    with services.operations.interest(operation.org_id, operation.operation_id) as interest:
        while True:
            operation = await in_thread(partial(_read, services, operation.org_id, operation.operation_id))
            left = deadline - clock()
            if operation.finished or services.operations.closing or left <= 0:
                return operation
            await interest.stirred(left)


def _read(services: Services, org_id: OrganizationId, operation_id: OperationId) -> StoredOperation:
    with services.engine.connect() as connection:
        operation = read_operation(connection, org_id, operation_id)
    if operation is None:
        raise NotFound("There is no such operation.")
    return operation
