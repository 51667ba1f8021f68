"""Published Memory: what was active at a version, what changed since, and the rows a publication writes."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, text

from models.identifiers import BlobId, MemoryId, OrganizationId
from models.rules.hashes import bucket_of, entry_digest
from models.rules.paths import path_key
from models.rules.states import Body, MemoryState
from models.store.transaction import Transaction

CONTENT_HASH = "(select b.content_hash from blobs b where b.org_id = v.org_id and b.blob_id = v.blob_id)"
STATES_AT = text(f"""
    select v.memory_id, v.path, v.description, v.blob_id, {CONTENT_HASH} as content_hash
    from memory_versions v
    where v.org_id = :org_id and v.memory_id = any(:memory_ids)
      and v.from_version <= :version and (v.to_version is null or v.to_version > :version)
""")  # noqa: S608  (a constant)
HEADS = text(f"""
    select v.memory_id, v.path, v.description, v.blob_id, {CONTENT_HASH} as content_hash
    from memory_versions v
    where v.org_id = :org_id and v.memory_id = any(:memory_ids) and v.to_version is null
""")  # noqa: S608  (a constant)


def states_at(
    connection: Connection, org_id: OrganizationId, memory_ids: Collection[MemoryId], version: int
) -> dict[MemoryId, MemoryState]:
    """Those of the Memories that were active at a version of the organization."""
    if not memory_ids or version == 0:
        return {}
    rows = connection.execute(STATES_AT, {"org_id": org_id, "memory_ids": list(memory_ids), "version": version})
    return {row.memory_id: _state(row.path, row.description, row.blob_id, row.content_hash) for row in rows}


# One row a question: as a plain join it may be planned, without statistics, as all versions of each Memory.
EACH_AT = text(f"""
    select a.version, v.memory_id, v.path, v.description, v.blob_id, {CONTENT_HASH} as content_hash
    from unnest(cast(:memory_ids as text[]), cast(:versions as bigint[])) as a(memory_id, version)
    cross join lateral (
        select org_id, memory_id, path, description, blob_id, to_version from memory_versions
        where org_id = :org_id and memory_id = a.memory_id and from_version <= a.version
        order by from_version desc limit 1
    ) v
    where v.to_version is null or v.to_version > a.version
""")  # noqa: S608  (a constant)


def each_at(
    connection: Connection, org_id: OrganizationId, asked: Collection[tuple[MemoryId, int]]
) -> dict[int, dict[MemoryId, MemoryState]]:
    """By version that is asked about, those of the Memories asked about with it that were active then."""
    found: dict[int, dict[MemoryId, MemoryState]] = {version: {} for _, version in asked}
    if not asked:
        return found
    names = {"memory_ids": [each for each, _ in asked], "versions": [version for _, version in asked]}
    for row in connection.execute(EACH_AT, names | {"org_id": org_id}):
        found[row.version][row.memory_id] = _state(row.path, row.description, row.blob_id, row.content_hash)
    return found


def heads(
    connection: Connection, org_id: OrganizationId, memory_ids: Collection[MemoryId]
) -> dict[MemoryId, MemoryState]:
    """Those of the Memories that are active now."""
    if not memory_ids:
        return {}
    rows = connection.execute(HEADS, {"org_id": org_id, "memory_ids": list(memory_ids)})
    return {row.memory_id: _state(row.path, row.description, row.blob_id, row.content_hash) for row in rows}


def _state(path: str, description: str, blob_id: BlobId, content_hash: str) -> MemoryState:
    return MemoryState(path=path, description=description, body=Body(blob_id, content_hash))


def given_ids(connection: Connection, org_id: OrganizationId, memory_ids: Collection[MemoryId]) -> set[MemoryId]:
    """Those of the ids that are a Memory's already, whatever its status."""
    if not memory_ids:
        return set()
    rows = connection.execute(
        text("select memory_id from memories where org_id = :org_id and memory_id = any(:memory_ids)"),
        {"org_id": org_id, "memory_ids": list(memory_ids)},
    )
    return set(rows.scalars())


LAST_CHANGED = text("""
    select memory_id, max(greatest(from_version, to_version)) as version from memory_versions
    where org_id = :org_id and memory_id = any(:memory_ids) and (from_version > :version or to_version > :version)
    group by memory_id
""")


def last_changed(
    connection: Connection, org_id: OrganizationId, memory_ids: Collection[MemoryId], after: int
) -> dict[MemoryId, int]:
    """The version that last created, changed or deleted each of the Memories, of those where it is after another."""
    if not memory_ids:
        return {}
    rows = connection.execute(LAST_CHANGED, {"org_id": org_id, "memory_ids": list(memory_ids), "version": after})
    return {row.memory_id: row.version for row in rows}


CLOSE = text("""
    update memory_versions set to_version = :version
    where org_id = :org_id and memory_id = any(:memory_ids) and to_version is null
""")
WRITE_IDENTITIES = text("""
    insert into memories (org_id, memory_id, status, revision, created_at, updated_at)
    select :org_id, m.memory_id, m.status, 1, :now, :now
    from unnest(cast(:memory_ids as text[]), cast(:statuses as text[])) as m(memory_id, status)
    order by m.memory_id
    on conflict (org_id, memory_id) do update
    set status = excluded.status, revision = memories.revision + 1, updated_at = excluded.updated_at
""")
OPEN = text("""
    insert into memory_versions
        (org_id, memory_id, from_version, path, path_key, description, blob_id, bucket, entry_digest)
    select :org_id, m.memory_id, :version, m.path, m.path_key, m.description, m.blob_id, m.bucket, m.entry_digest
    from unnest(
        cast(:memory_ids as text[]), cast(:paths as text[]), cast(:path_keys as text[]), cast(:descriptions as text[]),
        cast(:blob_ids as text[]), cast(:buckets as smallint[]), cast(:entry_digests as bytea[])
    ) as m(memory_id, path, path_key, description, blob_id, bucket, entry_digest)
""")


def write_states(tx: Transaction, states: Mapping[MemoryId, MemoryState | None], version: int) -> None:
    """Make final states hold from a version on; ids are final, None archives.

    All old rows are closed in one statement before all new ones are opened in the next, so that paths may swap.
    """
    ids = sorted(states)
    present = {memory_id: state for memory_id in ids if (state := states[memory_id]) is not None}
    scope = {"org_id": tx.org_id, "version": version}
    tx.connection.execute(CLOSE, scope | {"memory_ids": ids})
    statuses = ["active" if memory_id in present else "archived" for memory_id in ids]
    tx.connection.execute(
        WRITE_IDENTITIES, {"org_id": tx.org_id, "memory_ids": ids, "statuses": statuses, "now": tx.now}
    )
    tx.connection.execute(OPEN, scope | _columns(present))


def _columns(states: Mapping[MemoryId, MemoryState]) -> dict[str, Sequence[object]]:
    return {
        "memory_ids": list(states),
        "paths": [state.path for state in states.values()],
        "path_keys": [path_key(state.path) for state in states.values()],
        "descriptions": [state.description for state in states.values()],
        "blob_ids": [state.body.blob_id for state in states.values()],
        "buckets": [bucket_of(memory_id) for memory_id in states],
        "entry_digests": [
            entry_digest(
                memory_id=memory_id, path=state.path, description=state.description, blob_id=state.body.blob_id
            )
            for memory_id, state in states.items()
        ],
    }


def write_blobs(tx: Transaction, contents: Mapping[Body, str]) -> None:
    """Keep texts under their hashes, at least one; known ones stay as they are.

    In the order of their ids, so that two that keep equal ones at the same time do not wait for each other.
    """
    # Row by row in one pipeline: inside an array, every quotation mark of a selection would have to be escaped.
    tx.connection.execute(
        text("""
            insert into blobs (org_id, blob_id, content_hash, content)
            values (:org_id, :blob_id, :content_hash, :content) on conflict do nothing
        """),
        [
            {"org_id": tx.org_id, "blob_id": body.blob_id, "content_hash": body.content_hash, "content": content}
            for body, content in sorted(contents.items(), key=lambda item: item[0].blob_id)
        ],
    )
