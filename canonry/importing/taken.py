"""What an import took of an exported folder, file by file, and whether a later version differs by just that."""

import hashlib
import json
from collections.abc import Collection, Mapping

from canonry.importing.survey import Survey
from models.rules.hashes import content_hash
from models.rules.paths import path_key
from models.schemas.commits import Snapshot, TreeEntry

Taken = Mapping[str, str]
"""By path, the digest of what the file said: its text, its description and its id, where it had them."""


def taken_of(found: Survey, left_out: Collection[str], before: Taken) -> dict[str, str]:
    """What is noted after an import; of a file that was left out, what an earlier import has taken stays noted."""
    taken = {path: digest for path, digest in before.items() if path in left_out and path in found.files}
    for path, file in found.files.items():
        if file.content_hash is not None and path not in left_out:
            taken[path] = _digest(file.content_hash, file.description, file.memory_id)
    return taken


def is_only_taken(then: Snapshot | None, now: Snapshot, taken: Taken, found: Survey) -> bool:
    """Whether every Memory that differs between two versions is now as a file of the folder was taken.

    Then comparing with the later version takes nothing of others back. A Memory that is gone may have no file.

    Args:
        then: the earlier version; None: it is not known here.
        now: the later one.
        taken: what imports took.
        found: what is in the folder now.
    """
    before, after = _documents(then), _documents(now)
    hashes = {blob.blob_id: content_hash(blob.content) for blob in now.blobs}
    named = {file.memory_id for file in found.files.values()}
    occupied = {path_key(path) for path in found.files}

    def has_file(memory_id: str, was: TreeEntry | None) -> bool:
        return memory_id in named or (was is not None and path_key(_path(was)) in occupied)

    def is_taken(memory_id: str, entry: TreeEntry) -> bool:
        said = taken.get(_path(entry))
        if said in _digests(entry, hashes[entry.blob_id], memory_id):
            return True
        was = before.get(memory_id)
        left = None if was is None or path_key(_path(was)) == path_key(_path(entry)) else was
        # A file that does not name its Memory is another one where the Memory's own is somewhere else.
        return said in _digests(entry, hashes[entry.blob_id], None) and not has_file(memory_id, left)

    return all(before.get(memory_id) == entry or is_taken(memory_id, entry) for memory_id, entry in after.items()) and (
        not any(memory_id not in after and has_file(memory_id, was) for memory_id, was in before.items())
    )


def _documents(snapshot: Snapshot | None) -> dict[str, TreeEntry]:
    entries = () if snapshot is None else snapshot.tree.entries
    return {entry.id: entry for entry in entries if entry.path is not None}


def _path(entry: TreeEntry) -> str:
    return entry.path or ""


def _digests(entry: TreeEntry, text: str, memory_id: str | None) -> Collection[str]:
    """Of the files that say this; one without a description says nothing of it."""
    return {_digest(text, description, memory_id) for description in (entry.description, None)}


def _digest(text: str, description: str | None, memory_id: str | None) -> str:
    return hashlib.sha256(json.dumps([text, description, memory_id]).encode()).hexdigest()
