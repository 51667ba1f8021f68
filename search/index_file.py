"""The index on disk: everything of the process's arrays, and the position of the feed that they stand at, in one file.

The file is replaced as a whole, so that arrays and position cannot come apart, and ends with a digest: what is damaged,
of another version or of another database's life is never read as an index. It holds words of memories; nobody but its
owner reads it.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from models.identifiers import OrganizationId
from models.rules.visibility import Place, Scope
from models.store.structured_feed import FeedPosition
from search.analysis import ANALYZER_VERSION
from search.columns import NEVER, Columns, View
from search.corpus import Corpus
from search.vocabulary import Vocabulary

FILE = "memories.index"
VERSION = f"2/{ANALYZER_VERSION}"
"""Of the file's form and of the terms in it."""

DIGEST_SIZE = 32
OWN = 0o600

S = TypeVar("S", bound=np.generic)


class _Part(BaseModel):
    """One place in the file: how many documents, and how many entries they have."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    org_id: str
    scope: Scope
    scope_id: str
    documents: int
    entries: int
    wide: bool


class _Head(BaseModel):
    """The first line of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    version: str
    epoch: str
    snapshot: str
    revision: int
    last: int
    vocabulary: int
    parts: list[_Part]


@dataclass(frozen=True, slots=True)
class Stored:
    """A corpus, and the position of the feed of which it holds everything."""

    corpus: Corpus
    position: FeedPosition


@dataclass(frozen=True, slots=True)
class Moment:
    """A corpus at one moment, to be written without a lock."""

    places: list[tuple[OrganizationId, Place, View]]
    terms: Sequence[str]
    clock: int
    revision: int
    last: int
    position: FeedPosition


def moment_of(corpus: Corpus, position: FeedPosition) -> Moment:
    """The corpus as it is now, which holds everything up to the position; whoever calls holds the index's lock."""
    places = [
        (org_id, place, documents.view(corpus.clock))
        for org_id, own in corpus.organizations.items()
        for place, documents in own.items()
        if documents.documents
    ]
    return Moment(places, corpus.vocabulary.terms, corpus.clock, corpus.highest_revision(), corpus.last, position)


def write(folder: Path, moment: Moment) -> None:
    """Replace the folder's file, durably or not at all.

    Raises:
        OSError: the disk is full, or does not let it be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{FILE}.new"
    digest = hashlib.blake2b(digest_size=DIGEST_SIZE)
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWN)
        with os.fdopen(descriptor, "wb") as file:
            for piece in _pieces(moment):
                digest.update(piece)
                file.write(piece)
            file.write(digest.digest())
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(folder / FILE)
    except OSError:
        with suppress(OSError):  # what is of no use fills no disk
            unfinished.unlink()
        raise


def _pieces(moment: Moment) -> Iterator[bytes | memoryview]:
    places = [(org_id, place, view.picked()) for org_id, place, view in moment.places]
    used, numbers = _used([columns for _, _, columns in places], moment.terms)
    parts = [
        _Part(
            org_id=org_id,
            scope=place.scope,
            scope_id=place.scope_id,
            documents=len(columns.numbers),
            entries=len(columns.terms),
            wide=columns.counts.dtype == np.uint32,
        )
        for org_id, place, columns in places
    ]
    head = _Head(
        version=VERSION,
        epoch=moment.position.epoch,
        snapshot=moment.position.snapshot,
        revision=moment.revision,
        last=moment.last,
        vocabulary=len(used),
        parts=parts,
    )
    yield head.model_dump_json().encode() + b"\n"
    yield used
    for _, _, columns in places:
        for array in (
            columns.numbers,
            columns.high,
            columns.low,
            columns.revisions,
            columns.types,
            columns.lengths,
            columns.starts,
            numbers[columns.terms],
            columns.counts,
        ):
            yield array.tobytes()


def _used(places: Sequence[Columns], terms: Sequence[str]) -> tuple[bytes, npt.NDArray[np.int32]]:
    """The terms that living documents hold, a line each, and by its former number the number that each has among them.

    What was deleted leaves no word on the disk.
    """
    held = np.zeros(len(terms), np.bool_)
    for columns in places:
        held[columns.terms] = True
    numbers = (np.cumsum(held) - 1).astype(np.int32)
    return "\n".join(terms[number] for number in np.flatnonzero(held).tolist()).encode(), numbers


def read(folder: Path) -> Stored | None:
    """The folder's index; None if there is none, or it is damaged or of another version."""
    try:
        content = (folder / FILE).read_bytes()
    except OSError:
        return None
    body, digest = memoryview(content)[:-DIGEST_SIZE], content[-DIGEST_SIZE:]
    if hashlib.blake2b(body, digest_size=DIGEST_SIZE).digest() != digest:
        return None
    line_end = content.index(b"\n")
    try:
        head = _Head.model_validate_json(content[:line_end])
    except ValidationError:
        return None
    if head.version != VERSION:
        return None
    return Stored(_corpus(head, body[line_end + 1 :]), FeedPosition(head.epoch, head.snapshot))


def _corpus(head: _Head, rest: memoryview) -> Corpus:
    terms = str(rest[: head.vocabulary], "utf-8")
    corpus = Corpus(begin=head.revision)
    corpus.vocabulary = Vocabulary(terms.split("\n") if terms else ())
    corpus.last = head.last
    at = head.vocabulary
    for part in head.parts:
        columns, at = _columns(part, rest, at)
        corpus.load(OrganizationId(part.org_id), Place(part.scope, part.scope_id), columns)
    corpus.forget_telling()
    return corpus


def _columns(part: _Part, rest: memoryview, at: int) -> tuple[Columns, int]:
    def taken(dtype: type[S], count: int) -> npt.NDArray[S]:
        nonlocal at
        array = np.frombuffer(rest, dtype, count, at).copy()
        at += array.nbytes
        return array

    size = part.documents
    columns = Columns(
        numbers=taken(np.int64, size),
        high=taken(np.uint64, size),
        low=taken(np.uint64, size),
        revisions=taken(np.int64, size),
        types=taken(np.uint8, size),
        lengths=taken(np.int32, size),
        ended=np.full(size, NEVER),
        starts=taken(np.int64, size + 1),
        terms=taken(np.int32, part.entries),
        counts=taken(np.uint32, part.entries) if part.wide else taken(np.uint16, part.entries),
    )
    return columns, at
