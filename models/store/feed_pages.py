"""The change feed as its readers see it now: own Drafts, projects that may be read, and the whole organization.

A path owner is also told of the Reviews that may be read for that reason, and of their comments. However little of a
feed somebody may see, one look reads a bounded part of it, and says where the next one goes on.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, RowMapping, TextClause, text

from models.identifiers import OrganizationId, UserId
from models.rules.path_owners import globs_of, pattern_of_any
from models.store.events import FeedEvent, Position
from models.store.feed import REACH, latest_positions
from models.store.owned_paths import TOUCHED_KEYS, read_path_owners

LOOK = 10_000
"""So many events are read in one look, for all who ask together."""
LOOK_AT_LEAST = 100
LOOK_OWNED = 500
"""For a path owner: each of them may be a Review whose paths are to be matched."""
LOOKING_S = 1.0
"""How long one request looks for events; then its page says how far it came."""

DRAFT_KINDS = (
    "draft.created",
    "draft.appended",
    "draft.titled",
    "draft.submitted",
    "draft.reopened",
    "draft.rebased",
    "draft.base_moved",
    "draft.discarded",
    "draft.merged",
)
"""What the author of a Draft is told of it."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Somebody of an organization who asks for events after a position, at most `limit` of them."""

    user_id: UserId
    after: Position
    limit: int


@dataclass(frozen=True, slots=True)
class Page:
    """The next events that somebody may see, and where to go on: without events too, that may be before the end."""

    events: list[FeedEvent]
    position: Position


ASKED = """
    unnest(
        cast(:user_ids as text[]), cast(:xids as text[]), cast(:ids as bigint[]), cast(:limits as integer[]),
        cast(:looks as integer[]), cast(:owned as text[])
    ) with ordinality as a(user_id, xid, id, size, look, owned, number)
"""
AFTER = """
    e.org_id = :org_id
    and (e.xid, e.id) > (cast(a.xid as xid8), a.id)
    and (e.xid, e.id) <= (cast(cast(:until_xid as text) as xid8), :until_id)
"""
OWN = "e.user_id = a.user_id"
TOUCHES = f"""
    a.owned is not null and e.resource_type in ('review', 'comment') and exists (
        select from reviews r
        join projects p on p.org_id = :org_id and p.project_id = r.project_id and p.state <> 'deleted'
        where r.org_id = :org_id
          and r.review_id = case e.resource_type when 'review' then e.resource_id else (
              select c.review_id from review_comments c
              where c.org_id = :org_id and c.comment_id = e.resource_id
          ) end
          and exists (select from ({TOUCHED_KEYS}) as touched where touched.path_key ~ a.owned)
    )
"""  # noqa: S608  (constants of ours)

VISIBLE = f"(e.project_id is null or r.administers or e.project_id = any(r.project_ids) or {TOUCHES})"

# The reach is read once for each who asks ("offset 0"): part of the condition, it would be read for every event.
SEEN_BY_EACH = f"""
    select a.number, e.*
    from {ASKED}
    join users u on u.org_id = :org_id and u.user_id = a.user_id
    cross join lateral (select {REACH} offset 0) as r
    cross join lateral (
        select cast(e.xid as text) as xid, e.id, e.kind, e.resource_type, e.resource_id, e.project_id, e.user_id,
               e.version, e.at
"""  # noqa: S608  (constants of ours)
IN_ORDER = """
        order by e.xid, e.id limit a.size
    ) e
    order by a.number, cast(e.xid as xid8), e.id
"""
LAST_OF_EACH = f"select a.number, cast(e.xid as text) as xid, e.id from {ASKED}"  # noqa: S608  (a constant of ours)


@dataclass(frozen=True, slots=True)
class _Statements:
    """What the next events are, and the last event of each look that was full."""

    read: TextClause
    reached: TextClause


EVERYTHING = _Statements(
    text(f"""
        {SEEN_BY_EACH}
        from (select e.* from events e where {AFTER} order by e.xid, e.id limit a.look) e
        where (e.user_id is null or {OWN}) and {VISIBLE}
        {IN_ORDER}
    """),  # noqa: S608  (constants of ours)
    text(f"""
        {LAST_OF_EACH}
        cross join lateral (
            select e.xid, e.id from events e where {AFTER} order by e.xid, e.id offset a.look - 1 limit 1
        ) e
    """),  # noqa: S608  (constants of ours)
)
OWN_DRAFTS = _Statements(
    text(f"""
        {SEEN_BY_EACH}
        from (select e.* from events e where {AFTER} and {OWN} order by e.xid, e.id limit a.look) e
        where e.resource_type = 'draft' and e.kind = any(:kinds) and {VISIBLE}
        {IN_ORDER}
    """),  # noqa: S608  (constants of ours)
    text(f"""
        {LAST_OF_EACH}
        cross join lateral (
            select e.xid, e.id from events e where {AFTER} and {OWN} order by e.xid, e.id offset a.look - 1 limit 1
        ) e
    """),  # noqa: S608  (constants of ours)
)


def read_feed(connection: Connection, org_id: OrganizationId, user_id: UserId, after: Position, limit: int) -> Page:
    """The next events that a user may see now, in commit order; at most `limit`, and fewer after a long look."""
    return _page(connection, org_id, Ask(user_id, after, limit), EVERYTHING)


def read_draft_feed(
    connection: Connection, org_id: OrganizationId, user_id: UserId, after: Position, limit: int
) -> Page:
    """The same of the user's own Drafts alone."""
    return _page(connection, org_id, Ask(user_id, after, limit), OWN_DRAFTS)


def read_for_each(connection: Connection, org_id: OrganizationId, asked: Sequence[Ask], until: Position) -> list[Page]:
    """For each who asks, one look at the next events that they may see now, up to a position that may be read.

    The connection reads from one snapshot, so that retention does not come between.
    """
    return _look(connection, org_id, asked, until, EVERYTHING)


def _page(connection: Connection, org_id: OrganizationId, ask: Ask, statements: _Statements) -> Page:
    until = latest_positions(connection, [org_id], ask.after.epoch)[org_id]
    found: list[FeedEvent] = []
    position, end = ask.after, time.monotonic() + LOOKING_S
    while True:
        rest = replace(ask, after=position, limit=ask.limit - len(found))
        (page,) = _look(connection, org_id, [rest], until, statements)
        found, position = found + page.events, page.position
        if len(found) == ask.limit or not position.is_before(until) or time.monotonic() > end:
            return Page(found, position)


def _look(
    connection: Connection, org_id: OrganizationId, asked: Sequence[Ask], until: Position, statements: _Statements
) -> list[Page]:
    names = _names(connection, org_id, asked, until)
    found: list[list[FeedEvent]] = [[] for _ in asked]
    for row in connection.execute(statements.read, names | {"kinds": list(DRAFT_KINDS)}).mappings():
        found[row["number"] - 1].append(_event_of(row, until.epoch))
    reached: dict[int, Position] = {}
    if any(len(events) < ask.limit for events, ask in zip(found, asked, strict=True)):
        for row in connection.execute(statements.reached, names).mappings():
            reached[row["number"] - 1] = Position(until.epoch, int(row["xid"]), row["id"])
    return [
        Page(events, events[-1].position if len(events) == ask.limit else reached.get(number, _end(ask, until)))
        for number, (events, ask) in enumerate(zip(found, asked, strict=True))
    ]


def _end(ask: Ask, until: Position) -> Position:
    return until if ask.after.is_before(until) else ask.after


def _names(connection: Connection, org_id: OrganizationId, asked: Sequence[Ask], until: Position) -> dict[str, object]:
    owners = read_path_owners(connection, org_id)
    globs = [globs_of(owners, ask.user_id) for ask in asked]
    look = max(LOOK_AT_LEAST, LOOK // len(asked))
    return {
        "org_id": org_id,
        "user_ids": [ask.user_id for ask in asked],
        "xids": [str(ask.after.xid) for ask in asked],
        "ids": [ask.after.id for ask in asked],
        "limits": [ask.limit for ask in asked],
        "looks": [min(look, LOOK_OWNED) if owned else look for owned in globs],
        "owned": [pattern_of_any(owned) if owned else None for owned in globs],
        "until_xid": str(until.xid),
        "until_id": until.id,
    }


def _event_of(row: RowMapping, epoch: str) -> FeedEvent:
    return FeedEvent(
        Position(epoch, int(row["xid"]), row["id"]),
        row["kind"],
        row["resource_type"],
        row["resource_id"],
        row["project_id"],
        row["user_id"],
        row["version"],
        row["at"],
    )
