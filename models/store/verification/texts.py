"""Texts: every body hashes to the ids that it is kept under, and is normalized; few of them are in memory at a time."""

import json
from collections.abc import Iterator

from sqlalchemy import RowMapping, text

from models.errors import OperationInvalid
from models.rules.bodies import accept_body
from models.rules.hashes import blob_id, content_hash, selection_body
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

TEXTS_AT_ONCE = 32
"""A text has 262,144 bytes at most."""

# In no order: to sort them would be to write all texts once more.
TEXTS = {
    "blob": text("""
        select blob_id as id, '' as part, blob_id, content_hash, content from blobs where org_id = :org_id
    """),
    "an operation of Draft": text("""
        select draft_id as id, cast(index as text) as part, blob_id, content_hash, content from draft_operations
        where org_id = :org_id and content is not null
    """),
    "a file of import": text("""
        select import_id as id, path as part, blob_id, content_hash, content from import_files
        where org_id = :org_id and content is not null and blob_id is not null
    """),
}
# Brought along from another system, with the one hash that the API shows.
PROJECT_TEXTS = text("""
    select project_id, memory_id, content_hash, content from project_memories where org_id = :org_id
""")


def check_texts(snapshot: Snapshot) -> Iterator[Finding]:
    """Blobs, the texts that Drafts carry, those that imports have staged, and those of an older system."""
    for kind, texts in TEXTS.items():
        for row in snapshot.rows(texts, at_once=TEXTS_AT_ONCE):
            yield from _check_text(row, f"{kind} {row['id']}" + (f" {shown(row['part'])}" if row["part"] else ""))
    for row in snapshot.rows(PROJECT_TEXTS, at_once=TEXTS_AT_ONCE):
        where, hashed = f"{row['memory_id']} of project {row['project_id']}", content_hash(row["content"])
        if hashed != row["content_hash"]:
            what = "the text does not hash to it"
            yield Finding("text.content_hash", what, where, shown(row["content_hash"]), hashed)


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
