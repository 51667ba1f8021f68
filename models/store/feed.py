"""The change feed as one reader sees it now: own Drafts, projects that may be read, and the whole organization."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, text

from models.identifiers import OrganizationId, TokenId, UserId
from models.store.access import READABLE_PROJECTS_EVER
from models.store.events import FeedEvent, Position

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
class Feed:
    """What is kept of an organization's feed: a cursor of another epoch, or before the floor, has expired."""

    epoch: str
    floor: Position

    def reaches_back_to(self, position: Position) -> bool:
        """Whether nothing after the position has been removed."""
        return position.epoch == self.epoch and _key(position) >= _key(self.floor)


def _key(position: Position) -> tuple[int, int]:
    return position.xid, position.id


FEED = text("""
    select e.epoch, coalesce(cast(f.xid as text), '0') as xid, coalesce(f.id, 0) as id
    from feed_epochs e left join feed_floors f on f.org_id = :org_id
    order by e.started_at desc limit 1
""")
# Where there are no events yet, the beginning.
LATEST = text("""
    select f.org_id, coalesce(cast(e.xid as text), '0') as xid, coalesce(e.id, 0) as id
    from unnest(cast(:org_ids as text[])) as f(org_id)
    left join lateral (
        select xid, id from events
        where org_id = f.org_id and xid < pg_snapshot_xmin(pg_current_snapshot()) order by xid desc, id desc limit 1
    ) e on true
""")
COLUMNS = "e.xid::text as xid, e.id, e.kind, e.resource_type, e.resource_id, e.project_id, e.user_id, e.version, e.at"
VISIBLE = f"""
    select {COLUMNS} from events e
    where e.org_id = :org_id
      and e.xid < pg_snapshot_xmin(pg_current_snapshot())
      and (e.xid, e.id) > (cast(cast(:xid as text) as xid8), :id)
      and (e.project_id is null or e.project_id in ({READABLE_PROJECTS_EVER}))
"""  # noqa: S608  (constants of ours)
READ = text(f"""
    {VISIBLE} and (e.user_id is null or e.user_id = :user_id)
    order by e.xid, e.id limit :limit
""")
READ_DRAFTS = text(f"""
    {VISIBLE} and e.user_id = :user_id and e.resource_type = 'draft' and e.kind = any(:kinds)
    order by e.xid, e.id limit :limit
""")


def feed_of(connection: Connection, org_id: OrganizationId) -> Feed:
    """What is kept of an organization's feed now."""
    row = connection.execute(FEED, {"org_id": org_id}).one()
    return Feed(row.epoch, Position(row.epoch, int(row.xid), row.id))


def latest_position(connection: Connection, org_id: OrganizationId, feed: Feed) -> Position:
    """The position of the last event that may be read now; the floor where none is kept."""
    found = latest_positions(connection, [org_id], feed.epoch)[org_id]
    return max(found, feed.floor, key=_key)


def latest_positions(
    connection: Connection, org_ids: Sequence[OrganizationId], epoch: str
) -> dict[OrganizationId, Position]:
    """For each organization, where its last event stands that may be read now."""
    rows = connection.execute(LATEST, {"org_ids": list(org_ids)})
    return {row.org_id: Position(epoch, int(row.xid), row.id) for row in rows}


def read_feed(
    connection: Connection, org_id: OrganizationId, user_id: UserId, after: Position, limit: int
) -> list[FeedEvent]:
    """The next events that a user may see now, in commit order; at most `limit`."""
    names = {"org_id": org_id, "user_id": user_id, "xid": str(after.xid), "id": after.id, "limit": limit}
    return [event_of(row, after.epoch) for row in connection.execute(READ, names).mappings()]


def read_draft_feed(
    connection: Connection, org_id: OrganizationId, user_id: UserId, after: Position, limit: int
) -> list[FeedEvent]:
    """The same of the user's own Drafts alone."""
    names = {"org_id": org_id, "user_id": user_id, "xid": str(after.xid), "id": after.id, "limit": limit}
    rows = connection.execute(READ_DRAFTS, {**names, "kinds": list(DRAFT_KINDS)}).mappings()
    return [event_of(row, after.epoch) for row in rows]


def event_of(row: RowMapping, epoch: str) -> FeedEvent:
    """An event from a row of the feed."""
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


@dataclass(frozen=True, slots=True)
class Ask:
    """Somebody of an organization who waits for events after a position, at most `limit` of them."""

    user_id: UserId
    after: Position
    limit: int


READABLE_TO_EACH = READABLE_PROJECTS_EVER.replace(":user_id", "a.user_id")
READ_FOR_EACH = text(f"""
    select a.number, e.*
    from unnest(
        cast(:user_ids as text[]), cast(:xids as text[]), cast(:ids as bigint[]), cast(:limits as integer[])
    ) with ordinality as a(user_id, xid, id, size, number)
    cross join lateral (
        select {COLUMNS} from events e
        where e.org_id = :org_id
          and (e.xid, e.id) > (cast(a.xid as xid8), a.id)
          and (e.xid, e.id) <= (cast(cast(:until_xid as text) as xid8), :until_id)
          and (e.user_id is null or e.user_id = a.user_id)
          and (e.project_id is null or e.project_id in ({READABLE_TO_EACH}))
        order by e.xid, e.id limit a.size
    ) e
    order by a.number, e.xid::xid8, e.id
""")  # noqa: S608  (constants of ours)


def read_for_each(
    connection: Connection, org_id: OrganizationId, asked: Sequence[Ask], until: Position
) -> list[list[FeedEvent]]:
    """For each who waits, the next events that they may see now, up to a position that may be read; one statement."""
    names = {
        "org_id": org_id,
        "user_ids": [ask.user_id for ask in asked],
        "xids": [str(ask.after.xid) for ask in asked],
        "ids": [ask.after.id for ask in asked],
        "limits": [ask.limit for ask in asked],
        "until_xid": str(until.xid),
        "until_id": until.id,
    }
    found: list[list[FeedEvent]] = [[] for _ in asked]
    for row in connection.execute(READ_FOR_EACH, names).mappings():
        found[row["number"] - 1].append(event_of(row, until.epoch))
    return found


@dataclass(frozen=True, slots=True)
class Reach:
    """The projects that a live token's user may read; None for all of them, as owners and admins may."""

    project_ids: frozenset[str] | None

    def has_lost(self, now: "Reach") -> bool:
        """Whether something could be read with this reach that cannot be with the one of now."""
        if now.project_ids is None:
            return False
        return self.project_ids is None or not self.project_ids <= now.project_ids


REACHES = text("""
    select t.token_id, u.role in ('owner', 'admin') as administers,
           array(
               select m.project_id from project_members m
               join projects p on p.org_id = m.org_id and p.project_id = m.project_id and p.state <> 'deleted'
               where m.org_id = :org_id and m.user_id = u.user_id
           ) as project_ids
    from tokens t join users u on u.org_id = t.org_id and u.user_id = t.user_id
    where t.org_id = :org_id and t.token_id = any(:token_ids)
      and (t.expires_at is null or t.expires_at > clock_timestamp())
""")


def reaches(connection: Connection, org_id: OrganizationId, token_ids: Sequence[TokenId]) -> Mapping[TokenId, Reach]:
    """What the users of those tokens may read that are live now; one that is expired or revoked is left out."""
    rows = connection.execute(REACHES, {"org_id": org_id, "token_ids": list(token_ids)})
    return {row.token_id: Reach(None if row.administers else frozenset(row.project_ids)) for row in rows}
