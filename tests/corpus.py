"""Sixty Markdown files that are easy to spoil: from tests/data/corpus, and made here what tools would mend."""

import shutil
from pathlib import Path

SOURCE = Path(__file__).parent / "data" / "corpus"

LEFT_OUT = {
    "bytes/latin-1.md": "not_utf8",
    "bytes/empty.md": "operation_invalid",
    "bytes/blank.md": "operation_invalid",
    "bytes/only-front-matter.md": "operation_invalid",
}
"""The files that are no Memory, and the code that says why."""


def a_corpus(folder: Path) -> Path:
    """A new folder with the sixty files, beside hidden, ignored and linked ones that are none."""
    shutil.copytree(SOURCE, folder)
    # A name whose accents are letters of their own, as macOS wrote them, and a text near the limit.
    _write(folder, "e\u0301tudes/re\u0301sume\u0301.md", "# R\u00e9sum\u00e9\n")
    _write(folder, "odd/large.md", "# Large\n\n" + "".join(f"{number:>9} measured\n" for number in range(10_200)))
    _write(folder, ".gitignore", "/drafts/\n*.draft.md\n")
    _write(folder, "runbooks/.gitignore", "!kept.draft.md\n/private.md\n")
    for ignored in ("drafts/a.md", "odd/b.draft.md", "runbooks/private.md", ".hidden.md", ".hidden/c.md", "notes.txt"):
        _write(folder, ignored, "# Not a document\n")
    (folder / "linked.md").symlink_to("README.md")
    (folder / "linked").symlink_to("runbooks")
    return folder


def _write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_bytes(text.encode())
