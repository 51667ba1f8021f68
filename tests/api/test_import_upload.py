"""An upload that was interrupted goes on with what is missing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from canonry.failures import CommandFailed
from canonry.importing.proposing import Proposal, try_out
from canonry.importing.upload import upload
from canonry.remote import Remote
from models.schemas.imports import ImportBody
from tests.client import Client, Json, items, ok
from tests.import_command import a_folder, surveyed
from tests.proposals import a_place


@pytest.fixture
def owner(api: Client) -> Client:
    organization, _ = a_place(api)
    return organization.owner


@pytest.fixture
def remote(owner: Client) -> Iterator[Remote]:
    said: list[str] = []
    reached = Remote(owner.base_url, str(owner.token), said.append)
    yield reached
    reached.close()
    assert said == []


def an_import(owner: Client, remote: Remote) -> str:
    (project,) = items(owner.get("/projects"))
    body: dict[str, JsonValue] = {"project_id": project["project_id"], "source": "test"}
    return remote.post("/imports", body, ImportBody).import_id


def staged(owner: Client, import_id: str) -> list[Json]:
    return items(owner.get(f"/imports/{import_id}/files"))


def test_every_file_is_staged_with_its_hash_description_and_id(owner: Client, remote: Remote, tmp_path: Path) -> None:
    files = {"a.md": "# A\r\n", "b/c.md": "---\nid: mem_c\ndescription: ''\n---\ntext\n", "d.md": "no heading\n"}
    found = surveyed(a_folder(tmp_path, files))
    import_id, told = an_import(owner, remote), list[int]()

    upload(remote, import_id, found, told.append)

    assert staged(owner, import_id) == [
        {"path": path, "content_hash": file.content_hash, "description": file.description, "memory_id": file.memory_id}
        for path, file in sorted(found.files.items())
    ]
    assert told == [0, 3]


def test_what_is_staged_already_is_not_sent_again(owner: Client, remote: Remote, tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n"}))
    import_id, told = an_import(owner, remote), list[int]()
    before: Json = {
        "files": [{"path": "b.md", "content": "# B\n", "description": "B"}, {"path": "c.md", "content": "x"}]
    }
    ok(owner.post(f"/imports/{import_id}/files", before))

    upload(remote, import_id, found, told.append)
    upload(remote, import_id, found, told.append)

    assert told == [1, 3, 3]
    hashes = [file["content_hash"] for file in staged(owner, import_id)]
    assert hashes == [found.files[path].content_hash for path in sorted(found.files)]


def test_a_dry_run_that_fails_on_its_way_leaves_nothing(owner: Client, remote: Remote, tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n"}))
    (project,) = items(owner.get("/projects"))
    proposal = Proposal(project_id=str(project["project_id"]), prefix="", title="Notes", mirror=False, survey=found)
    (tmp_path / "a.md").write_text("# Another\n")

    with pytest.raises(CommandFailed, match=r"a\.md has changed"):
        try_out(remote, proposal, lambda *_: None)

    assert items(owner.get("/imports")) == []
