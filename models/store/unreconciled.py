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


# What the index is ordered by comes first, so that an organization without such Drafts costs one look into it, however
# many it has. Organizations take turns; Drafts that were asked for in vain are left out until their time is up.
# The Drafts of a Review are claimed with the one of them that is told: they are compared together.
CLAIM_BEHIND = text("""
    with lagging as (
        select distinct on (d.org_id, d.judged) d.org_id, d.draft_id, d.judged, d.status, d.turn
        from organization_refs r
        cross join (values ('submitted'), ('open')) as unfinished(status)
        cross join lateral (
            select d.org_id, d.draft_id, d.status,
                   case d.status when 'submitted' then d.review_id else d.draft_id end as judged,
                   row_number() over (order by greatest(d.base_version, d.reconciled_version)) as turn
            from drafts d
            where d.org_id = r.org_id and d.status = unfinished.status and d.status in ('open', 'submitted')
              and greatest(d.base_version, d.reconciled_version) < r.version and d.created_at <= r.updated_at
              and (d.reconcile_at is null or d.reconcile_at <= statement_timestamp())
            order by greatest(d.base_version, d.reconciled_version) limit :limit
        ) d
        where r.updated_at <= statement_timestamp() - make_interval(secs => :rested_s)
          and (cast(:published_within_s as float) is null
               or r.updated_at > statement_timestamp() - make_interval(secs => :published_within_s))
        order by d.org_id, d.judged, d.turn
    ),
    behind as (
        select org_id, draft_id, judged, status from lagging order by status desc, turn limit :limit
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
    select distinct on (org_id, judged) org_id, draft_id, project_id, status
    from taken order by org_id, judged, draft_id
""")


def claim_behind(
    connection: Connection,
    *,
    limit: int,
    again_after_s: float,
    published_within_s: float | None = None,
    rested_s: float = 0,
) -> list[BehindDue]:
    """Drafts that fell behind by a publication and were not compared with it, submitted ones first.

    Each is claimed by one process, and with it all Drafts of its Review, of which one is told. It changes nothing that
    anybody sees of a Draft, its version included. One whose base was an older commit from the start is left alone until
    the next publication.

    Args:
        connection: its transaction ends at once; a Draft that somebody has locked is left to the next claim.
        limit: at most so many are told.
        again_after_s: how long whoever is told has time before a Draft is claimed again.
        published_within_s: look only where something was published lately; None: everywhere.
        rested_s: look only where nothing was published for so long.
    """
    names = {
        "limit": limit,
        "again_after_s": again_after_s,
        "published_within_s": published_within_s,
        "rested_s": rested_s,
    }
    rows = connection.execute(CLAIM_BEHIND, names).all()
    return [BehindDue(*row[:3]) for row in sorted(rows, key=lambda row: row.status, reverse=True)]


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
    """Give a claim back, so that what is still behind is claimed at once; one that was compared has none."""
    connection.execute(
        text("""
            update drafts set reconcile_at = null
            where org_id = :org_id and draft_id = :draft_id and reconcile_at is not null
        """),
        {"org_id": org_id, "draft_id": draft_id},
    )
