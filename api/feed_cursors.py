"""Cursors of the change feed: opaque to clients, of one organization, good for every route that reads the feed."""

import base64
import binascii
import hashlib

import orjson

from api.calls import Read
from models.errors import CursorExpired, InvalidRequest
from models.identifiers import OrganizationId
from models.schemas.feed import LATEST
from models.store.events import Position
from models.store.feed import Feed, feed_of, latest_position

_FINGERPRINT_CHARACTERS = 12
_MAX_XID, _MAX_ID = 2**64 - 1, 2**63 - 1


def start_of(call: Read, cursor: str | None, *, field: str) -> Position:
    """Where a reader goes on: after the cursor, at the oldest event that is kept, or at what happens from now on.

    Args:
        call: whose feed.
        cursor: as it came, `latest`, or None for the oldest event that is kept.
        field: what it came as.

    Raises:
        InvalidRequest: no cursor of this feed.
        CursorExpired: events after it have been removed, or the database has been restored; with `resume_from`.
    """
    org_id = call.principal.org_id
    feed = feed_of(call.connection, org_id)
    if cursor is None:
        return feed.floor
    if cursor == LATEST:
        return latest_position(call.connection, org_id, feed)
    return _kept(feed, _position(cursor, org_id, field), org_id)


def cursor_of(position: Position, org_id: OrganizationId) -> str:
    """A position as clients keep it."""
    parts = [_fingerprint(org_id), position.epoch, position.xid, position.id]
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def _kept(feed: Feed, position: Position, org_id: OrganizationId) -> Position:
    if not feed.reaches_back_to(position):
        raise CursorExpired(
            "The feed does not reach back to this cursor; read again what you keep, then resume.",
            resume_from=cursor_of(feed.floor, org_id),
        )
    return position


def _position(cursor: str, org_id: OrganizationId, field: str) -> Position:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        parts = orjson.loads(base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        raise InvalidRequest.of(field, "malformed") from None
    match parts:
        case [str() as fingerprint, str() as epoch, int() as xid, int() as number] if _is_number(
            xid, _MAX_XID
        ) and _is_number(number, _MAX_ID):
            if fingerprint != _fingerprint(org_id):
                raise InvalidRequest.of(field, "foreign")
            return Position(epoch, xid, number)
    raise InvalidRequest.of(field, "malformed")


def _is_number(part: int, most: int) -> bool:
    return not isinstance(part, bool) and 0 <= part <= most


def _fingerprint(org_id: OrganizationId) -> str:
    return hashlib.sha256(orjson.dumps(["feed", org_id])).hexdigest()[:_FINGERPRINT_CHARACTERS]
