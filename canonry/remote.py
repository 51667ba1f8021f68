"""Our own API as commands use it: requests that survive a restart of the server."""

import ipaddress
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from threading import Event
from typing import TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from canonry.failures import CommandFailed
from canonry.patience import Outages, Tries
from canonry.refusals import Json, Refused, problem_of, sentence_of
from models.schemas.common import Page
from models.schemas.operations import OperationView, Progress

# A long publication or a dry run of many files is one request; a dead network is noticed by then.
TIMEOUT = httpx.Timeout(60.0, connect=10.0)
WAIT_S = 1
"""How long one question for an operation's outcome is held; its progress is told as often."""
STANDSTILL_S = 300.0
PAGE = 200
PASSING = frozenset({429, 502, 503, 504})

T = TypeVar("T")
U = TypeVar("U")
Item = TypeVar("Item", bound=BaseModel)


def silently(progress: Progress) -> None:
    """Tell nobody."""


class Remote:
    """One token's view of a server; safe to use from several threads.

    No answer, and an answer that says "not now", is tried again with back-off for a minute, under the same
    Idempotency-Key. Every method raises `Refused` for a problem, and CommandFailed when no usable answer came.

    Args:
        url: where the server is, without `/v1/api`.
        token: never shown.
        report: takes a line for a person when the server does not answer.
        lasts: whether the server goes on when the command has ended.
        credential: where the token was found, for whoever has to replace it.
    """

    def __init__(
        self,
        url: str,
        token: str,
        report: Callable[[str], None],
        credential: str = "CANONRY_TOKEN",
        *,
        lasts: bool = True,
    ) -> None:
        self.url = url
        self.lasts = lasts
        self._credential = credential
        self._outages = Outages(report)
        self._http = httpx.Client(
            base_url=f"{url}/v1/api",
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT,
            trust_env=not _is_local(url),  # no proxy leads to this machine
        )

    def get(self, path: str, shape: type[T], **query: str | int) -> T:
        """Read something; members that `shape` does not name are ignored."""
        return self._read(self._send("GET", path, query=query), shape)

    def items(self, path: str, shape: type[Item], **query: str | int) -> Iterator[Item]:
        """Every item of a list, page by page."""
        cursor = dict[str, str | int]()
        while True:
            page = self.get(path, Page[shape], **{"limit": PAGE, **query, **cursor})  # type: ignore[valid-type]
            yield from page.items
            if page.next_cursor is None:
                return
            cursor = {"cursor": page.next_cursor}

    def post(
        self,
        path: str,
        body: Json,
        shape: type[T],
        *,
        key: str | None = None,
        query: Mapping[str, str | int] = {},
        version: int | None = None,
        unless: Event | None = None,
    ) -> T:
        """Ask for something.

        Args:
            path: the route.
            body: the request.
            shape: of the answer.
            key: an Idempotency-Key that another run of the command would use as well; without it a new one.
            query: parameters.
            version: of what is written to, as it was read.
            unless: once it is set, a try that fails is the last.
        """
        key = key or uuid.uuid4().hex
        answer = self._send("POST", path, query=query, body=body, key=key, version=version, unless=unless)
        return self._read(answer, shape)

    def put(self, path: str, body: Json, shape: type[T], *, version: int) -> T:
        """Replace something at the version that was read; the second try after a lost answer may be refused."""
        return self._read(self._send("PUT", path, body=body, version=version), shape)

    def patch(self, path: str, body: Json, shape: type[T]) -> T:
        """Change members of something that has no version."""
        return self._read(self._send("PATCH", path, body=body), shape)

    def delete(self, path: str, *, unless: Event | None = None) -> None:
        """Take something away; the second try after a lost answer may be refused. `unless` is as in `post`."""
        answer = self._send("DELETE", path, unless=unless)
        if not answer.is_success:
            self._read(answer, dict)

    def command(
        self,
        path: str,
        body: Json,
        shape: type[T],
        *,
        key: str | None = None,
        told: Callable[[Progress], None] = silently,
    ) -> T:
        """Ask for something that takes its time, and wait for the outcome as `outcome` does."""
        return self.outcome(self.post(path, body, OperationView, key=key), shape, told=told)

    def outcome(self, operation: OperationView, shape: type[T], *, told: Callable[[Progress], None] = silently) -> T:
        """The result of an operation, once it has ended.

        Raises:
            Refused: it failed.
            CommandFailed: nothing has moved for five minutes.
        """
        seen, give_up_at = operation.progress, time.monotonic() + STANDSTILL_S
        while operation.status in ("pending", "running"):
            told(operation.progress)
            operation = self.get(f"/operations/{operation.operation_id}", OperationView, wait=WAIT_S)
            if operation.progress != seen:
                seen, give_up_at = operation.progress, time.monotonic() + STANDSTILL_S
            elif time.monotonic() > give_up_at:
                raise CommandFailed(
                    f"{operation.kind} stays {operation.status} ({operation.operation_id}); it is accepted and goes on"
                    " once a worker runs. Run the same command again to wait for it."
                )
        told(operation.progress)
        if operation.problem is not None:
            raise Refused(int(str(operation.problem.get("status", 0))), operation.problem)
        return self._understood(TypeAdapter(shape).validate_python, operation.result)

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] = {},
        body: Json | None = None,
        key: str | None = None,
        version: int | None = None,
        unless: Event | None = None,
    ) -> httpx.Response:
        headers = {} if key is None else {"Idempotency-Key": key}
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        tries = Tries(self.url, self._outages, unless or Event())
        while True:
            try:
                answer = self._http.request(method, path, params=query, json=body, headers=headers)
            except httpx.TransportError as error:
                tries.pause(str(error) or type(error).__name__)
            else:
                self._outages.has_answered = True
                if not _is_passing(answer, again=tries.some_failed):
                    return answer
                tries.pause(_detail(answer))

    def _read(self, answer: httpx.Response, shape: type[T]) -> T:
        if answer.is_success:
            return self._understood(TypeAdapter(shape).validate_json, answer.content)
        problem = problem_of(answer)
        if problem is None:
            raise CommandFailed(
                f"{answer.request.url.copy_with(query=None)} answered {answer.status_code}, not as Canonry does."
            )
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            problem = {**problem, "detail": f"{sentence_of(problem)} It is the token of {self._credential}."}
        raise Refused(answer.status_code, problem)

    def _understood(self, parse: Callable[[U], T], raw: U) -> T:
        try:
            return parse(raw)
        except ValidationError as error:
            raise CommandFailed(f"{self.url} answered what this version does not understand: {error}") from error


def _is_local(url: str) -> bool:
    host = httpx.URL(url).host
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_passing(answer: httpx.Response, *, again: bool) -> bool:
    """Whether the same request may well succeed later: the server is busy, or still does what an earlier try began."""
    in_progress = answer.status_code == httpx.codes.CONFLICT and "retry-after" in answer.headers
    return answer.status_code in PASSING or (again and in_progress)


def _detail(answer: httpx.Response) -> str:
    problem = problem_of(answer)
    return f"status {answer.status_code}" if problem is None else sentence_of(problem)
