"""What is kept of the change feed, how far it has come, and what of it may be read by whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from models.identifiers import OrganizationId, TokenId
from models.store.events import Position


@dataclass(frozen=True, slots=True)
class Feed:
    """What is kept of an organization's feed: a cursor of another epoch, or before the floor, has expired."""

    epoch: str
    floor: Position

    def reaches_back_to(self, position: Position) -> bool:
        """Whether nothing after the position has been removed."""
        return position.epoch == self.epoch and not position.is_before(self.floor)


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


def feed_of(connection: Connection, org_id: OrganizationId) -> Feed:
    """What is kept of an organization's feed now."""
    row = connection.execute(FEED, {"org_id": org_id}).one()
    return Feed(row.epoch, Position(row.epoch, int(row.xid), row.id))


def latest_position(connection: Connection, org_id: OrganizationId, feed: Feed) -> Position:
    """The position of the last event that may be read now; the floor where none is kept."""
    found = latest_positions(connection, [org_id], feed.epoch)[org_id]
    return feed.floor if found.is_before(feed.floor) else found


def latest_positions(
    connection: Connection, org_ids: Sequence[OrganizationId], epoch: str
) -> dict[OrganizationId, Position]:
    """For each organization, where its last event stands that may be read now."""
    rows = connection.execute(LATEST, {"org_ids": list(org_ids)})
    return {row.org_id: Position(epoch, int(row.xid), row.id) for row in rows}


@dataclass(frozen=True, slots=True)
class Reach:
    """The projects that a live token's user may read; None for all of them, as owners and admins may."""

    project_ids: frozenset[str] | None

    def has_lost(self, now: "Reach") -> bool:
        """Whether something could be read with this reach that cannot be with the one of now."""
        if now.project_ids is None:
            return False
        return self.project_ids is None or not self.project_ids <= now.project_ids


REACH = """
    u.role in ('owner', 'admin') as administers,
    array(
        select m.project_id from project_members m
        join projects p on p.org_id = m.org_id and p.project_id = m.project_id and p.state <> 'deleted'
        where m.org_id = :org_id and m.user_id = u.user_id
    ) as project_ids
"""
"""Of the user `u`: `administers` reads all projects, deleted ones included; others read `project_ids`."""

REACHES = text(f"""
    select t.token_id, {REACH}
    from tokens t join users u on u.org_id = t.org_id and u.user_id = t.user_id
    where t.org_id = :org_id and t.token_id = any(:token_ids)
      and (t.expires_at is null or t.expires_at > clock_timestamp())
""")  # noqa: S608  (a constant of ours)


def reaches(connection: Connection, org_id: OrganizationId, token_ids: Sequence[TokenId]) -> Mapping[TokenId, Reach]:
    """What the users of those tokens may read that are live now; one that is expired or revoked is left out."""
    rows = connection.execute(REACHES, {"org_id": org_id, "token_ids": list(token_ids)})
    return {row.token_id: Reach(None if row.administers else frozenset(row.project_ids)) for row in rows}
