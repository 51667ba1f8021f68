"""The change feed on the wire (tenancy.md, publication.md §6)."""

from typing import Annotated, Literal

from pydantic import Field

from models.rules.cursors import MAX_CURSOR_CHARACTERS
from models.schemas.common import DEFAULT_PAGE, DIGITS, MAX_PAGE, Instant, Optional, Output, Query, Text
from models.schemas.operations import MAX_WAIT_S

LATEST = "latest"
"""Where a follower begins that has no use for what has happened."""

CURSOR = Field(
    max_length=MAX_CURSOR_CHARACTERS,
    description="`next_cursor` of the page before, unchanged, or `latest` for what happens from now on; without it, "
    "the feed begins with the oldest event that is kept",
)


class EventsQuery(Query):
    """Which events, and how long to wait for the first of them."""

    after: Annotated[Optional[Text], CURSOR] = None
    wait: Annotated[int, Field(ge=0, le=MAX_WAIT_S, description="seconds to wait for an event"), DIGITS] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="events a page"), DIGITS] = DEFAULT_PAGE


class EventStreamQuery(Query):
    """Where a stream begins; `Last-Event-ID` goes before it."""

    after: Annotated[Optional[Text], CURSOR] = None


class DraftEventsQuery(Query):
    """Which events of the caller's own Drafts."""

    cursor: Annotated[Optional[Text], CURSOR] = None
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="events a page"), DIGITS] = DEFAULT_PAGE


class EventBody(Output):
    """That a resource changed; ids only. What it is now is read where it is read."""

    kind: str
    resource_type: str
    resource_id: str
    project_id: str | None
    version: int | None
    at: Instant


class EventPage(Output):
    """Events in the order in which they may be relied on; `next_cursor` is where to resume, and is never null."""

    items: list[EventBody]
    next_cursor: str


class DraftEventBody(Output):
    """What became of one of the caller's Drafts."""

    event_type: Literal[
        "created", "appended", "titled", "submitted", "reopened", "rebased", "base_moved", "discarded", "merged"
    ]
    draft_id: str
    project_id: str
    version: int
    created_at: Instant


class DraftEventPage(Output):
    """Events of Drafts; `next_cursor` is where to resume, and is never null."""

    items: list[DraftEventBody]
    next_cursor: str
