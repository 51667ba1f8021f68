"""The change feed: appended in the changing transaction, read in an order that never skips (architecture.md §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine, text

from models.identifiers import OrganizationId
from models.store.commits import StoredCommit
from models.store.locks import DraftRow
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Position:
    """Where a reader stands: below every row that may still become visible."""

    epoch: str
    xid: int
    id: int


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """One change, by ids."""

    position: Position
    kind: str
    resource_type: str
    resource_id: str
    project_id: str | None
    user_id: str | None
    version: int | None
    at: datetime


APPEND = text("""
    insert into events (org_id, kind, resource_type, resource_id, project_id, user_id, version, at)
    values (:org_id, :kind, :resource_type, :resource_id, :project_id, :user_id, :version, :at)
""")


def append_event(
    tx: Transaction,
    kind: str,
    resource_type: str,
    resource_id: str,
    *,
    project_id: str | None = None,
    user_id: str | None = None,
    version: int | None = None,
) -> None:
    """Tell followers that a resource changed.

    Args:
        tx: the transaction that changes it.
        kind: what happened, as `draft.appended`.
        resource_type: `draft`, `review`, `commit`, …
        resource_id: its id.
        project_id: the project whose members may see it; None for the whole organization.
        user_id: the only user who may see it; None for every reader of the project or organization.
        version: the resource's version after the change.
    """
    tx.connection.execute(
        APPEND,
        {
            "org_id": tx.org_id,
            "kind": kind,
            "resource_type": resource_type,
            "resource_id": resource_id,
            "project_id": project_id,
            "user_id": user_id,
            "version": version,
            "at": tx.now,
        },
    )


PROJECTIONS_MOVED = text("""
    insert into events (org_id, kind, resource_type, resource_id, project_id, version, at)
    select :org_id, 'projection.moved', 'commit', c.commit_id, c.project_id, c.version, :now
    from unnest(cast(:commit_ids as text[]), cast(:project_ids as text[]), cast(:versions as integer[]))
        as c(commit_id, project_id, version)
""")


def append_draft_events(tx: Transaction, kind: str, drafts: Sequence[tuple[DraftRow, int]]) -> None:
    """Tell the followers of Drafts' authors, each with the Draft's version now; one statement for however many."""
    if drafts:
        tx.connection.execute(
            APPEND,
            [
                {
                    "org_id": tx.org_id,
                    "kind": kind,
                    "resource_type": "draft",
                    "resource_id": draft.draft_id,
                    "project_id": draft.project_id,
                    "user_id": draft.author_id,
                    "version": version,
                    "at": tx.now,
                }
                for draft, version in drafts
            ],
        )


def append_project_commits(tx: Transaction, commits: Sequence[StoredCommit]) -> None:
    """Tell the followers of every project that got a commit; one statement for however many."""
    tx.connection.execute(
        PROJECTIONS_MOVED,
        {
            "org_id": tx.org_id,
            "commit_ids": [commit.commit_id for commit in commits],
            "project_ids": [commit.fields.project_id for commit in commits],
            "versions": [commit.fields.version for commit in commits],
            "now": tx.now,
        },
    )


READ = text("""
    select e.xid::text, e.id, e.kind, e.resource_type, e.resource_id, e.project_id, e.user_id, e.version, e.at
    from events e
    where e.org_id = :org_id
      and e.xid < pg_snapshot_xmin(pg_current_snapshot())
      and (e.xid, e.id) > (cast(:xid as text)::xid8, :id)
    order by e.xid, e.id
    limit :limit
""")


def read_events(connection: Connection, org_id: OrganizationId, after: Position, limit: int) -> list[FeedEvent]:
    """The next events of an organization in commit order; at most `limit`, fewer while transactions are open."""
    rows = connection.execute(READ, {"org_id": org_id, "xid": str(after.xid), "id": after.id, "limit": limit})
    return [
        FeedEvent(Position(after.epoch, int(xid), number), kind, rtype, rid, project, user, version, at)
        for xid, number, kind, rtype, rid, project, user, version, at in rows
    ]


def beginning(connection: Connection) -> Position:
    """The position before the first event of the present epoch."""
    epoch = connection.execute(text("select epoch from feed_epochs order by started_at desc limit 1")).scalar_one()
    return Position(epoch, 0, 0)


def feed_lag_s(engine: Engine) -> float:
    """Seconds by which the oldest open transaction holds the feed back."""
    with engine.connect() as connection:
        lag = connection.execute(
            text("""
                select coalesce(extract(epoch from max(clock_timestamp() - xact_start)), 0)
                from pg_stat_activity where backend_xid is not null and pid <> pg_backend_pid()
            """)
        ).scalar_one()
    return float(lag)
