import copy
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, cast

import pytest
from pydantic import JsonValue

from models.identifiers import CommitId, OrganizationId, ProjectId, TreeId, UserId
from models.rules.hashes import (
    SELECTION_ENTRY_ID,
    CommitFields,
    blob_id,
    commit_id,
    entry_digest,
    instant,
    selection_body,
    tree_id_of_entries,
)

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "hashes.md"
Document = dict[str, JsonValue]


class Verify(Protocol):
    def __call__(self, document: Document) -> None: ...


def the_published_verify() -> Verify:
    [block] = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    exec(block, names)  # noqa: S102  (the page's own code is what is tested)
    return cast("Verify", names["verify"])


def a_snapshot(texts: dict[str, tuple[str, str, str]], selected: list[str] | None) -> Document:
    """A snapshot as `GET /v1/api/commits/{id}` answers it; with `selected`, that of a project."""
    entries: list[dict[str, JsonValue]] = [
        an_entry(memory_id, path, description, text) for memory_id, (path, description, text) in texts.items()
    ]
    contents = [text for _, _, text in texts.values()]
    if selected is not None:
        contents.append(selection_body(selected))
        entries.append(an_entry(SELECTION_ENTRY_ID, None, "", contents[-1]))
    digests = {
        str(entry["id"]): entry_digest(
            memory_id=str(entry["id"]),
            path=cast("str | None", entry["path"]),
            description=str(entry["description"]),
            blob_id=str(entry["blob_id"]),
        )
        for entry in entries
    }
    fields = CommitFields(
        scope="org" if selected is None else "project",
        org_id=OrganizationId("org_1"),
        project_id=None if selected is None else ProjectId("prj_1"),
        version=7,
        parent_commit_id=CommitId("0" * 64),
        tree_id=tree_id_of_entries(digests),
        message='Größe "neu" \\ 😀\t',
        review_id=None,
        created_by=UserId("usr_1"),
        created_at=datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC),
        org_commit_id=None if selected is None else CommitId("1" * 64),
        selection_revision=None if selected is None else 3,
    )
    return {
        "commit": commit_document(fields),
        "tree": {"tree_id": fields.tree_id, "entries": cast("JsonValue", entries)},
        "blobs": [{"blob_id": blob_id(text), "content": text} for text in dict.fromkeys(contents)],
        "project_org_selection": None
        if selected is None
        else {"revision": 3, "resource_ids": cast("JsonValue", selected)},
    }


def an_entry(entry_id: str, path: str | None, description: str, text: str) -> dict[str, JsonValue]:
    return {"id": entry_id, "path": path, "description": description, "blob_id": blob_id(text)}


def commit_document(fields: CommitFields) -> Document:
    return {
        "commit_id": commit_id(fields),
        "scope": fields.scope,
        "org_id": fields.org_id,
        "project_id": fields.project_id,
        "version": fields.version,
        "parent_commit_id": fields.parent_commit_id,
        "tree_id": fields.tree_id,
        "message": fields.message,
        "review_id": fields.review_id,
        "created_by": fields.created_by,
        "created_at": instant(fields.created_at),
        "org_commit_id": fields.org_commit_id,
        "selection_revision": fields.selection_revision,
    }


TEXTS = {
    "mem_0": ("größe.md", "How big", "groß\n"),
    "mem_11": ("a/b.md", "", "same\n"),  # in one bucket with mem_0
    "mem_2": ("c.md", "", "same\n"),
}


def an_organization_snapshot() -> Document:
    return a_snapshot(TEXTS, None)


def a_project_snapshot() -> Document:
    return a_snapshot(TEXTS, ["mem_2", "mem_0", "mem_11"])


def test_the_published_code_accepts_an_organizations_snapshot() -> None:
    the_published_verify()(an_organization_snapshot())


def test_the_published_code_accepts_an_empty_snapshot() -> None:
    the_published_verify()(a_snapshot({}, None))


def test_the_published_code_accepts_a_projects_snapshot_whose_selection_has_no_path() -> None:
    the_published_verify()(a_project_snapshot())


def test_the_published_code_accepts_entries_and_blobs_in_any_order() -> None:
    backwards = dict(reversed(TEXTS.items()))
    the_published_verify()(a_snapshot(backwards, ["mem_11", "mem_2", "mem_0"]))


def changed(at: str, value: JsonValue) -> Callable[[Document], None]:
    """A change of the member that `at` leads to, as in `tree.entries.0.path`."""
    *way, last = at.split(".")

    def change(document: Document) -> None:
        place: JsonValue = document
        for step in way:
            place = place[int(step)] if isinstance(place, list) else cast("Document", place)[step]
        cast("Document", place)[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        changed("blobs.0.content", "klein\n"),
        changed("blobs.0.blob_id", blob_id("same\n")),
        changed("tree.entries.0.id", "mem_9"),
        changed("tree.entries.0.path", "other.md"),
        changed("tree.entries.0.description", "How small"),
        changed("tree.entries.0.blob_id", blob_id("same\n")),
        changed("tree.tree_id", "2" * 64),
        changed("commit.tree_id", TreeId("2" * 64)),
        changed("commit.commit_id", "2" * 64),
        changed("commit.message", "another"),
        changed("commit.version", 8),
        changed("commit.project_id", None),
        changed("commit.created_at", "2026-03-04T05:06:07Z"),
        changed("project_org_selection.resource_ids", ["mem_0"]),
    ],
)
def test_the_published_code_refuses_a_snapshot_in_which_anything_was_changed(
    change: Callable[[Document], None],
) -> None:
    document = copy.deepcopy(a_project_snapshot())
    change(document)
    with pytest.raises((ValueError, KeyError)):
        the_published_verify()(document)
