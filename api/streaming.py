"""Answers that are sent while they are read: whatever their size, one part of them is in memory at a time.

A part is read in a short transaction of its own, in one of the process's threads, and waits for its client without
either. What goes wrong after the first part ends the connection: no client takes the beginning for the whole.
"""

import logging
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import partial

import anyio.to_thread
from sqlalchemy import Connection, Engine
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from api.answers import JSON_TYPE
from api.calls import Later, Read
from api.failures import problem_of
from api.headers import accepts_gzip
from api.requests import Incoming
from api.running import open_reading
from models.errors import NotFound
from models.store.versions import Connect, Vanished

PART_BYTES = 65_536
"""Less than this is not worth the way into a thread and back; a piece of rows is sent as it is, a megabyte or more."""

GZIP = 31  # zlib's number for the format of gzip with its largest window
LEVEL = 5  # the sixth takes half as long again for one per cent less (measured on Markdown)

VARIES = {"Vary": "Accept-Encoding"}

logger = logging.getLogger(__name__)


Parts = Callable[[Connect], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class Streamed:
    """A JSON answer in parts; `parts` asks for the connection of each piece, as `models.store.versions` has it.

    Its ETag names what is told and not the bytes, so it is the same for the compressed form.
    """

    parts: Parts
    headers: dict[str, str]


def streamed(call: Read, parts: Parts, headers: dict[str, str]) -> Later:
    """Answer with parts; what the call found is judged, its transaction ends before the first of them is read."""
    return Later(partial(streaming_response, Streamed(parts, headers), call.incoming))


async def streaming_response(answer: Streamed, incoming: Incoming) -> Response:
    """The response to an answer whose first part can be read; one that has no other is a plain one.

    Raises:
        NotFound: what was found a moment ago has gone.
    """
    compressed = accepts_gzip(incoming.headers)
    parts = _Parts(answer, incoming.services.engine, compressed=compressed)
    try:
        first = await anyio.to_thread.run_sync(parts.next)
    except Vanished:
        raise NotFound("There is no such commit.") from None
    headers = {**answer.headers, **VARIES, **({"Content-Encoding": "gzip"} if compressed else {})}
    if parts.ended:
        return Response(first, headers=headers, media_type=JSON_TYPE)
    return _Cuttable(_remaining(first, parts), headers=headers, media_type=JSON_TYPE, request_id=incoming.request_id)


async def _remaining(part: bytes, parts: "_Parts") -> AsyncIterator[bytes]:
    yield part
    while not parts.ended:
        yield await anyio.to_thread.run_sync(parts.next)


class _Parts:
    """The parts of an answer, read one by one; between two of them nothing is held but what the pieces keep."""

    def __init__(self, answer: Streamed, engine: Engine, *, compressed: bool) -> None:
        self.ended = False
        self._engine = engine
        self._connection: Connection | None = None
        self._pieces = answer.parts(self._connect)
        self._compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP) if compressed else None

    def next(self) -> bytes:
        """The next part; `ended` afterwards tells that it was the last."""
        try:
            return self._read()
        finally:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connect(self) -> Connection:
        if self._connection is None:
            self._connection = open_reading(self._engine)
        return self._connection

    def _read(self) -> bytes:
        part = bytearray()
        read = 0
        while read < PART_BYTES and not self.ended:
            piece = next(self._pieces, None)
            self.ended = piece is None
            read += len(piece or b"")
            part += self._coded(piece)
        return bytes(part)

    def _coded(self, piece: bytes | None) -> bytes:
        if self._compressor is None:
            return piece or b""
        return self._compressor.flush() if piece is None else self._compressor.compress(piece)


class _Cuttable(StreamingResponse):
    """A response that is left unfinished when a part cannot be read: the server then closes the connection."""

    def __init__(
        self, content: AsyncIterator[bytes], *, headers: dict[str, str], media_type: str, request_id: str
    ) -> None:
        super().__init__(content, headers=headers, media_type=media_type)
        self._request_id = request_id

    async def stream_response(self, send: Send) -> None:
        """Send the parts."""
        try:
            await super().stream_response(send)
        except Exception as error:  # noqa: BLE001  (whatever it is, the answer is not whole)
            problem = problem_of(error, request_id=self._request_id)
            logger.warning("answer cut off (%s), request %s", problem.code, self._request_id)
