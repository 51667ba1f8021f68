"""Unfinished Drafts that a publication left behind, and what has been compared with it (publication.md §8)."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, text

from models.identifiers import DraftId, OrganizationId
from models.store.locks import DraftRow


@dataclass(frozen=True, slots=True)
class BehindDue:
    """A Draft that is to be compared with what was published since its base."""

    org_id: str
    draft_id: str
    project_id: str


@dataclass(frozen=True, slots=True)
class BehindClaim:
    """What a claim brought, and whether it found no place for more."""

    due: list[BehindDue]
    is_full: bool


# Any number will do, as long as every Canonry process uses the same: places are counted by one of them at a time.
BEHIND_LOCK = 0x62656869
ALONE = text("select pg_try_advisory_xact_lock(:key)")

# What the index is ordered by comes first, so that an organization without such Drafts costs one look into it, however
# many it has. Organizations take turns; Drafts that were asked for in vain are left out until their time is up.
# The Drafts of a Review are claimed with the one of them that is told: they are compared together, and take one place.
# Those that were asked for in vain come last, so that passes that keep failing take no place that another could use.
CLAIM_BEHIND = text("""
    with places as materialized (
        select cast(:under_way as bigint)
               - count(distinct (org_id, case status when 'submitted' then review_id else draft_id end)) as free
        from drafts where status in ('open', 'submitted') and reconcile_at > statement_timestamp()
    ),
    lagging as (
        select distinct on (d.org_id, d.judged) d.org_id, d.draft_id, d.judged, d.status, d.in_vain, d.turn
        from organization_refs r
        cross join (values ('submitted'), ('open')) as unfinished(status)
        cross join lateral (
            select d.org_id, d.draft_id, d.status, d.reconcile_at is not null as in_vain,
                   case d.status when 'submitted' then d.review_id else d.draft_id end as judged,
                   row_number() over (order by greatest(d.base_version, d.reconciled_version)) as turn
            from drafts d
            where d.org_id = r.org_id and d.status = unfinished.status and d.status in ('open', 'submitted')
              and greatest(d.base_version, d.reconciled_version) < r.version and d.created_at <= r.updated_at
              and (d.reconcile_at is null or d.reconcile_at <= statement_timestamp())
            order by greatest(d.base_version, d.reconciled_version) limit :limit
        ) d
        where (select free from places) > 0
          and r.updated_at <= statement_timestamp() - make_interval(secs => :rested_s)
          and (cast(:published_within_s as float) is null
               or r.updated_at > statement_timestamp() - make_interval(secs => :published_within_s))
        order by d.org_id, d.judged, d.turn
    ),
    behind as (
        select org_id, draft_id, judged, status from lagging order by in_vain, status desc, turn
        limit (select greatest(0, least(free, :limit)) from places)
    ),
    members as (
        select org_id, draft_id, judged from behind
        union
        select d.org_id, d.draft_id, b.judged
        from behind b join drafts d on d.org_id = b.org_id and d.review_id = b.judged
        where b.status = 'submitted' and d.status = 'submitted'
    ),
    claimed as (
        select d.org_id, d.draft_id, m.judged from drafts d join members m using (org_id, draft_id)
        where d.status in ('open', 'submitted') and (d.reconcile_at is null or d.reconcile_at <= statement_timestamp())
        for no key update of d skip locked
    ),
    taken as (
        update drafts d set reconcile_at = clock_timestamp() + make_interval(secs => :again_after_s) from claimed c
        where d.org_id = c.org_id and d.draft_id = c.draft_id
        returning d.org_id, d.draft_id, d.project_id, d.status, c.judged
    )
    select distinct on (t.org_id, t.judged) t.org_id, t.draft_id, t.project_id, t.status, p.free
    from places p left join taken t on true order by t.org_id, t.judged, t.draft_id
""")


def claim_behind(
    connection: Connection,
    *,
    limit: int,
    under_way: int,
    again_after_s: float,
    published_within_s: float | None = None,
    rested_s: float = 0,
) -> BehindClaim:
    """Drafts that fell behind by a publication and were not compared with it, submitted ones first.

    Each is claimed by one process, and with it all Drafts of its Review, of which one is told. It changes nothing that
    anybody sees of a Draft, its version included. One whose base was an older commit from the start is left alone until
    the next publication.

    Args:
        connection: its transaction ends at once; a Draft that somebody has locked is left to the next claim, and all
            of them while another process claims.
        limit: at most so many are told.
        under_way: at most so many Reviews and open Drafts are claimed at a time, in all organizations.
        again_after_s: how long whoever is told has time before a Draft is claimed again.
        published_within_s: look only where something was published lately; None: everywhere.
        rested_s: look only where nothing was published for so long.
    """
    if not connection.execute(ALONE, {"key": BEHIND_LOCK}).scalar_one():
        return BehindClaim([], is_full=True)
    names = {
        "limit": limit,
        "under_way": under_way,
        "again_after_s": again_after_s,
        "published_within_s": published_within_s,
        "rested_s": rested_s,
    }
    rows = connection.execute(CLAIM_BEHIND, names).all()
    told = [row for row in rows if row.draft_id is not None]
    due = [BehindDue(*row[:3]) for row in sorted(told, key=lambda row: row.status, reverse=True)]
    return BehindClaim(due, is_full=len(due) >= min(limit, rows[0].free))


def compared_with(connection: Connection, draft: DraftRow) -> int:
    """The organization's version that a Draft stands on or was compared with, perhaps by a pass of its Review."""
    row = connection.execute(
        text("""
            select greatest(base_version, reconciled_version) from drafts
            where org_id = :org_id and draft_id = :draft_id
        """),
        {"org_id": draft.org_id, "draft_id": draft.draft_id},
    )
    return int(row.scalar_one())


def record_reconciled(
    connection: Connection, org_id: OrganizationId, draft_ids: Collection[DraftId], version: int
) -> None:
    """Note that Drafts were compared with this version of the organization; their locks are not needed."""
    connection.execute(
        text("""
            update drafts set reconciled_version = greatest(reconciled_version, :version), reconcile_at = null
            where org_id = :org_id and draft_id = any(:draft_ids)
        """),
        {"org_id": org_id, "draft_ids": list(draft_ids), "version": version},
    )


def release(connection: Connection, org_id: OrganizationId, draft_id: DraftId) -> None:
    """Give a claim back, its Review's with it, so that what is still behind is claimed at once.

    What was compared has none.
    """
    connection.execute(
        text("""
            with held as (
                select d.draft_id from drafts told join drafts d on d.org_id = told.org_id
                where told.org_id = :org_id and told.draft_id = :draft_id and d.reconcile_at is not null
                  and (d.draft_id = told.draft_id
                       or d.review_id = told.review_id and d.status = 'submitted' and told.status = 'submitted')
                order by d.draft_id for no key update of d
            )
            update drafts d set reconcile_at = null from held where d.org_id = :org_id and d.draft_id = held.draft_id
        """),
        {"org_id": org_id, "draft_id": draft_id},
    )
