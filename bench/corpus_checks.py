"""Whether an organization holds the corpus: by a reading of its own, not by the code that imported it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from models.rules.bodies import accept_body
from tests.client import Client, Json, ok
from tests.proposals import inside, listed

FENCE = "---\n"


@dataclass(frozen=True)
class Document:
    """A Memory as a snapshot has it."""

    memory_id: str
    path: str
    description: str
    body: str


@dataclass(frozen=True)
class Snapshot:
    """The latest commit of an organization or a project."""

    tree_id: str
    documents: Sequence[Document]


def snapshot(client: Client, scope: str) -> Snapshot:
    """Read the latest commit; `scope` is `org` or `projects/{id}`."""
    latest = inside(ok(client.get(f"/{scope}/commit-state")), "latest")
    whole = ok(client.get(f"/commits/{latest['commit_id']}"))
    bodies = {str(blob["blob_id"]): str(blob["content"]) for blob in listed(whole, "blobs")}
    entries = listed(inside(whole, "tree"), "entries")
    return Snapshot(
        str(latest["tree_id"]),
        [_document(entry, bodies) for entry in entries if entry["type"] == "memory"],
    )


def _document(entry: Json, bodies: Mapping[str, str]) -> Document:
    return Document(str(entry["id"]), str(entry["path"]), str(entry["description"]), bodies[str(entry["blob_id"])])


def require_corpus(corpus: Path, left_out: Collection[str], held: Snapshot) -> int:
    """Assert that every file that was not left out is held, word for word; how many descriptions were compared."""
    found = {document.path: document for document in held.documents}
    files = {file.relative_to(corpus).as_posix(): file for file in corpus.rglob("*") if file.is_file()}
    assert found.keys() == files.keys() - set(left_out)
    return sum(_require_document(files[path].read_bytes().decode("utf-8"), found[path]) for path in found)


def _require_document(written: str, held: Document) -> bool:
    """Assert that a Memory is a file's; whether the file's front matter has a description.

    `id` and `description` have left the front matter, all else is there with the values it had; what follows it is
    equal byte by byte, once normalized.
    """
    keys, rest = _read(accept_body(written))
    described = isinstance(keys.get("description"), str)
    if described:
        assert held.description == str(keys["description"]).strip(), held.path
    moved = {"id", "description"} if described else {"id"}
    held_keys, held_rest = _read(held.body)
    assert held_keys == {name: value for name, value in keys.items() if name not in moved}, held.path
    assert accept_body(held_rest) == accept_body(rest), held.path
    return described


def _read(text: str) -> tuple[Mapping[str, object], str]:
    """The keys of front matter, and what follows it; none and all where there is no such block."""
    if text.startswith(FENCE):
        block, closing, rest = text.removeprefix(FENCE).partition(f"\n{FENCE}")
        keys = yaml.safe_load(block) if closing else None
        if isinstance(keys, dict):
            return keys, rest
    return {}, text
