"""The change feed: read by pages, waited for, or followed as a stream (tenancy.md)."""

from collections.abc import AsyncIterator
from functools import partial

from starlette.responses import Response, StreamingResponse

from api.answers import answer
from api.calls import Later, Read
from api.feed_cursors import cursor_of, start_of
from api.following import Followers
from api.headers import LAST_EVENT_ID
from api.openapi import EVENT_STREAM
from api.routing import Routes
from models.errors import CursorExpired, InvalidRequest, Unauthenticated
from models.schemas.common import MAX_PAGE
from models.schemas.feed import EventBody, EventPage, EventsQuery, EventStreamQuery
from models.store.events import FeedEvent, Position
from models.store.feed import Reach, reaches
from models.store.feed_pages import Page, read_feed
from models.store.tokens import Credential

HEARTBEAT_S = 15.0
"""Shorter than what proxies let an idle connection live."""

STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

routes = Routes("events")


@routes.read("/events", answers=EventPage, query=EventsQuery, problems=(CursorExpired,))
def list_events(call: Read) -> Later:
    """What changed that the caller may read now, in commit order; with `wait`, held until there is something."""
    who, query = call.principal, call.query(EventsQuery)
    start = start_of(call, query.after, field="after")
    page = read_feed(call.connection, who.org_id, who.user_id, start, query.limit)
    if page.events or query.wait == 0:
        return Later(partial(_answered, who, page))
    return Later(partial(_awaited, call.incoming.services.followers, who, page.position, query))


@routes.read("/events/stream", answers=EventBody, query=EventStreamQuery, problems=(CursorExpired,), is_stream=True)
def stream_events(call: Read) -> Later:
    """The same as server-sent events, each with the cursor after it as its id, for as long as the caller may read."""
    who, query = call.principal, call.query(EventStreamQuery)
    resumed = call.incoming.headers.getlist(LAST_EVENT_ID)
    if len(resumed) > 1:
        raise InvalidRequest.of(LAST_EVENT_ID, "repeated")
    last = resumed[0] if resumed and resumed[0] else None
    start = start_of(call, last or query.after, field=LAST_EVENT_ID if last else "after")
    reach = reaches(call.connection, who.org_id, [who.token_id]).get(who.token_id)
    return Later(partial(_streamed, call.incoming.services.followers, who, start, reach))


async def _answered(who: Credential, page: Page) -> Response:
    items = [_body(event) for event in page.events]
    return answer(EventPage(items=items, next_cursor=cursor_of(page.position, who.org_id))).response()


async def _awaited(followers: Followers, who: Credential, position: Position, query: EventsQuery) -> Response:
    with followers.following(who, position, limit=query.limit) as follower:
        found = await follower.events(query.wait)
        if follower.revoked:
            raise Unauthenticated("The token has been revoked, or has expired.")
        return await _answered(who, Page([], position) if found is None else Page(found, follower.position))


async def _streamed(followers: Followers, who: Credential, start: Position, reach: Reach | None) -> Response:
    body = _stream(followers, who, start, reach)
    return StreamingResponse(body, media_type=EVENT_STREAM, headers=STREAM_HEADERS)


async def _stream(followers: Followers, who: Credential, start: Position, reach: Reach | None) -> AsyncIterator[bytes]:
    """Each event as it happens; a comment now and then, with the cursor of what others were told of meanwhile."""
    with followers.following(who, start, limit=MAX_PAGE, reach=reach, at_once=True) as follower:
        yield _comment("following", start, who)
        while (found := await follower.events(HEARTBEAT_S)) is not None:
            yield b"".join(_event(event, who) for event in found) or _comment("alive", follower.position, who)


def _event(event: FeedEvent, who: Credential) -> bytes:
    body = _body(event).model_dump_json()
    return f"id: {cursor_of(event.position, who.org_id)}\ndata: {body}\n\n".encode()


def _comment(text: str, position: Position, who: Credential) -> bytes:
    return f": {text}\nid: {cursor_of(position, who.org_id)}\n\n".encode()


def _body(event: FeedEvent) -> EventBody:
    return EventBody.model_validate(event)
