"""The change feed: appended in the changing transaction, read in an order that never skips (architecture.md §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

from models.identifiers import UserId
from models.store.commits import StoredCommit
from models.store.locks import DraftRow
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Position:
    """Where a reader stands: below every row that may still become visible."""

    epoch: str
    xid: int
    id: int

    def is_before(self, other: "Position") -> bool:
        """Whether there may be events after it, up to the other one of the same epoch."""
        return (self.xid, self.id) < (other.xid, other.id)


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


NOBODY = UserId("-")
"""The user of an event that the feed tells to no one, for followers within the service only."""

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
