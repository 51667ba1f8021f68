"""Sixty difficult files: imported, reviewed, merged, exported and imported again."""

from pathlib import Path

import pytest

from canonry.documents.folder import Found, read_folder
from canonry.documents.front_matter import read_document
from models.rules.hashes import content_hash
from tests.client import Client, ok
from tests.corpus import LEFT_OUT, a_corpus
from tests.export_command import export
from tests.import_command import import_folder
from tests.proposals import a_place, all_items, inside

pytestmark = pytest.mark.usefixtures("worker")

FILES_LEFT_OUT = 3


def published(client: Client) -> dict[str, tuple[str, str, str]]:
    """Id, description and hash of every Memory, by path."""
    return {
        str(memory["path"]): (str(memory["memory_id"]), str(memory["description"]), str(memory["content_hash"]))
        for memory in all_items(client, "/org/memories", limit=100)
    }


def test_bodies_descriptions_ids_and_the_tree_survive_the_way_there_and_back(api: Client, tmp_path: Path) -> None:
    (first, _), (second, _) = a_place(api), a_place(api)
    corpus = a_corpus(tmp_path / "corpus")

    done = import_folder(first.owner, corpus, "--merge", code=FILES_LEFT_OUT)
    assert all(path in done.stdout + done.stderr for path in LEFT_OUT)
    there = published(first.owner)
    expected = {}
    for item in read_folder(corpus):
        if isinstance(item, Found) and item.path not in LEFT_OUT:
            document = read_document(item.text)
            expected[item.path] = (document.description or "", content_hash(document.body))
    assert {path: rest for path, (_, *rest) in there.items()} == {path: [*rest] for path, rest in expected.items()}
    assert there["runbooks/known-id.md"][0] == "ctx_pump-07"

    export(first.owner, tmp_path / "exported")
    import_folder(second.owner, tmp_path / "exported", "--merge")
    assert published(second.owner) == there
    trees = [inside(ok(each.owner.get("/org/commit-state")), "latest")["tree_id"] for each in (first, second)]
    assert len(set(trees)) == 1
