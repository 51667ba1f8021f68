"""What happens to every request before a route is looked for: its id, and where it may come from."""

import uuid
from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.answers import refusal
from api.headers import is_visible_ascii
from api.requests import SLASH
from models.errors import Forbidden, Problem

REQUEST_ID = "X-Request-ID"
ENCODED_SLASH = quote(SLASH).encode()


class RequestIds:
    """Accepts or makes the request's id, and returns it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wrap an HTTP request; pass anything else on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = given if is_visible_ascii(given) else f"req_{uuid.uuid4().hex}"
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        await self.app(scope, receive, send_with_id)


class EncodedSlashes:
    """Keeps a slash that a client has encoded within its segment of the path: it is part of a name, not of the route.

    The server hands the path over decoded. A character that no path contains stands for the slash while the route is
    looked for (`api.requests` puts it back).
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Change the path of an HTTP request; pass anything else on."""
        raw = scope.get("raw_path", b"")
        if b"%2F" in raw or b"%2f" in raw:
            marked = raw.replace(b"%2F", ENCODED_SLASH).replace(b"%2f", ENCODED_SLASH)
            scope["path"] = unquote(marked.decode("ascii"))
        await self.app(scope, receive, send)


class AllowedOrigins:
    """Refuses hosts we do not serve (a rebound DNS name), and pages of other origins."""

    def __init__(self, app: ASGIApp, allowed_hosts: list[str]) -> None:
        self.app = app
        self.allowed_hosts = frozenset(host.lower() for host in allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check an HTTP request; pass anything else on."""
        problem = self._problem(Headers(scope=scope)) if scope["type"] == "http" else None
        if problem is None:
            await self.app(scope, receive, send)
            return
        answer = refusal(problem, instance=scope["path"], request_id=scope["state"]["request_id"])
        await answer.response()(scope, receive, send)

    def _problem(self, headers: Headers) -> Problem | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _host(hosts[0]) not in self.allowed_hosts:
            return Forbidden("This host is not served here.")
        if any(_host(urlsplit_netloc(origin)) not in self.allowed_hosts for origin in headers.getlist("origin")):
            return Forbidden("Pages of this origin are not served.")
        return None


def urlsplit_netloc(origin: str) -> str:
    """Host and port of an origin; empty for `null` and for anything that is no web origin."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc if parts.scheme in ("http", "https") else ""


def _host(authority: str) -> str:
    """The host without its port; IPv6 addresses keep their brackets."""
    host, colon, port = authority.rpartition(":")
    return (host if colon and port.isdecimal() else authority).lower()
