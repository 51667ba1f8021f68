"""What the search index follows: which structured memories changed since, in every organization, and how they are now.

A position is the snapshot that a reading was made in. The next one takes what has become visible since that snapshot:
nothing twice and nothing never, though transactions commit out of order; one that stays open holds back none but its
own events.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import psycopg

from models.identifiers import OrganizationId, StructuredMemoryId
from models.rules.structured_fields import MemoryType
from models.rules.visibility import Scope

MOST_CHANGES = 100_000
"""Changed memories that one reading takes; where there are more, reading everything is no more work."""


@dataclass(frozen=True, slots=True)
class FeedPosition:
    """The feed's epoch, and the snapshot, as the database writes it, of which everything is known."""

    epoch: str
    snapshot: str


class Change(NamedTuple):
    """A memory that changed; `revision` is its latest among the events read."""

    org_id: OrganizationId
    memory_id: StructuredMemoryId
    revision: int


class MemoryText(NamedTuple):
    """A memory as it is now, by what it is found."""

    org_id: OrganizationId
    memory_id: StructuredMemoryId
    scope: Scope
    scope_id: str
    name: str
    description: str
    content: str
    type: MemoryType
    revision: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What changed since a position; `changes` is None where that cannot be told any more, and all has to be read.

    `latest` numbers the last event there is.
    """

    position: FeedPosition
    latest: int
    changes: Sequence[Change] | None


NOW = """
    select e.epoch, cast(pg_current_snapshot() as text),
           coalesce(pg_sequence_last_value(pg_get_serial_sequence('events', 'id')), 0)
    from feed_epochs e order by e.started_at desc limit 1
"""


def current_position(connection: psycopg.Connection) -> tuple[FeedPosition, int]:
    """Where the feed is now, and the number of its last event: whoever reads afterwards sees all that is before."""
    row = connection.execute(NOW).fetchone()
    assert row is not None  # noqa: S101  (migrations begin an epoch)
    epoch, snapshot, latest = row
    return FeedPosition(epoch, snapshot), latest


# What retention removed is the beginning of a feed, so that a floor before all that was open then took nothing along.
REACHES = """
    select not exists (select from feed_floors f where f.xid >= pg_snapshot_xmin(%(since)s::pg_snapshot))
    from feed_epochs e where e.epoch = %(epoch)s and not exists (
        select from feed_epochs later where later.started_at > e.started_at)
"""


def reaches_back_to(connection: psycopg.Connection, position: FeedPosition) -> bool:
    """Whether everything that changed since the position is still told."""
    row = connection.execute(REACHES, {"since": position.snapshot, "epoch": position.epoch}).fetchone()
    return row is not None and bool(row[0])


CHANGES = f"""
    select e.epoch, cast(pg_current_snapshot() as text), coalesce(c.last, 0), c.org_id, c.memory_id, c.revision
    from (select epoch from feed_epochs order by started_at desc limit 1) e
    left join (
        select v.org_id, v.resource_id as memory_id, max(v.version) as revision, max(v.id) as last
        from events v
        where v.resource_type = 'structured_memory'
          and v.xid >= pg_snapshot_xmin(%(since)s::pg_snapshot)
          and not pg_visible_in_snapshot(v.xid, %(since)s::pg_snapshot)
        group by v.org_id, v.resource_id
        limit {MOST_CHANGES + 1}
    ) c on true
"""


def read_changes(connection: psycopg.Connection, since: FeedPosition) -> Reading:
    """The memories that changed since a position, each once; one that was saved or deleted later may be among them."""
    rows = connection.execute(CHANGES, {"since": since.snapshot}).fetchall()
    epoch, snapshot = rows[0][:2]
    changes = [Change(*row[3:]) for row in rows if row[3] is not None]
    told = epoch == since.epoch and len(changes) <= MOST_CHANGES
    return Reading(FeedPosition(epoch, snapshot), max(row[2] for row in rows), changes if told else None)


LATEST = """
    select v.id from events v where v.resource_type = 'structured_memory' order by v.xid desc, v.id desc limit 1
"""


def latest_change(connection: psycopg.Connection) -> int:
    """The number of the last event that tells of a structured memory, in whichever organization; 0 without any."""
    row = connection.execute(LATEST).fetchone()
    return 0 if row is None else int(row[0])


MEMORY = "m.org_id, m.memory_id, m.scope, m.scope_id, m.name, m.description, m.content, m.type, m.revision"
BY_ID = f"""
    select {MEMORY} from unnest(%(org_ids)s::text[], %(memory_ids)s::text[]) as c(org_id, memory_id)
    join structured_memories m on m.org_id = c.org_id and m.memory_id = c.memory_id and m.deleted_at is null
"""


def read_texts(connection: psycopg.Connection, changes: Collection[Change]) -> list[MemoryText]:
    """Those of the changed memories that are there now."""
    names = {"org_ids": [change.org_id for change in changes], "memory_ids": [change.memory_id for change in changes]}
    return [MemoryText(*row) for row in connection.execute(BY_ID, names)]


PAGE = f"""
    select {MEMORY} from structured_memories m
    where (m.org_id, m.memory_id) > (%(after_org)s::text, %(after)s::text) and m.deleted_at is null
    order by m.org_id, m.memory_id limit %(limit)s
"""


def read_page(connection: psycopg.Connection, after: MemoryText | None, limit: int) -> list[MemoryText]:
    """The next memories of the installation in the order of organization and id, after the last of the page before."""
    names = {"after_org": after.org_id if after else "", "after": after.memory_id if after else "", "limit": limit}
    return [MemoryText(*row) for row in connection.execute(PAGE, names)]


TOTAL = "select count(*) from structured_memories m where m.deleted_at is null"


def count_texts(connection: psycopg.Connection) -> int:
    """How many memories there are in the installation."""
    row = connection.execute(TOTAL).fetchone()
    return 0 if row is None else int(row[0])
