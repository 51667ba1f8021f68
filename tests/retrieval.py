"""Questions with the paragraph that answers each: XQuAD's files, and the excerpt of them in tests/data/retrieval."""

import json
from dataclasses import dataclass
from pathlib import Path

EXCERPT = Path(__file__).parent / "data" / "retrieval"
LANGUAGES = ("en", "de", "ru", "ar", "zh", "th")


@dataclass(frozen=True)
class Questions:
    """The paragraphs of one language, and questions with the number of the paragraph that each belongs to."""

    language: str
    paragraphs: list[str]
    asked: list[tuple[str, int]]


def excerpt() -> list[Questions]:
    """200 questions in six languages; CC BY-SA 4.0, as the folder's README says."""
    return [_excerpt_in(language) for language in LANGUAGES]


def _excerpt_in(language: str) -> Questions:
    paragraphs = json.loads((EXCERPT / f"{language}.json").read_text(encoding="utf-8"))["paragraphs"]
    return Questions(
        language,
        [paragraph["text"] for paragraph in paragraphs],
        [(question, number) for number, paragraph in enumerate(paragraphs) for question in paragraph["questions"]],
    )


def xquad(folder: Path) -> list[Questions]:
    """All questions of the files `xquad.<language>.json` in a folder."""
    return [_xquad_in(language, folder / f"xquad.{language}.json") for language in LANGUAGES]


def _xquad_in(language: str, path: Path) -> Questions:
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    return Questions(
        language,
        [paragraph["context"] for paragraph in paragraphs],
        [(asked["question"], number) for number, paragraph in enumerate(paragraphs) for asked in paragraph["qas"]],
    )
