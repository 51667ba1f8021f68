"""Tree hashes of the heads, by buckets: a change re-reads only the buckets it touches (publication.md §5).

Computed in SQL, so that no member of a bucket leaves the database; `models.rules.hashes` is the definition and a
test compares the two.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import text

from models.identifiers import ProjectId, TreeId
from models.store.transaction import Transaction

# One pass over the heads of the touched buckets, whatever the planner believes of their number: joined with a list of
# buckets, they were planned as a pass for each bucket.
REHASH_ORGANIZATION = text(r"""
    with digests as materialized (
        select v.bucket, sha256('canonry.bucket.v1\000'::bytea
                                || string_agg(v.entry_digest, ''::bytea order by v.memory_id)) as digest
        from memory_versions v
        where v.org_id = :org_id and v.bucket = any(cast(:buckets as smallint[])) and v.to_version is null
        group by v.bucket
    ),
    emptied as (
        delete from tree_buckets b
        where b.org_id = :org_id and b.owner_id = '' and b.bucket = any(cast(:buckets as smallint[]))
          and b.bucket not in (select d.bucket from digests d)
    )
    insert into tree_buckets (org_id, owner_id, bucket, digest)
    select :org_id, '', bucket, digest from digests
    on conflict (org_id, owner_id, bucket) do update set digest = excluded.digest
""")
# Every touched bucket in every touched project: some stay as they are, and none is looked up on its own.
REHASH_PROJECTS = text(r"""
    with digests as materialized (
        select v.project_id, v.bucket, sha256('canonry.bucket.v1\000'::bytea
                                              || string_agg(v.entry_digest, ''::bytea order by v.memory_id)) as digest
        from projection_versions v
        where v.org_id = :org_id and v.project_id = any(:project_ids)
          and v.bucket = any(cast(:buckets as smallint[])) and v.to_version is null
        group by v.project_id, v.bucket
    ),
    emptied as (
        delete from tree_buckets b
        where b.org_id = :org_id and b.owner_id = any(:project_ids) and b.bucket = any(cast(:buckets as smallint[]))
          and (b.owner_id, b.bucket) not in (select d.project_id, d.bucket from digests d)
    )
    insert into tree_buckets (org_id, owner_id, bucket, digest)
    select :org_id, project_id, bucket, digest from digests
    on conflict (org_id, owner_id, bucket) do update set digest = excluded.digest
""")
# An organization whose last Memory was deleted has no bucket left, and the hash of the empty tree.
TREES = text(r"""
    select o.owner_id, encode(sha256('canonry.tree.v1\000'::bytea || coalesce((
        select string_agg(int2send(b.bucket) || b.digest, ''::bytea order by b.bucket)
        from tree_buckets b where b.org_id = :org_id and b.owner_id = o.owner_id
    ), ''::bytea)), 'hex') as tree_id
    from unnest(cast(:owner_ids as text[])) as o(owner_id)
""")

ORGANIZATION = ""
"""The owner id of the organization's own tree."""


def rehash_organization(tx: Transaction, buckets: Collection[int]) -> TreeId:
    """Recompute the touched buckets of the organization's head, and its tree id."""
    tx.connection.execute(REHASH_ORGANIZATION, {"org_id": tx.org_id, "buckets": sorted(buckets)})
    return _tree_ids(tx, [ORGANIZATION])[ORGANIZATION]


def rehash_projects(tx: Transaction, project_ids: Collection[ProjectId], buckets: Collection[int]) -> dict[str, TreeId]:
    """Recompute the touched buckets of projections' heads, and the projects' tree ids."""
    owners = sorted(project_ids)
    tx.connection.execute(
        REHASH_PROJECTS, {"org_id": tx.org_id, "project_ids": owners, "buckets": sorted(set(buckets))}
    )
    return _tree_ids(tx, owners)


def _tree_ids(tx: Transaction, owner_ids: Sequence[str]) -> dict[str, TreeId]:
    rows = tx.connection.execute(TREES, {"org_id": tx.org_id, "owner_ids": list(owner_ids)})
    return {row.owner_id: row.tree_id for row in rows}
