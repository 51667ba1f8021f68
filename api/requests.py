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


@dataclass(frozen=True, slots=True)
class Incoming:
    """One request; `body` is None when it exceeds the limit, and then it was not read to its end."""

    services: Services
    method: str
    path: str
    path_parameters: Mapping[str, str]
    query: bytes
    headers: Headers
    body: bytes | None
    request_id: str

    @property
    def has_plausible_path(self) -> bool:
        """Whether the ids in the path could be any: a text that the database cannot hold or index is none."""
        return all(len(value) <= MAX_ID_CHARACTERS and "\0" not in value for value in self.path_parameters.values())

    def require_whole_body(self) -> None:
        """Raise TooLarge when the body exceeds 8 MiB."""
        if self.body is None:
            raise TooLarge(f"A request has at most {MAX_BODY_BYTES} bytes.", limit=MAX_BODY_BYTES)


async def receive(request: Request, services: Services) -> Incoming:
    """Take a request in; its body only when somebody names a credential."""
    body = await _read_body(request) if "authorization" in request.headers else b""
    return without_body(request, services, body=body)


def without_body(request: Request, services: Services, *, body: bytes | None = b"") -> Incoming:
    """Take a request in, whose body does not matter."""
    return Incoming(
        services=services,
        method=request.method,
        path=request.scope["path"],
        path_parameters=request.path_params,
        query=request.scope["query_string"],
        headers=request.headers,
        body=body,
        request_id=request_id_of(request),
    )


def request_id_of(request: Request) -> str:
    """The id that `RequestIds` gave the request."""
    return str(request.scope["state"]["request_id"])


async def _read_body(request: Request) -> bytes | None:
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > MAX_BODY_BYTES:
        return None
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            return None
        chunks.append(chunk)
    return b"".join(chunks)
