"""The library of the demonstration is one that a reader could use: described, linked, of more than one language."""

import re
from pathlib import Path

import pytest

from canonry.demo.desk import PROPOSALS
from canonry.demo.library import DOCUMENTS
from canonry.documents.front_matter import read_document
from models.rules.bodies import accept_body
from models.rules.paths import accept_path

FILES = sorted(DOCUMENTS.rglob("*.md"))
LINK = re.compile(r"\]\(([^)]+)\)")

each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(DOCUMENTS)))


@each_file
def test_it_describes_itself_and_begins_with_a_heading(file: Path) -> None:
    document = read_document(file.read_text(encoding="utf-8"))
    assert document.description
    assert document.body.startswith("# ")
    assert document.notes == ()


@each_file
def test_its_links_lead_to_another_document_or_to_a_heading(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for link in LINK.findall(text):
        if link.startswith("#"):
            assert link[1:] in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings(text)}
        else:
            assert (file.parent / link).is_file(), link


@each_file
def test_its_path_and_its_text_can_be_published(file: Path) -> None:
    accept_path(file.relative_to(DOCUMENTS).as_posix())
    accept_body(read_document(file.read_text(encoding="utf-8")).body)


def test_it_is_an_organization_s_library_and_not_a_sample() -> None:
    texts = [file.read_text(encoding="utf-8") for file in FILES]
    assert len(texts) >= 25
    assert max(len(text.splitlines()) for text in texts) >= 300
    assert [text for text in texts if len(re.findall(r"[\u4e00-\u9fff]", text)) > 500]


def test_what_is_proposed_later_is_text_that_can_be_published() -> None:
    for file in PROPOSALS.glob("*.md"):
        accept_body(file.read_text(encoding="utf-8"))


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", text, re.MULTILINE)
