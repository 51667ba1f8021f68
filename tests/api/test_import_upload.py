"""An upload that was interrupted goes on with what is missing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from canonry.documents.folder import Found, Unreadable
from canonry.failures import CommandFailed
from canonry.importing.proposing import Proposal, stage, try_out
from canonry.importing.survey import Survey
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


class Told:
    """How far an upload said that it was: files sent, of how many."""

    def __init__(self) -> None:
        self.all: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        self.all.append((done, total))

    @property
    def last(self) -> tuple[int, int]:
        return self.all[-1]


def an_import(owner: Client, remote: Remote) -> str:
    (project,) = items(owner.get("/projects"))
    body: dict[str, JsonValue] = {"project_id": project["project_id"], "source": "test"}
    return remote.post("/imports", body, ImportBody).import_id


def staged(owner: Client, import_id: str) -> list[Json]:
    return items(owner.get(f"/imports/{import_id}/files"))


def test_every_file_is_staged_with_its_hash_description_and_id(owner: Client, remote: Remote, tmp_path: Path) -> None:
    files = {"a.md": "# A\r\n", "b/c.md": "---\nid: mem_c\ndescription: ''\n---\ntext\n", "d.md": "no heading\n"}
    found = surveyed(a_folder(tmp_path, files))
    import_id, told = an_import(owner, remote), Told()

    upload(remote, import_id, found, told)

    assert staged(owner, import_id) == [
        {"path": path, "content_hash": file.content_hash, "description": file.description, "memory_id": file.memory_id}
        for path, file in sorted(found.files.items())
    ]
    assert told.last == (3, 3)


def test_what_is_staged_already_is_not_sent_again(owner: Client, remote: Remote, tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n"}))
    import_id, told = an_import(owner, remote), Told()
    before: Json = {
        "files": [{"path": "b.md", "content": "# B\n", "description": "B"}, {"path": "c.md", "content": "x"}]
    }
    ok(owner.post(f"/imports/{import_id}/files", before))

    upload(remote, import_id, found, told)
    upload(remote, import_id, found, told)

    assert told.all == [(0, 2), (2, 2)]
    hashes = [file["content_hash"] for file in staged(owner, import_id)]
    assert hashes == [found.files[path].content_hash for path in sorted(found.files)]


def a_proposal(owner: Client, found: Survey) -> Proposal:
    (project,) = items(owner.get("/projects"))
    project_id = str(project["project_id"])
    return Proposal(project_id=project_id, folder="notes", prefix="", title="Notes", mirror=False, survey=found)


def test_a_dry_run_that_fails_on_its_way_leaves_nothing(owner: Client, remote: Remote, tmp_path: Path) -> None:
    def gone() -> Iterator[Found | Unreadable]:
        raise CommandFailed("It is gone.")

    found = replace(surveyed(a_folder(tmp_path, {"a.md": "# A\n"})), read=gone)

    with pytest.raises(CommandFailed, match=r"It is gone\."):
        try_out(remote, a_proposal(owner, found), lambda *_: None)

    assert items(owner.get("/imports")) == []


def test_a_file_that_changes_meanwhile_is_reported_and_the_rest_is_staged_under_a_label_of_its_own(
    owner: Client, remote: Remote, tmp_path: Path
) -> None:
    whole = surveyed(a_folder(tmp_path, {"a.md": "# A\n", "b.md": "# B\n"}))
    a_folder(tmp_path, {"b.md": "# Another\n"})

    done = stage(remote, a_proposal(owner, whole), lambda *_: None)

    assert [(report.path, report.code) for report in done.survey.reports] == [("b.md", "changed")]
    assert {file["path"]: file["content_hash"] is None for file in staged(owner, done.made.import_id)} == {
        "a.md": False,
        "b.md": True,
    }
    assert [each["source"] for each in items(owner.get("/imports"))] == [a_proposal(owner, done.survey).source]
    assert done.made.source != a_proposal(owner, whole).source


def test_a_dry_run_of_a_file_that_changes_meanwhile_goes_on_without_it(
    owner: Client, remote: Remote, tmp_path: Path
) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n", "b.md": "# B\n"}))
    (tmp_path / "b.md").unlink()

    tried = try_out(remote, a_proposal(owner, found), lambda *_: None)

    assert [report.code for report in tried.survey.reports] == ["changed"]
    assert [change.path for change in tried.trial.changes] == ["a.md"]
