"""The index on disk is one file, whole or not there (docs/decisions/0017)."""

import errno
import os
import stat
import tracemalloc
from pathlib import Path

import pytest

from models.identifiers import new_organization_id
from models.rules.visibility import Envelope, Place
from models.store.structured_feed import FeedPosition
from search.corpus import Corpus
from search.documents import Gone, Vector, memory_number, vector_of
from search.index_file import FILE, moment_of, read, write
from search.index_folder import IndexFolder
from search.memory_index import MemoryIndex
from tests.indexes import a_document

HERE = Place("global", "")
POSITION = FeedPosition("epoch", "10:12:11")


def a_corpus(*texts: str, envelope: Envelope) -> Corpus:
    corpus = Corpus(begin=7)
    for text in texts:
        corpus.put(vector_of(a_document(envelope.org_id, HERE, text)))
    return corpus


@pytest.fixture
def envelope() -> Envelope:
    return Envelope(new_organization_id(), (HERE,))


def test_what_is_read_is_what_was_written(tmp_path: Path, envelope: Envelope) -> None:
    corpus = a_corpus("harbour harbour", "station", "港" * 65_536, envelope=envelope)
    write(tmp_path, moment_of(corpus, POSITION))
    stored = read(tmp_path)
    assert stored is not None
    assert stored.position == POSITION
    assert (stored.corpus.revision_of(envelope.org_id), stored.corpus.last) == (10, 3)
    rankings = []
    for each in (corpus, stored.corpus):
        index = MemoryIndex()
        index.prepare(each)
        index.serve()
        rankings.append([index.rank(envelope, query, k=5, count=True) for query in ("harbour", "note 港", "station")])
    assert rankings[0] == rankings[1]


def test_an_unfinished_file_is_not_read_and_does_not_matter(tmp_path: Path, envelope: Envelope) -> None:
    write(tmp_path, moment_of(a_corpus("harbour", envelope=envelope), POSITION))
    before = (tmp_path / FILE).read_bytes()
    (tmp_path / f"{FILE}.new").write_bytes(before[:100])
    assert read(tmp_path) is not None
    write(tmp_path, moment_of(a_corpus("harbour", "station", envelope=envelope), POSITION))
    stored = read(tmp_path)
    assert stored is not None
    assert stored.corpus.see(envelope, None, []).documents == 2


@pytest.mark.parametrize("place", [0.0, 0.01, 0.2, 0.5, 0.9, 0.999])
def test_a_file_with_a_changed_byte_is_not_read(tmp_path: Path, envelope: Envelope, place: float) -> None:
    write(tmp_path, moment_of(a_corpus("harbour", "station", envelope=envelope), POSITION))
    content = bytearray((tmp_path / FILE).read_bytes())
    content[int(len(content) * place)] ^= 0x10
    (tmp_path / FILE).write_bytes(content)
    assert read(tmp_path) is None


def test_nobody_but_the_owner_reads_it_and_no_word_of_what_was_deleted_is_in_it(
    tmp_path: Path, envelope: Envelope
) -> None:
    document = a_document(envelope.org_id, HERE, "harbour")
    corpus = a_corpus("station", envelope=envelope)
    corpus.put(vector_of(document))
    gone = Gone(envelope.org_id, document.memory_id, 2)
    corpus.remove(gone.org_id, memory_number(gone.memory_id), gone.revision)
    write(tmp_path, moment_of(corpus, POSITION))
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    content = (tmp_path / FILE).read_bytes()
    assert b"station" in content
    assert b"harbour" not in content


def test_each_process_has_a_folder_of_its_own_and_takes_over_one_that_is_free(tmp_path: Path) -> None:
    one, other = IndexFolder(tmp_path), IndexFolder(tmp_path)
    assert (one.path, other.path) == (tmp_path / "index" / "0", tmp_path / "index" / "1")
    one.release()
    again = IndexFolder(tmp_path)
    assert again.path == tmp_path / "index" / "0"
    again.release()
    other.release()


def test_without_a_folder_there_is_an_index_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("in the way")
    assert IndexFolder(tmp_path).path is None


def test_what_could_not_be_written_leaves_the_file_of_before_and_takes_no_room(
    tmp_path: Path, envelope: Envelope, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, moment_of(a_corpus("harbour", envelope=envelope), POSITION))
    monkeypatch.setattr("os.fsync", _full)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path, moment_of(a_corpus("station", envelope=envelope), POSITION))
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert read(tmp_path) is not None


def test_reading_holds_the_file_once(tmp_path: Path, envelope: Envelope) -> None:
    corpus, words = Corpus(), tuple(f"word{number}" for number in range(2_000))
    for number in range(400):
        place = Place("user", f"usr_{number % 20}")
        corpus.put(Vector(envelope.org_id, place, number, 1, 0, words, (1,) * len(words), len(words)))
    write(tmp_path, moment_of(corpus, POSITION))
    tracemalloc.start()
    stored = read(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert stored is not None
    assert peak < 2.5 * (tmp_path / FILE).stat().st_size  # the file, and the arrays that are made of it


def _full(descriptor: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
