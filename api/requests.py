"""A request as it arrived: read without trusting it, judged later in the order of the contract.

What is wrong with a body is only kept here: who asks, and for what, is answered first (publication.md §6).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request

from api.services import Services
from models.errors import TooLarge
from models.schemas.common import MAX_ID_CHARACTERS

MAX_BODY_BYTES = 8 * 1024 * 1024

MEMORY_NAME = "name"
"""The one path parameter that is no id: a memory's name has rules of its own, which refuse it with 400."""


SLASH = "\uffff"
"""Stands for an encoded slash until a route is found (`api.middleware.EncodedSlashes`)."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """One request; `body` is None when it exceeds the limit, and then it was not read to its end."""

    services: Services
    method: str
    path: str
    raw_path: bytes
    path_parameters: Mapping[str, str]
    query: bytes
    headers: Headers
    body: bytes | None
    request_id: str
    max_body: int = MAX_BODY_BYTES

    @property
    def has_plausible_path(self) -> bool:
        """Whether the ids in the path could be any: a text that the database cannot hold or index is none."""
        return all(
            len(value) <= MAX_ID_CHARACTERS and "\0" not in value
            for name, value in self.path_parameters.items()
            if name != MEMORY_NAME
        )

    def require_whole_body(self) -> None:
        """Raise TooLarge when the body exceeds the limit."""
        if self.body is None:
            raise TooLarge(f"A request has at most {self.max_body} bytes.", limit=self.max_body)


async def receive(request: Request, services: Services, *, max_body: int = MAX_BODY_BYTES) -> Incoming:
    """Take a request in; its body only when somebody names a credential, and no more than `max_body` bytes of it."""
    body = await _read_body(request, max_body) if "authorization" in request.headers else b""
    return without_body(request, services, body=body, max_body=max_body)


def without_body(
    request: Request, services: Services, *, body: bytes | None = b"", max_body: int = MAX_BODY_BYTES
) -> Incoming:
    """Take a request in, whose body does not matter."""
    return Incoming(
        services=services,
        method=request.method,
        path=request.scope["path"],
        raw_path=request.scope["raw_path"],
        path_parameters={name: value.replace(SLASH, "/") for name, value in request.path_params.items()},
        query=request.scope["query_string"],
        headers=request.headers,
        body=body,
        request_id=request_id_of(request),
        max_body=max_body,
    )


def request_id_of(request: Request) -> str:
    """The id that `RequestIds` gave the request."""
    return str(request.scope["state"]["request_id"])


async def _read_body(request: Request, limit: int) -> bytes | None:
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > limit:
        return None
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            return None
        chunks.append(chunk)
    return b"".join(chunks)
