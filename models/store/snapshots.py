"""Snapshots: a commit with its whole tree and every text, as JSON (publication.md §5).

Read from interval rows and written row by row: a hundred thousand entries never become a hundred thousand objects.
"""

from collections.abc import Iterator

import orjson
from sqlalchemy import Connection, RowMapping, TextClause, text

from models.rules.hashes import SELECTION_ENTRY_ID
from models.schemas.commits import CommitBody

ROWS_A_FETCH = 1_000

# What still holds, and what ended later: near the head little more than the entries themselves is read.
OF_ORGANIZATION = """
    from (
        select * from memory_versions where org_id = :org_id and from_version <= :version and to_version is null
        union all
        select * from memory_versions where org_id = :org_id and from_version <= :version and to_version > :version
    ) entries
"""
OF_PROJECT = """
    from projection_versions
    where org_id = :org_id and project_id = :project_id
      and from_version <= :version and (to_version is null or to_version > :version)
"""

ORGANIZATION_ENTRIES = text(f"""
    select memory_id as id, 'memory' as type, 'org' as source, path, description, blob_id
    {OF_ORGANIZATION} order by memory_id
""")
PROJECT_ENTRIES = text(f"""
    select memory_id as id,
           case when path is null then 'project_org_selection' else 'memory' end as type,
           case when path is null then 'config' else 'selected_org' end as source,
           path, description, blob_id
    {OF_PROJECT} order by memory_id
""")
# Each text is looked up by its id: a join with rows that are in no statistics yet may be planned as all with all.
TEXTS = """
    cross join lateral (select content from blobs where org_id = :org_id and blob_id = named.blob_id limit 1) b
    order by named.blob_id
"""
ORGANIZATION_BLOBS = text(f"""
    select named.blob_id, b.content from (select distinct blob_id {OF_ORGANIZATION}) named {TEXTS}
""")  # noqa: S608  (constants)
PROJECT_BLOBS = text(f"""
    select named.blob_id, b.content from (select distinct blob_id {OF_PROJECT}) named {TEXTS}
""")  # noqa: S608  (constants)
SELECTION = text(f"""
    select content from blobs
    where org_id = :org_id and blob_id = (select blob_id {OF_PROJECT} and memory_id = :entry_id)
""")  # noqa: S608  (constants)


def snapshot_json(connection: Connection, commit: RowMapping) -> bytes:
    """The JSON of a commit's `Snapshot`; a commit never changes, and neither does this."""
    return b"".join(_parts(connection, commit))


def _parts(connection: Connection, commit: RowMapping) -> Iterator[bytes]:
    of_organization = commit["scope"] == "org"
    scope = {"org_id": commit["org_id"], "project_id": commit["project_id"], "version": commit["version"]}
    yield b'{"commit":' + CommitBody(**commit).model_dump_json().encode()
    yield b',"tree":{"tree_id":' + orjson.dumps(commit["tree_id"]) + b',"entries":['
    yield from _rows(connection, ORGANIZATION_ENTRIES if of_organization else PROJECT_ENTRIES, scope)
    yield b']},"blobs":['
    yield from _rows(connection, ORGANIZATION_BLOBS if of_organization else PROJECT_BLOBS, scope)
    yield b'],"project_org_selection":'
    yield b"null" if of_organization else _selection(connection, commit, scope)
    yield b"}"


def _rows(connection: Connection, statement: TextClause, scope: dict[str, object]) -> Iterator[bytes]:
    """Rows as JSON objects with commas between them, fetched a thousand at a time."""
    rows = connection.execute(statement, scope, execution_options={"yield_per": ROWS_A_FETCH}).mappings()
    separator = b""
    for partition in rows.partitions(ROWS_A_FETCH):
        yield separator + orjson.dumps([dict(row) for row in partition])[1:-1]
        separator = b","


def _selection(connection: Connection, commit: RowMapping, scope: dict[str, object]) -> bytes:
    content = connection.execute(SELECTION, {**scope, "entry_id": SELECTION_ENTRY_ID}).scalar_one()
    return orjson.dumps({"revision": commit["selection_revision"], "resource_ids": orjson.loads(content)})
