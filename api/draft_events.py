"""What became of the caller's own Drafts (publication.md §6)."""

from api.answers import Answer, answer
from api.calls import Read
from api.feed_cursors import cursor_of, start_of
from api.routing import Routes
from models.errors import CursorExpired
from models.schemas.feed import DraftEventBody, DraftEventPage, DraftEventsQuery
from models.store.events import FeedEvent
from models.store.feed_pages import read_draft_feed

routes = Routes("drafts")


@routes.read("/draft-events", answers=DraftEventPage, query=DraftEventsQuery, problems=(CursorExpired,))
def list_draft_events(call: Read) -> Answer:
    """What became of the caller's Drafts, in commit order; `next_cursor` is where to go on, now or later."""
    who, query = call.principal, call.query(DraftEventsQuery)
    start = start_of(call, query.cursor, field="cursor")
    page = read_draft_feed(call.connection, who.org_id, who.user_id, start, query.limit)
    items = [_body(event) for event in page.events]
    return answer(DraftEventPage(items=items, next_cursor=cursor_of(page.position, who.org_id)))


def _body(event: FeedEvent) -> DraftEventBody:
    return DraftEventBody.model_validate(
        {
            "event_type": event.kind.removeprefix("draft."),
            "draft_id": event.resource_id,
            "project_id": event.project_id,
            "version": event.version,
            "created_at": event.at,
        }
    )
