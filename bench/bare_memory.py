"""The baseline of `bench/memory.py`: what one would write by hand for these two routes, Starlette and raw psycopg.

It looks the token up in the same way, sees global memories of the token's organization alone, and speaks the same
statements: a save writes the memory, its history, the audit row and the event. It checks little of what it is sent, and
knows no problem documents, preconditions, idempotency keys or retries.

    python -m bench.bare_memory DATABASE_URL PORT
"""

import hashlib
import hmac
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import psycopg
import uvicorn
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from models.identifiers import new_audit_event_id, new_structured_memory_id
from models.store.structured import READ
from models.store.structured_saves import SAVE

CREDENTIAL = """
    select t.org_id, t.user_id, u.role, t.permissions, t.secret_hash
    from tokens t join users u on u.org_id = t.org_id and u.user_id = t.user_id
    where t.token_id = %s and (t.expires_at is null or t.expires_at > clock_timestamp())
"""
PLACE = {"scope": "global", "scope_id": ""}
POOL = 8
KEEP_ALIVE_S = 30  # it is idle while the other one is asked


def main() -> None:
    url, port = sys.argv[1], int(sys.argv[2])
    pool = AsyncConnectionPool(url, kwargs={"autocommit": True}, min_size=POOL, max_size=POOL, open=False)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with pool:
            yield

    async def get_memory(request: Request) -> Response:
        async with pool.connection() as connection:
            org_id, _ = await _credential(connection, request, "read")
            name = request.path_params["name"]
            found = await connection.execute(READ, {**PLACE, "org_id": org_id, "name": name})
            row = await found.fetchone()
        if row is None:
            return Response(status_code=404)
        return _answer(_document(*row), 200)

    async def save_memory(request: Request) -> Response:
        body = orjson.loads(await request.body())
        async with pool.connection() as connection:
            org_id, user_id = await _credential(connection, request, "write")
            proposed = new_structured_memory_id()
            names = {
                **PLACE,
                "org_id": org_id,
                "user_id": user_id,
                "whole": False,
                "session_id": None,
                "request_id": "bench",
                "surface": "rest",
                "event_id": new_audit_event_id(),
                "memory_id": proposed,
                "name": body["name"],
                "type": body.get("type"),
                "description": body["description"],
                "content": body["content"],
                "if_match": None,
                "must_be_new": False,
            }
            row = await (await connection.execute(SAVE["global"], names)).fetchone()
        if row is None:
            return Response(status_code=403)
        memory_id, type_, created, updated, revision, created_by, published = row
        texts = (body["name"], body["description"], body["content"], type_)
        by = (created_by, user_id, published)
        document = _document(memory_id, *texts, "global", "", created, updated, revision, *by)
        return _answer(document, 201 if memory_id == proposed else 200)

    app = Starlette(
        routes=[
            Route("/v1/api/memories/{name}", get_memory, methods=["GET"]),
            Route("/v1/api/memories", save_memory, methods=["POST"]),
        ],
        lifespan=lifespan,
    )
    uvicorn.run(
        app,
        port=port,
        loop="uvloop",
        http="httptools",
        log_level="warning",
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_S,
    )


async def _credential(
    connection: psycopg.AsyncConnection[tuple[object, ...]], request: Request, permission: str
) -> tuple[str, str]:
    secret = request.headers["authorization"].removeprefix("Bearer ")
    found = await connection.execute(CREDENTIAL, ("tok_" + secret.removeprefix("cnr_")[:32],))
    row = await found.fetchone()
    if row is None:
        raise PermissionError
    org_id, user_id, _, permissions, stored = row
    given = hashlib.sha256(secret.encode()).digest()
    assert isinstance(stored, bytes)
    assert isinstance(permissions, list)
    if not hmac.compare_digest(stored, given) or permission not in permissions:
        raise PermissionError
    return str(org_id), str(user_id)


NAMES = (
    "memory_id",
    "name",
    "description",
    "content",
    "type",
    "scope",
    "scope_id",
    "created",
    "updated",
    "revision",
    "created_by",
    "updated_by",
    "published_memory_id",
)


def _document(*values: object) -> dict[str, object]:
    return dict(zip(NAMES, values, strict=True))


def _answer(document: dict[str, object], status: int) -> Response:
    headers = {"ETag": f'"{document["revision"]}"'}
    body = orjson.dumps(document, option=orjson.OPT_UTC_Z)
    return Response(body, status, headers, media_type="application/json")


if __name__ == "__main__":
    main()
