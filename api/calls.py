"""What a router's function works with: who asks, in which transaction, and what they sent, judged in order.

A function first finds what its path names (404), then checks the role (403), then asks for `query` or `body`: that
checks the token's permission (403), size (413), media type (415) and every rule of the schemas (400). Preconditions
(428, 412) follow, then whatever holds inside the transaction. So the order of lines is the order of precedence.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

import psycopg
from sqlalchemy import Connection
from starlette.responses import Response

from api.bodies import Errors, I, Json, Q, parse_body, parse_query, read_json, refuse, require_json
from api.headers import IDEMPOTENCY_KEY, broken_key_rule, if_match, if_match_version, required_version
from api.requests import Incoming
from models.errors import Forbidden
from models.identifiers import SessionId, UserId
from models.rules.roles import Permission
from models.schemas.common import NoParameters, Query
from models.store.access import ADMINISTRATORS, org_role
from models.store.operations import StoredOperation
from models.store.structured import Actor, Surface
from models.store.tokens import Credential
from models.store.transaction import Transaction
from search.documents import Gone, Indexed


@dataclass(frozen=True, slots=True)
class Held:
    """An operation, and for how many seconds its caller is ready to wait for the outcome."""

    operation: StoredOperation
    wait_s: int


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that takes its time: `respond` waits, or writes on and on, in the event loop and without a thread."""

    respond: Callable[[], Awaitable[Response]]


@dataclass(slots=True)
class Call:
    """What `principal` sent."""

    incoming: Incoming
    principal: Credential
    admitted: bool = field(default=False, init=False)
    _json: Json | None = field(default=None, init=False)

    def query(self, schema: type[Q], *, permission: Permission | None = "read") -> Q:
        """The query parameters; call it once, after the look-up, even where there are none (`NoParameters`).

        Raises:
            Forbidden: the token lacks the permission.
            InvalidRequest: a parameter is unknown, repeated, or breaks a rule.
        """
        self.require_permission(permission)
        value, errors = parse_query(self.incoming.query, schema)
        refuse(errors)
        assert value is not None  # noqa: S101  (no errors, so there is a value)
        return value

    def require_permission(self, permission: Permission | None) -> None:
        """Raise Forbidden unless the token has the permission; None asks for none."""
        self.admitted = True
        if permission is not None and permission not in self.principal.permissions:
            raise Forbidden("The token does not permit this.", permission=permission)

    def header(self, name: str) -> str | None:
        """A request header."""
        return self.incoming.headers.get(name)

    def json(self) -> Json:
        """The body before it is judged, read once; of one that is too large, nothing."""
        if self._json is None:
            self._json = read_json(self.incoming.body or b"")
        return self._json

    def body(self, schema: type[I], *, permission: Permission | None = "write", query: type[Query] = NoParameters) -> I:
        """The request body; call it after the look-up and the role. `query` is what the route's query may hold.

        Raises:
            Forbidden: the token lacks the permission.
            TooLarge: the body exceeds the limit.
            UnsupportedMediaType: it is not JSON.
            InvalidRequest: body, query or Idempotency-Key break a rule.
        """
        self.require_permission(permission)
        self.incoming.require_whole_body()
        require_json(self.incoming)
        value, errors = parse_body(self.json(), schema)
        refuse(self._surroundings(query) + errors)
        assert value is not None  # noqa: S101  (no errors, so there is a value)
        return value

    def no_body(self) -> None:
        """For a change that is told by its path alone: as `body`, without one."""
        self.require_permission("write")
        refuse(self._surroundings(NoParameters))

    def no_body_but(self, schema: type[I], query: type[Q]) -> Q:
        """For a change that is told by its path and its query, whose body may be left out or hold what is optional.

        Raises:
            Forbidden, TooLarge, UnsupportedMediaType, InvalidRequest: as by `body`.
        """
        self.require_permission("write")
        self.incoming.require_whole_body()
        errors: Errors = []
        if self.incoming.body:
            require_json(self.incoming)
            _, errors = parse_body(self.json(), schema)
        value, _ = parse_query(self.incoming.query, query)
        refuse(self._surroundings(query) + errors)
        assert value is not None  # noqa: S101  (no errors, so there is a value)
        return value

    def if_match_version(self) -> int:
        """The version in `If-Match`, which is required here; compare it by `api.headers.require_match`."""
        return required_version(self.incoming.headers)

    def if_match_version_if_given(self) -> int | None:
        """The version in `If-Match`, where it may be left out."""
        return if_match_version(self.incoming.headers)

    def if_match_ref_if_given(self) -> str | None:
        """The commit id in `If-Match`, where it may be left out."""
        return if_match(self.incoming.headers)

    def _surroundings(self, query: type[Query]) -> Errors:
        _, errors = parse_query(self.incoming.query, query)
        rule = broken_key_rule(self.incoming.headers) if self.incoming.method == "POST" else None
        return errors if rule is None else [*errors, (IDEMPOTENCY_KEY, rule)]


@dataclass(slots=True)
class Read(Call):
    """A GET: `principal` asks on `connection`, which is read only."""

    connection: Connection

    def require_administrator(self) -> None:
        """Raise Forbidden unless an owner or admin asks; the role is read now, so that it holds under a lock."""
        if org_role(self.connection, self.principal.org_id, self.principal.user_id) not in ADMINISTRATORS:
            raise Forbidden("Only owners and admins may do this.")


@dataclass(slots=True)
class Write(Read):
    """A change: everything happens in `tx`, which commits when the function returns and leaves nothing when it raises.

    A deadlock runs the function again, so it may do nothing but write in `tx`. Set `wakes_delivery` when it changed
    a Review that has a workflow. With `dry_run` the function answers what it would come to, and `tx` is rolled back.
    """

    tx: Transaction
    dry_run: bool = False
    wakes_delivery: bool = field(default=False, init=False)


@dataclass(slots=True)
class Hot(Call):
    """A request on the hot path, a GET or a change: `connection` is psycopg's own (`models.connections`).

    It commits each statement by itself; several belong together in `with call.transaction():`. A deadlock runs the
    function again. What a change has to tell the process once it is committed, it leaves by `after_commit`.
    """

    connection: psycopg.Connection
    after_commit: list[Callable[[], None]] = field(default_factory=list, init=False)

    def transaction(self) -> AbstractContextManager[psycopg.Transaction]:
        """Around statements that commit together."""
        return self.connection.transaction()

    def tell_index(self, change: Indexed | Gone) -> None:
        """Have the process's own index know of a change once it is committed: whoever asks then finds it."""
        self.after_commit.append(partial(self.incoming.services.index.apply, [change]))

    def acting(self, surface: Surface, session_id: SessionId | None = None, user_id: UserId | None = None) -> Actor:
        """Who acts, for what is written; `user_id` of a session that acts for somebody else than the token's user."""
        who = self.principal
        return Actor(who.org_id, user_id or who.user_id, self.incoming.request_id, surface, session_id)
