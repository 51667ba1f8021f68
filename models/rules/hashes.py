"""Every hash of the contract (publication.md §4 and §5); docs/reference/hashes.md has them for clients.

All hex digests are 64 lower-case digits of SHA-256 over UTF-8.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from models.identifiers import (
    BlobId,
    CommitId,
    MemoryId,
    OrganizationId,
    ProjectId,
    ReviewId,
    TreeId,
    UserId,
)
from models.rules.states import Body, State

JsonValue = None | bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]

BUCKETS = 1_024
BUCKET_PREFIX = b"canonry.bucket.v1\0"
SELECTION_ENTRY_ID = "project_org_selection"

_EXACT_INTEGERS = 2**53 - 1  # RFC 8785 numbers are doubles


def content_hash(text: str) -> str:
    """`sha256:` and the digest of the normalized text: what the API shows of a body."""
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def blob_id(text: str) -> BlobId:
    """The id under which the normalized text is stored."""
    return BlobId(sha256(b"canonry.blob.v1\0" + text.encode()).hexdigest())


def body_of(text: str) -> Body:
    """The Body of a text that `accept_body` returned."""
    return Body(blob_id=blob_id(text), content_hash=content_hash(text))


def entry_digest(*, memory_id: str, path: str | None, description: str, blob_id: str) -> bytes:
    """The digest of one tree entry; the path of a selection entry is None and hashed as an empty string."""
    named = b"".join(_length_prefixed(text) for text in (memory_id, path or "", description))
    return sha256(b"canonry.entry.v1\0" + named + bytes.fromhex(blob_id)).digest()


def bucket_of(memory_id: str) -> int:
    """The number of the bucket an entry belongs to, 0 to 1,023; it depends on the id alone."""
    return int.from_bytes(sha256(memory_id.encode()).digest()[:2], "big") % BUCKETS


def bucket_digest(entries: Iterable[tuple[str, bytes]]) -> bytes:
    """The digest of one bucket from its `(id, entry digest)` pairs, given in any order."""
    in_order = sorted(entries, key=lambda entry: entry[0].encode())
    return sha256(BUCKET_PREFIX + b"".join(digest for _, digest in in_order)).digest()


def tree_id(buckets: Mapping[int, bytes]) -> TreeId:
    """The tree's id from the digests of its non-empty buckets."""
    numbered = b"".join(number.to_bytes(2, "big") + buckets[number] for number in sorted(buckets))
    return TreeId(sha256(b"canonry.tree.v1\0" + numbered).hexdigest())


def tree_id_of_entries(entries: Mapping[str, bytes]) -> TreeId:
    """The tree's id from all of its entry digests by id."""
    members: dict[int, list[tuple[str, bytes]]] = {}
    for entry_id, digest in entries.items():
        members.setdefault(bucket_of(entry_id), []).append((entry_id, digest))
    return tree_id({number: bucket_digest(pairs) for number, pairs in members.items()})


def canonical_json(value: JsonValue) -> bytes:
    """The RFC 8785 form of null, booleans, integers, strings, lists and objects.

    Raises:
        ValueError: for a float, an integer a double does not hold exactly, or a lone surrogate.
    """
    return json.dumps(_canonical(value), ensure_ascii=False, separators=(",", ":")).encode()


def instant(at: datetime) -> str:
    """The RFC 3339 form in UTC, always with six fractional digits and `Z`.

    Raises:
        ValueError: for a time without an offset.
    """
    if at.utcoffset() is None:
        raise ValueError("a time without an offset names no instant")
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFields:
    """What a commit's id is made of; None where a field does not apply."""

    scope: Literal["org", "project"]
    org_id: OrganizationId
    project_id: ProjectId | None
    version: int
    parent_commit_id: CommitId | None
    tree_id: TreeId
    message: str
    review_id: ReviewId | None
    created_by: UserId
    created_at: datetime
    org_commit_id: CommitId | None
    selection_revision: int | None

    @classmethod
    def of(cls, commit: Mapping[Any, Any]) -> "CommitFields":
        """The fields of a commit that was stored or sent, by their names; whatever else it has is passed over."""
        return cls(**{field.name: commit[field.name] for field in fields(cls)})


def commit_id(commit: CommitFields) -> CommitId:
    """The id of a commit, from its fields."""
    document: JsonValue = {
        "scope": commit.scope,
        "org_id": commit.org_id,
        "project_id": commit.project_id,
        "version": commit.version,
        "parent_commit_id": commit.parent_commit_id,
        "tree_id": commit.tree_id,
        "message": commit.message,
        "review_id": commit.review_id,
        "created_by": commit.created_by,
        "created_at": instant(commit.created_at),
        "org_commit_id": commit.org_commit_id,
        "selection_revision": commit.selection_revision,
    }
    return CommitId(sha256(b"canonry.commit.v1\0" + canonical_json(document)).hexdigest())


def selection_body(ids: Iterable[str]) -> str:
    """The text of a selection's blob: the ids as a sorted JSON array, without a final newline."""
    return canonical_json(sorted(set(ids))).decode()


def result_hash(states: Mapping[MemoryId, State], created_in: ProjectId, created: Collection[MemoryId]) -> str:
    """The hash that approvals are bound to (publication.md §4).

    Args:
        states: the final state of every touched Memory, under its final id (`mem_…`).
        created_in: the project that selects what the Review creates.
        created: the final ids of what the Review creates.
    """
    selected = frozenset(created)
    rows = [
        _result_row(memory_id, states[memory_id], created_in if memory_id in selected else None)
        for memory_id in sorted(states, key=str.encode)
    ]
    return sha256(canonical_json(rows)).hexdigest()


def _result_row(memory_id: MemoryId, state: State, selected_for: ProjectId | None) -> list[JsonValue]:
    if state is None:
        return [memory_id, False, None, None, None, None]
    return [memory_id, True, state.path, state.description, state.body.content_hash, selected_for]


def _length_prefixed(text: str) -> bytes:
    encoded = text.encode()
    return len(encoded).to_bytes(4, "big") + encoded


def _canonical(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {name: _canonical(value[name]) for name in sorted(value, key=_utf16)}
    if isinstance(value, Sequence):
        return [_canonical(item) for item in value]
    if isinstance(value, float):
        raise ValueError("floats have no place in a hashed document")  # noqa: TRY004  (the document is at fault)
    if isinstance(value, int) and abs(value) > _EXACT_INTEGERS:
        raise ValueError(f"{value} is not exact as a double")
    return value


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be")
