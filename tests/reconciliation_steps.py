"""The documents of reconciliation-table.md, what two sides do to them, and what stands then.

Documents are named by letters, and nothing of the product is imported. M stands at `P`, O at `TAKEN`, T at `THIRD`; A
was deleted before the Draft began; N is what Current creates, X what the Draft creates.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

P: Final = "guides/café.md"
Q: Final = "guides/résumé.md"
ELSEWHERE: Final = "notes/elsewhere.md"
TAKEN: Final = "guides/taken.md"
THIRD: Final = "guides/third.md"
ARCHIVED: Final = "guides/archived.md"

LINES: Final = "# Deploy\n\nBuild.\n\nTest.\n\nShip.\n"
THEIR_LINES: Final = "# Deploying\n\nBuild.\n\nTest.\n\nShip.\n"
OUR_LINES: Final = "# Deploy\n\nBuild.\n\nTest.\n\nShip it.\n"
BOTH_LINES: Final = "# Deploying\n\nBuild.\n\nTest.\n\nShip it.\n"
OVERLAPPING_LINES: Final = "# Deployment\n\nBuild.\n\nTest.\n\nShip.\n"


@dataclass(frozen=True)
class Document:
    """A Memory as it stands; archived: as it stood when it was deleted."""

    path: str
    description: str = ""
    content: str = LINES
    archived: bool = False


@dataclass(frozen=True)
class Step:
    """One operation; `path` is also a rename's new path, and fields that it does not carry are None."""

    action: str
    memory: str
    path: str | None = None
    description: str | None = None
    content: str | None = None


BASE: Final[Mapping[str, Document]] = {
    "M": Document(P, description="How we deploy"),
    "O": Document(TAKEN, description="Another one", content="Another one.\n"),
    "T": Document(THIRD, content="A third one.\n"),
    "A": Document(ARCHIVED, description="As it was", content="As it was.\n", archived=True),
}


def related(path: str, relation: str) -> str:
    """A path that stands in this relation to another."""
    folder, _, name = path.rpartition("/")
    return {
        "same": path,
        "other": ELSEWHERE,
        "case": f"{folder}/{name.upper()}",
        "normal form": unicodedata.normalize("NFD", path),
    }[relation]


def update(memory: str, *, content: str | None = None, description: str | None = None) -> Step:
    return Step("update", memory, content=content, description=description)


def rename(memory: str, path: str) -> Step:
    return Step("rename", memory, path=path)


def delete(memory: str) -> Step:
    return Step("delete", memory)


def create(memory: str, path: str, content: str = "New.\n", description: str = "") -> Step:
    return Step("create", memory, path=path, content=content, description=description)


def restore(
    memory: str, path: str | None = None, *, content: str | None = None, description: str | None = None
) -> Step:
    return Step("restore", memory, path=path, content=content, description=description)


EDIT_THEIRS = update("M", content=THEIR_LINES)
EDIT_OURS = update("M", content=OUR_LINES)
DESCRIBE_THEIRS = update("M", description="How they deploy")
DESCRIBE_OURS = update("M", description="How we deploy now")


def after(base: Mapping[str, Document], steps: tuple[Step, ...]) -> dict[str, Document | None]:
    """What stands after the steps; what they delete is None."""
    standing: dict[str, Document | None] = {
        memory: None if document.archived else document for memory, document in base.items()
    }
    for step in steps:
        before = standing.get(step.memory) or base.get(step.memory) or Document("", content="")
        standing[step.memory] = (
            None
            if step.action == "delete"
            else Document(
                before.path if step.path is None else unicodedata.normalize("NFC", step.path),
                before.description if step.description is None else step.description,
                before.content if step.content is None else step.content,
            )
        )
    return standing


def merged(
    base: Mapping[str, Document], current: tuple[Step, ...], draft: tuple[Step, ...]
) -> dict[str, Document | None]:
    """What becomes of the Memories that a Draft without conflicts touches: each field from the side that changed it."""
    start, theirs, ours = after(base, ()), after(base, current), after(base, draft)
    return {step.memory: _merged(start.get(step.memory), theirs.get(step.memory), ours[step.memory]) for step in draft}


def _merged(base: Document | None, current: Document | None, draft: Document | None) -> Document | None:
    if base is None or current is None or draft is None:
        return current if draft == base else draft
    both_edited = base.content not in (current.content, draft.content) and current.content != draft.content
    return Document(
        current.path if draft.path == base.path else draft.path,
        current.description if draft.description == base.description else draft.description,
        BOTH_LINES if both_edited else current.content if draft.content == base.content else draft.content,
    )
