"""Tree hashes of the heads, by buckets: a change re-reads only the buckets it touches (publication.md §5).

Computed in SQL, so that no member of a bucket leaves the database; `models.rules.hashes` is the definition and a
test compares the two.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import text

from models.identifiers import ProjectId, TreeId
from models.store.transaction import Transaction

REHASH_ORGANIZATION = text(r"""
    with touched as (select distinct unnest(cast(:buckets as smallint[])) as bucket),
    digests as (
        select t.bucket,
               sha256('canonry.bucket.v1\000'::bytea
                      || string_agg(v.entry_digest, ''::bytea order by v.memory_id)) as digest
        from touched t
        join memory_versions v on v.org_id = :org_id and v.bucket = t.bucket and v.to_version is null
        group by t.bucket
    ),
    emptied as (
        delete from tree_buckets b using touched t
        where b.org_id = :org_id and b.owner_id = '' and b.bucket = t.bucket
          and not exists (select from digests d where d.bucket = t.bucket)
    )
    insert into tree_buckets (org_id, owner_id, bucket, digest)
    select :org_id, '', bucket, digest from digests
    on conflict (org_id, owner_id, bucket) do update set digest = excluded.digest
""")
REHASH_PROJECTS = text(r"""
    with touched as (
        select distinct project_id, bucket
        from unnest(cast(:project_ids as text[]), cast(:buckets as smallint[])) as t(project_id, bucket)
    ),
    digests as (
        select t.project_id, t.bucket,
               sha256('canonry.bucket.v1\000'::bytea
                      || string_agg(v.entry_digest, ''::bytea order by v.memory_id)) as digest
        from touched t
        join projection_versions v
          on v.org_id = :org_id and v.project_id = t.project_id and v.bucket = t.bucket and v.to_version is null
        group by t.project_id, t.bucket
    ),
    emptied as (
        delete from tree_buckets b using touched t
        where b.org_id = :org_id and b.owner_id = t.project_id and b.bucket = t.bucket
          and not exists (select from digests d where d.project_id = t.project_id and d.bucket = t.bucket)
    )
    insert into tree_buckets (org_id, owner_id, bucket, digest)
    select :org_id, project_id, bucket, digest from digests
    on conflict (org_id, owner_id, bucket) do update set digest = excluded.digest
""")
# An outer join: an organization whose last Memory was deleted has no bucket left, and the hash of the empty tree.
TREES = text(r"""
    select o.owner_id, encode(sha256(
        'canonry.tree.v1\000'::bytea
        || coalesce(string_agg(int2send(b.bucket) || b.digest, ''::bytea order by b.bucket), ''::bytea)
    ), 'hex') as tree_id
    from unnest(cast(:owner_ids as text[])) as o(owner_id)
    left join tree_buckets b on b.org_id = :org_id and b.owner_id = o.owner_id
    group by o.owner_id
""")

ORGANIZATION = ""
"""The owner id of the organization's own tree."""


def rehash_organization(tx: Transaction, buckets: Collection[int]) -> TreeId:
    """Recompute the touched buckets of the organization's head, and its tree id."""
    tx.connection.execute(REHASH_ORGANIZATION, {"org_id": tx.org_id, "buckets": sorted(buckets)})
    return _tree_ids(tx, [ORGANIZATION])[ORGANIZATION]


def rehash_projects(tx: Transaction, touched: Collection[tuple[ProjectId, int]]) -> dict[str, TreeId]:
    """Recompute the touched (project, bucket) pairs of projections' heads, and the projects' tree ids."""
    pairs = sorted(touched)
    tx.connection.execute(
        REHASH_PROJECTS,
        {"org_id": tx.org_id, "project_ids": [pair[0] for pair in pairs], "buckets": [pair[1] for pair in pairs]},
    )
    return _tree_ids(tx, sorted({pair[0] for pair in pairs}))


def _tree_ids(tx: Transaction, owner_ids: Sequence[str]) -> dict[str, TreeId]:
    rows = tx.connection.execute(TREES, {"org_id": tx.org_id, "owner_ids": list(owner_ids)})
    return {row.owner_id: row.tree_id for row in rows}
