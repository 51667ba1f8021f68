import json
import unicodedata
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from canonry.documents.folder import Found, Unreadable, read_folder
from canonry.documents.front_matter import Document, read_document, render_document
from models.errors import OperationInvalid
from models.identifiers import MemoryId
from models.rules.bodies import accept_body, normalize_body
from tests.corpus import LEFT_OUT, SOURCE, a_corpus

GOLDEN = SOURCE.parent / "descriptions.json"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_corpus(tmp_path_factory.mktemp("corpus") / "files")


def documents(corpus: Path) -> dict[str, Document]:
    found = {item.path: read_document(item.text) for item in read_folder(corpus) if isinstance(item, Found)}
    return {path: document for path, document in found.items() if path not in LEFT_OUT}


def test_the_corpus_has_sixty_files_of_which_four_are_no_memory(corpus: Path) -> None:
    items = list(read_folder(corpus))
    assert len(items) == len({item.path for item in items}) == 60
    assert {item.path for item in items if isinstance(item, Unreadable)} == {"bytes/latin-1.md"}
    blank = [item.path for item in items if isinstance(item, Found) and not _is_accepted(read_document(item.text).body)]
    assert {"bytes/latin-1.md", *blank} == {*LEFT_OUT}


def test_every_path_is_in_nfc(corpus: Path) -> None:
    assert all(unicodedata.is_normalized("NFC", path) for path in documents(corpus))
    assert "études/résumé.md" in documents(corpus)


def test_every_description_is_the_one_that_was_read_by_a_person(corpus: Path) -> None:
    found = {path: document.description for path, document in documents(corpus).items()}
    assert found == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_what_cannot_be_used_is_noted(corpus: Path) -> None:
    notes = {path: [note.code for note in document.notes] for path, document in documents(corpus).items()}
    assert {path: codes for path, codes in notes.items() if codes} == {
        "rules/typed.MDC": ["front_matter_invalid"],
        "runbooks/alias.md": ["front_matter_invalid"],
        "runbooks/bool-description.md": ["description_invalid"],
        "runbooks/invalid-yaml.md": ["front_matter_invalid"],
        "runbooks/list-description.md": ["description_invalid"],
        "runbooks/number-description.md": ["description_invalid"],
        "runbooks/thematic-breaks.md": ["front_matter_invalid"],
        "runbooks/twice-described.md": ["front_matter_invalid"],
        "runbooks/two-line-description.md": ["description_invalid"],
    }


def test_a_body_lacks_nothing_but_id_and_description(corpus: Path) -> None:
    for item in read_folder(corpus):
        if isinstance(item, Found) and item.path not in LEFT_OUT:
            text, body = normalize_body(item.text), read_document(item.text).body
            assert all(line.startswith(("id:", "description:", "  ", "---")) for line in _missing(text, body)), (
                item.path
            )


def test_every_document_reads_back(corpus: Path) -> None:
    for path, document in documents(corpus).items():
        description = document.description or ""
        rendered = render_document(memory_id=MemoryId("mem_1"), description=description, body=document.body)
        read = read_document(rendered)
        assert (read.memory_id, read.description, read.body) == ("mem_1", description, document.body), path


def _is_accepted(body: str) -> bool:
    try:
        return accept_body(body) == body
    except OperationInvalid:
        return False


def _missing(text: str, body: str) -> list[str]:
    """The lines of a text that are not in the body, which has no other lines."""
    lines, left = text.split("\n"), body.split("\n")
    if lines == left:
        return []
    steps = SequenceMatcher(None, lines, left, autojunk=False).get_opcodes()
    assert {step for step, *_ in steps} <= {"equal", "delete"}
    return [line for step, begin, end, *_ in steps if step == "delete" for line in lines[begin:end]]
