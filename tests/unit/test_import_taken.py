"""When a version differs by what was imported of a folder alone: paths, bodies, descriptions and ids."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from canonry.importing.survey import Survey
from canonry.importing.taken import is_only_taken, taken_of
from models.rules.hashes import blob_id, selection_body
from models.schemas.commits import BlobBody, CommitBody, Snapshot, TreeBody, TreeEntry
from tests.import_command import a_folder, surveyed

Document = tuple[str, str, str]
"""The path, description and body of a Memory."""

DEPLOY, ROLLBACK = ("deploy.md", "Deploy", "# Deploy\n"), ("rollback.md", "How back", "# Roll back\n")
MINE = ("deploy.md", "Deploy", "# Deploy\n\nMine.\n")
WAS: Mapping[str, Document] = {"mem_1": DEPLOY, "mem_2": ROLLBACK}


def a_snapshot(documents: Mapping[str, Document]) -> Snapshot:
    """A project's version with these Memories by id, and its selection."""
    selection = selection_body([*documents])
    texts = {body for _, _, body in documents.values()} | {selection}
    entries = [
        TreeEntry(id=memory_id, type="memory", source="org", path=path, description=about, blob_id=blob_id(body))
        for memory_id, (path, about, body) in documents.items()
    ]
    selected = TreeEntry(
        id="selection",
        type="project_org_selection",
        source="config",
        path=None,
        description="",
        blob_id=blob_id(selection),
    )
    commit = CommitBody(
        commit_id="c",
        scope="project",
        org_id="org_1",
        project_id="prj_1",
        version=1,
        parent_commit_id=None,
        tree_id="t",
        message="",
        review_id=None,
        created_by="usr_1",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        org_commit_id="o",
        selection_revision=1,
    )
    return Snapshot(
        commit=commit,
        tree=TreeBody(tree_id="t", entries=[*entries, selected]),
        blobs=[BlobBody(blob_id=blob_id(text), content=text) for text in texts],
        project_org_selection=None,
    )


def a_survey(folder: Path, documents: Mapping[str, Document]) -> Survey:
    """A folder of these documents, whose keys are their ids where they begin with `mem_`."""
    return surveyed(a_folder(folder, {document[0]: _text(key, document) for key, document in documents.items()}))


def _text(key: str, document: Document) -> str:
    identity = f"id: {key}\n" if key.startswith("mem_") else ""
    return f"---\n{identity}description: {document[1]}\n---\n{document[2]}"


def settled(then: Mapping[str, Document] | None, now: Mapping[str, Document], found: Survey, *left_out: str) -> bool:
    """Whether nothing but what was taken of the folder, all but what was left out, has changed."""
    before = None if then is None else a_snapshot(then)
    return is_only_taken(before, a_snapshot(now), taken_of(found, left_out, {}), found)


def test_what_was_taken_is_known_again(tmp_path: Path) -> None:
    assert settled(WAS, {**WAS, "mem_1": MINE}, a_survey(tmp_path, {**WAS, "mem_1": MINE}))


def test_what_was_left_out_has_no_say_as_long_as_it_is_published_as_it_was(tmp_path: Path) -> None:
    edited = ("rollback.md", "How back", "# Mine as well\n")
    found = a_survey(tmp_path, {"mem_1": MINE, "mem_2": edited})
    assert settled(WAS, {**WAS, "mem_1": MINE}, found, "rollback.md")
    assert not settled(WAS, {"mem_1": MINE, "mem_2": edited}, found, "rollback.md")


@pytest.mark.parametrize(
    "now",
    [
        {**WAS, "mem_1": MINE, "mem_3": ("more.md", "", "More\n")},
        {**WAS, "mem_1": ("deploy.md", "Another", MINE[2])},
        {**WAS, "mem_1": ("deploy.md", "Deploy", "# Deploy\n\nTheirs.\n")},
        {**WAS, "mem_1": ("Deploy.md", *MINE[1:])},
        {"mem_1": MINE},
        {"mem_2": ROLLBACK, "mem_3": MINE},
    ],
    ids=["more", "description", "body", "path", "fewer", "another Memory"],
)
def test_whatever_others_have_changed_is_told_apart(tmp_path: Path, now: Mapping[str, Document]) -> None:
    assert not settled(WAS, now, a_survey(tmp_path, {**WAS, "mem_1": MINE}))


def test_a_memory_that_has_no_file_may_be_gone(tmp_path: Path) -> None:
    assert settled(WAS, {"mem_1": MINE}, a_survey(tmp_path, {"mem_1": MINE}))


def test_a_file_that_was_moved_by_its_id_is_known_where_its_memory_went(tmp_path: Path) -> None:
    moved = ("ops/deploy.md", *MINE[1:])
    assert settled(WAS, {**WAS, "mem_1": moved}, a_survey(tmp_path, {**WAS, "mem_1": moved}))


@pytest.mark.parametrize("copied", ["mem_1", "original"])
def test_a_copy_is_not_the_memory_that_others_have_moved_there(tmp_path: Path, copied: str) -> None:
    there = ("ops/deploy.md", *DEPLOY[1:])
    found = a_survey(tmp_path, {copied: DEPLOY, "mem_2": ROLLBACK, "copy": there})
    assert not settled(WAS, {**WAS, "mem_1": there}, found)


def test_files_without_ids_are_known_by_their_paths(tmp_path: Path) -> None:
    new = ("new.md", "", "New\n")
    found = a_survey(tmp_path, {"deploy": MINE, "rollback": ROLLBACK, "new": new})
    assert settled(WAS, {"mem_1": MINE, "mem_2": ROLLBACK, "mem_3": new}, found)


def test_of_a_version_that_is_not_known_every_memory_has_to_be_taken(tmp_path: Path) -> None:
    found = a_survey(tmp_path, WAS)
    assert settled(None, WAS, found)
    assert not settled(None, {**WAS, "mem_3": ("more.md", "", "More\n")}, found)


def test_bodies_and_paths_count_as_the_server_has_them(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"cafe\u0301.md": "\ufeff# Title\r\n\r\nText"}))
    assert settled({}, {"mem_1": ("caf\u00e9.md", "Title", "# Title\n\nText\n")}, found)


def test_a_file_without_description_and_heading_leaves_the_description_as_it_is(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "Text\n"}))
    assert settled({}, {"mem_1": ("a.md", "About", "Text\n")}, found)


def test_what_was_taken_before_stays_noted_of_a_file_that_is_left_out_and_still_there(tmp_path: Path) -> None:
    found = a_survey(tmp_path, WAS)
    noted = taken_of(found, ["deploy.md"], {"deploy.md": "before", "rollback.md": "before", "gone.md": "before"})
    assert (noted["deploy.md"], [*noted]) == ("before", ["deploy.md", "rollback.md"])
    assert noted["rollback.md"] != "before"
