"""What a folder and a snapshot are compared by: paths, bodies and descriptions, in any order."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from canonry.importing.base import snapshot_digest, survey_digest
from models.rules.hashes import blob_id, selection_body
from models.schemas.commits import BlobBody, CommitBody, Snapshot, TreeBody, TreeEntry
from tests.import_command import a_folder, surveyed

FOLDER = {"b/c.md": "---\nid: mem_c\ndescription: How back\n---\n# Roll back\n", "a.md": "# Deploy\n\nTag it.\n"}
PUBLISHED = {"a.md": ("Deploy", "# Deploy\n\nTag it.\n"), "b/c.md": ("How back", "# Roll back\n")}


def a_snapshot(published: Mapping[str, tuple[str, str]]) -> Snapshot:
    """A project's version with these descriptions and bodies by path, and its selection."""
    selection = selection_body(["mem_a"])
    texts = {body for _, body in published.values()} | {selection}
    entries = [
        TreeEntry(id=f"mem_{number}", type="memory", source="org", path=path, description=about, blob_id=blob_id(body))
        for number, (path, (about, body)) in enumerate(published.items())
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


def test_a_folder_and_a_snapshot_of_the_same_documents_are_equal(tmp_path: Path) -> None:
    assert survey_digest(surveyed(a_folder(tmp_path, FOLDER))) == snapshot_digest(a_snapshot(PUBLISHED))


@pytest.mark.parametrize(
    "published",
    [
        {"a.md": PUBLISHED["a.md"]},
        {**PUBLISHED, "more.md": ("", "More\n")},
        {**PUBLISHED, "a.md": ("Another", "# Deploy\n\nTag it.\n")},
        {**PUBLISHED, "a.md": ("Deploy", "# Deploy\n\nTag it twice.\n")},
        {"A.md": PUBLISHED["a.md"], "b/c.md": PUBLISHED["b/c.md"]},
    ],
    ids=["fewer", "more", "description", "body", "path"],
)
def test_whatever_differs_is_told_apart(tmp_path: Path, published: Mapping[str, tuple[str, str]]) -> None:
    assert survey_digest(surveyed(a_folder(tmp_path, FOLDER))) != snapshot_digest(a_snapshot(published))


def test_the_order_of_the_documents_does_not_matter() -> None:
    assert snapshot_digest(a_snapshot(PUBLISHED)) == snapshot_digest(a_snapshot(dict(reversed(PUBLISHED.items()))))


def test_bodies_and_paths_count_as_the_server_has_them(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"cafe\u0301.md": "\ufeff# Title\r\n\r\nText"}))

    assert survey_digest(found) == snapshot_digest(a_snapshot({"caf\u00e9.md": ("Title", "# Title\n\nText\n")}))


def test_a_file_without_description_and_heading_has_the_empty_description(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "Text\n"}))

    assert survey_digest(found) == snapshot_digest(a_snapshot({"a.md": ("", "Text\n")}))
