"""What a Memory is at one moment: the value that Base, Current and Draft result are compared by."""

from dataclasses import dataclass

from models.identifiers import BlobId


@dataclass(frozen=True, slots=True)
class Body:
    """The identity of a normalized text; equal texts are equal Bodies.

    Made by `models.rules.hashes.body_of` only, so that both fields always name the same text.
    """

    blob_id: BlobId
    content_hash: str


@dataclass(frozen=True, slots=True)
class MemoryState:
    """The four fields of an existing Memory; existence is being there at all (publication.md §3)."""

    path: str
    description: str
    body: Body


State = MemoryState | None
"""None: the Memory does not exist; it never did, or it is deleted."""
