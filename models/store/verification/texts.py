"""Texts: every body hashes to the ids that it is kept under, and is normalized; ten megabytes are in memory at most."""

import json
from collections.abc import Iterator

from sqlalchemy import RowMapping, text

from models.errors import OperationInvalid
from models.rules.bodies import accept_body
from models.rules.hashes import blob_id, content_hash, selection_body
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

BYTES_A_BATCH = 8_388_608
ROWS_A_BATCH = 500

BLOB_SIZES = text("""
    select blob_id as id, '' as part, octet_length(content) as size from blobs where org_id = :org_id order by blob_id
""")
BLOBS = text("""
    select blob_id as id, '' as part, blob_id, content_hash, content from blobs
    where org_id = :org_id and blob_id = any(:ids)
""")
DRAFT_SIZES = text("""
    select draft_id as id, cast(index as text) as part, octet_length(content) as size from draft_operations
    where org_id = :org_id and content is not null order by draft_id, index
""")
DRAFT_TEXTS = text("""
    select o.draft_id as id, cast(o.index as text) as part, o.blob_id, o.content_hash, o.content
    from unnest(cast(:ids as text[]), cast(:parts as text[])) as named(id, part)
    join draft_operations o on o.org_id = :org_id and o.draft_id = named.id and o.index = cast(named.part as integer)
""")
STAGED_SIZES = text("""
    select import_id as id, path as part, octet_length(content) as size from import_files
    where org_id = :org_id and content is not null and blob_id is not null order by import_id, path
""")
STAGED_TEXTS = text("""
    select f.import_id as id, f.path as part, f.blob_id, f.content_hash, f.content
    from unnest(cast(:ids as text[]), cast(:parts as text[])) as named(id, part)
    join import_files f on f.org_id = :org_id and f.import_id = named.id and f.path = named.part
""")


def check_texts(snapshot: Snapshot) -> Iterator[Finding]:
    """Blobs, the texts that Drafts carry, and those that imports have staged."""
    for sizes, texts, kind in (
        (BLOB_SIZES, BLOBS, "blob"),
        (DRAFT_SIZES, DRAFT_TEXTS, "an operation of Draft"),
        (STAGED_SIZES, STAGED_TEXTS, "a file of import"),
    ):
        for batch in _batches(snapshot.rows(sizes)):
            for row in snapshot.all(texts, ids=[each["id"] for each in batch], parts=[each["part"] for each in batch]):
                yield from _check_text(row, f"{kind} {row['id']} {shown(row['part'])}" if row["part"] else _blob(row))


def _blob(row: RowMapping) -> str:
    return f"blob {row['id']}"


def _batches(sizes: Iterator[RowMapping]) -> Iterator[list[RowMapping]]:
    """Rows whose texts fit together; a larger one comes alone."""
    batch: list[RowMapping] = []
    total = 0
    for row in sizes:
        if batch and (total + row["size"] > BYTES_A_BATCH or len(batch) == ROWS_A_BATCH):
            yield batch
            batch, total = [], 0
        batch.append(row)
        total += row["size"]
    if batch:
        yield batch


def _check_text(row: RowMapping, where: str) -> Iterator[Finding]:
    content = row["content"]
    for check, hashed, kept in (
        ("text.id", blob_id(content), row["blob_id"]),
        ("text.content_hash", content_hash(content), row["content_hash"]),
    ):
        if hashed != kept:
            yield Finding(check, "the text does not hash to it", where, shown(kept), hashed)
    if not _is_normalized(content) and not _is_selection(content):
        yield Finding("text.normalized", "the text is not as bodies are accepted", where, "one", shown(content[:40]))


def _is_normalized(content: str) -> bool:
    try:
        return accept_body(content) == content
    except OperationInvalid:
        return False


def _is_selection(content: str) -> bool:
    """Whether the text is a selection's, which is kept beside the bodies and is not one."""
    try:
        ids = json.loads(content)
    except ValueError:
        return False
    return isinstance(ids, list) and content == selection_body(str(each) for each in ids)
