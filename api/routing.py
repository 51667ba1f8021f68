"""How a router is written: a function a route, registered on a `Routes`; its name is the operation id and SDK method.

    routes = Routes("projects")

    @routes.read("/projects/{project_id}", answers=ProjectView)
    def get_project(call: Read, project_id: str) -> Answer:          # read route: one read-only connection
        access = find_project(call, project_id)                      # 404
        call.query(NoParameters)                                     # 403 by the token, 400
        return answer(view, version=row.version)

    @routes.write("PATCH", "/projects/{project_id}", accepts=ProjectPatch, answers=ProjectView, if_match=True,
                  problems=(ProjectArchived, AlreadyExists))
    def update_project(call: Write, project_id: str) -> Answer:      # synchronous write: one transaction, `call.tx`
        lock_coordination(call.connection, call.principal.org_id)    # in the written order, before what it guards
        access = find_project(call, project_id)                      # 404
        access.require_manage()                                      # 403 by the role
        body = call.body(ProjectPatch)                               # 403 by the token, 413, 415, 400
        require_match("project", call.if_match_version(), row.version)  # 400, 428, 412
        ...                                                          # codes inside the transaction: 409, 422
        return answer(view, version=row.version)

    @routes.command("POST", "/reviews/{review_id}/merges", accepts=MergeRequest, answers=MergeResult)
    def merge_review(call: Write, review_id: str) -> StoredOperation:  # workflow command
        ...                                                          # as above, up to 412; nothing is locked or changed
        return accept_operation(call.tx, kind=OperationKind.MERGE, ...)  # 202, or the outcome with `Prefer: wait`

    @routes.command("POST", "/reviews", accepts=CreateReview, answers=ReviewBody, tried=ReviewTrial)
    def create_review(call: Write) -> StoredOperation | Answer:      # may be tried by `?dry_run=true`
        ...                                                          # as above, with `call.body(…, query=DryRunQuery)`
        if call.dry_run:                                             # rolled back, whatever it wrote
            return answer(trial)                                     # `tried`, with 200, or the same problem
        return accept_operation(call.tx, kind=OperationKind.SUBMIT, ...)

    @routes.hot("GET", "/memories/{name}", answers=StructuredMemoryBody, conditional=True)
    def get_memory(call: Hot, name: str) -> Answer:                  # what agents ask on every turn (`api.hot`)
        query = call.query(PlaceQuery)                               # the same order, on a connection of psycopg's own
        ...                                                          # each statement commits, or `call.transaction()`
        return document_answer(record.document(), version=record.revision)

A read that takes its time answers `Later(respond)`: it has found and checked everything, and `respond` waits or streams
in the event loop, without thread or connection (`api.events`).

Functions are plain `def`, run in a thread, and get the path's parameters by name, as strings. They never commit and
never catch a Problem to answer it. Authentication, Idempotency-Key, deadlock retries, waiting and problem documents
happen around them (`api.running`, `api.exchange`). `problems` are the codes of this route beyond those that follow
from its shape; they are documented in OpenAPI, and each is produced by a test.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Concatenate, ParamSpec, TypeVar

from pydantic import BaseModel

from api.answers import API, Answer
from api.calls import Held, Hot, Later, Read, Write
from api.requests import MAX_BODY_BYTES
from models.errors import Problem
from models.schemas.common import DryRunQuery, Input, NoParameters, Query
from models.store.operations import StoredOperation

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Answer | StoredOperation | Held | Later])

ReadHandler = Callable[Concatenate[Read, P], Answer | Later]
WriteHandler = Callable[Concatenate[Write, P], Answer]
CommandHandler = Callable[Concatenate[Write, P], StoredOperation | Answer]
PollHandler = Callable[Concatenate[Read, P], Held]
HotHandler = Callable[Concatenate[Hot, P], Answer]

MAX_HOT_BODY_BYTES = 2 * 1024 * 1024


def _unset() -> Answer:
    raise NotImplementedError


def always(_: Hot) -> bool:
    """For `only_reads` of a POST whatever it holds."""
    return True


def never(_: Hot) -> bool:
    """For `only_reads` of a POST that changes something."""
    return False


@dataclass(frozen=True, slots=True)
class Route:
    """One route: what it takes, what it answers, and the function behind it."""

    method: str
    path: str
    answers: type[BaseModel] | None
    status: int = 200
    accepts: type[Input] | None = None
    query: type[Query] = NoParameters
    problems: tuple[type[Problem], ...] = ()
    if_match: bool = False
    if_match_optional: bool = False
    if_none_match_optional: bool = False
    etag: bool = False
    conditional: bool = False
    is_command: bool = False
    tried: type[BaseModel] | None = None
    tried_by_reading: bool = False
    tag: str = ""
    is_stream: bool = False
    deprecated: bool = False
    is_hot: bool = False
    is_tool: bool = False
    only_reads: Callable[[Hot], bool] = never
    max_body: int = MAX_BODY_BYTES
    also: int | None = None
    function: Callable[..., Answer | StoredOperation | Held | Later] = field(default=_unset)

    @property
    def name(self) -> str:
        """The operation id."""
        return self.function.__name__

    @property
    def path_parameters(self) -> list[str]:
        """The names of the path's parameters, as the function takes them."""
        return list(inspect.signature(self.function).parameters)[1:]


@dataclass(slots=True)
class Routes:
    """The routes of one resource, all below `/v1/api`."""

    tag: str
    routes: list[Route] = field(default_factory=list)

    def read(
        self,
        path: str,
        *,
        answers: type[BaseModel],
        query: type[Query] = NoParameters,
        problems: tuple[type[Problem], ...] = (),
        etag: bool = False,
        conditional: bool = False,
        deprecated: bool = False,
        is_stream: bool = False,
    ) -> Callable[[ReadHandler[P]], ReadHandler[P]]:
        """A GET. `query` is what the function passes to `call.query`; `etag` documents the header.

        `conditional` documents an ETag and `If-None-Match`: the function asks `api.headers.is_not_modified`.
        `deprecated` documents that clients had better not begin to use it.
        `is_stream` documents server-sent events, each with an `answers` as its data.
        """
        return self._registered(
            Route(
                "GET",
                path,
                answers,
                query=query,
                problems=problems,
                etag=etag or conditional,
                conditional=conditional,
                deprecated=deprecated,
                is_stream=is_stream,
            )
        )

    def write(
        self,
        method: str,
        path: str,
        *,
        accepts: type[Input] | None = None,
        answers: type[BaseModel] | None = None,
        status: int | None = None,
        problems: tuple[type[Problem], ...] = (),
        if_match: bool = False,
        if_match_optional: bool = False,
        etag: bool = False,
        tried: type[BaseModel] | None = None,
    ) -> Callable[[WriteHandler[P]], WriteHandler[P]]:
        """A synchronous change; 201 for a POST, 204 when it answers nothing, else 200, unless `status` says so.

        `if_match` documents the precondition, which the function asks for by `call.if_match_version()`;
        `if_match_optional` one that may be left out (`call.if_match_version_if_given()`). `tried` is what the function
        answers, with 200, where `call.dry_run` is set.
        """
        usual = 204 if answers is None else 201 if method == "POST" else 200
        return self._registered(
            Route(
                method,
                path,
                answers,
                status=status or usual,
                accepts=accepts,
                problems=problems,
                if_match=if_match,
                if_match_optional=if_match_optional,
                etag=etag,
                query=NoParameters if tried is None else DryRunQuery,
                tried=tried,
            )
        )

    def command(
        self,
        method: str,
        path: str,
        *,
        accepts: type[Input],
        answers: type[BaseModel],
        status: int = 200,
        problems: tuple[type[Problem], ...] = (),
        if_match: bool = False,
        if_match_optional: bool = False,
        tried: type[BaseModel] | None = None,
        tried_by_reading: bool = False,
    ) -> Callable[[CommandHandler[P]], CommandHandler[P]]:
        """A workflow command: the function accepts an operation; `status` is that of its result when waited for.

        `problems` includes the codes that only its operation can end with. `tried` is what the function answers
        itself, at once and with 200, where `call.dry_run` is set: what the command does, under its locks and rolled
        back, or, `tried_by_reading`, what it finds out from one snapshot.
        """
        return self._registered(
            Route(
                method,
                path,
                answers,
                status=status,
                accepts=accepts,
                problems=problems,
                if_match=if_match,
                if_match_optional=if_match_optional,
                is_command=True,
                query=NoParameters if tried is None else DryRunQuery,
                tried=tried,
                tried_by_reading=tried_by_reading,
            )
        )

    def poll(
        self, path: str, *, answers: type[BaseModel], query: type[Query]
    ) -> Callable[[PollHandler[P]], PollHandler[P]]:
        """A read of an operation that is held until the outcome, or as long as the caller asks."""
        return self._registered(Route("GET", path, answers, query=query))

    def hot(
        self,
        method: str,
        path: str,
        *,
        answers: type[BaseModel],
        status: int = 200,
        also: int | None = None,
        accepts: type[Input] | None = None,
        query: type[Query] = NoParameters,
        problems: tuple[type[Problem], ...] = (),
        if_match_optional: bool = False,
        etag: bool = False,
        conditional: bool = False,
        if_none_match_optional: bool = False,
        max_body: int = MAX_HOT_BODY_BYTES,
        is_tool: bool = False,
        only_reads: Callable[[Hot], bool] = never,
    ) -> Callable[[HotHandler[P]], HotHandler[P]]:
        """What agents ask on every turn, a GET or a change: the function gets a `Hot` call (`api.hot`).

        `also` is a second status with the same answer (200 of what was there, beside 201); `if_none_match_optional`
        documents `If-None-Match: *` of a change (`api.headers.must_be_new`); `max_body` how many bytes
        a body may have; `is_tool` has every refusal say so to a model too; `only_reads` tells the POSTs that are not
        answered by what their Idempotency-Key was answered before. The others are as for the other kinds.
        """
        return self._registered(
            Route(
                method,
                path,
                answers,
                status=status,
                also=also,
                accepts=accepts,
                query=query,
                problems=problems,
                if_match_optional=if_match_optional,
                etag=etag or conditional,
                conditional=conditional,
                if_none_match_optional=if_none_match_optional,
                is_hot=True,
                is_tool=is_tool,
                only_reads=only_reads,
                max_body=max_body,
            )
        )

    def _registered(self, route: Route) -> Callable[[F], F]:
        def register(function: F) -> F:
            self.routes.append(replace(route, path=API + route.path, tag=self.tag, function=function))
            return function

        return register
