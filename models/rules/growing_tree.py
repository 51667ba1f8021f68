"""A tree's id from entries as they come by, in the order of their ids, without keeping any of them."""

from hashlib import sha256
from typing import Protocol

from models.identifiers import TreeId
from models.rules.hashes import BUCKET_PREFIX, tree_id


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...


class GrowingTree:
    """The id of the tree of all entries added so far."""

    def __init__(self) -> None:
        self._buckets: dict[int, _Hash] = {}

    def add(self, bucket: int, entry_digest: bytes) -> None:
        """Take the next entry of a bucket, in byte order of ids."""
        bucket_hash = self._buckets.get(bucket)
        if bucket_hash is None:
            bucket_hash = self._buckets[bucket] = sha256(BUCKET_PREFIX)
        bucket_hash.update(entry_digest)

    @property
    def tree_id(self) -> TreeId:
        """The tree's id."""
        return tree_id({number: bucket_hash.digest() for number, bucket_hash in self._buckets.items()})
