"""A version that came over the wire is taken for what its id says, or not at all."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from canonry.failures import CommandFailed
from canonry.snapshots import fetch_commit, fetch_next, fetch_snapshot
from models.rules.hashes import CommitFields, blob_id, commit_id, entry_digest, selection_body, tree_id_of_entries
from models.schemas.commits import BlobBody, CommitBody, CommitSelection, Delta, Snapshot, TreeBody, TreeEntry
from tests.false_server import serving

SELECTION = ["mem_1"]


def a_snapshot() -> Snapshot:
    """A project's version of one Memory and the selection."""
    texts = ["text\n", selection_body(SELECTION)]
    memory, selection = (blob_id(text) for text in texts)
    entries = [
        TreeEntry(id="mem_1", type="memory", source="org", path="a.md", description="A", blob_id=memory),
        TreeEntry(
            id="project_org_selection",
            type="project_org_selection",
            source="config",
            path=None,
            description="",
            blob_id=selection,
        ),
    ]
    digests = {
        each.id: entry_digest(memory_id=each.id, path=each.path, description=each.description, blob_id=each.blob_id)
        for each in entries
    }
    commit = CommitBody(
        commit_id="",
        scope="project",
        org_id="org_1",
        project_id="prj_1",
        version=2,
        parent_commit_id="0" * 64,
        tree_id=tree_id_of_entries(digests),
        message="Begin",
        review_id="rev_1",
        created_by="usr_1",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        org_commit_id="1" * 64,
        selection_revision=1,
    )
    commit = commit.model_copy(update={"commit_id": commit_id(CommitFields.of(dict(commit)))})
    return Snapshot(
        commit=commit,
        tree=TreeBody(tree_id=commit.tree_id, entries=entries),
        blobs=[BlobBody(blob_id=blob_id(text), content=text) for text in texts],
        project_org_selection=CommitSelection(revision=1, resource_ids=SELECTION),
    )


def fetched(sent: Snapshot, wanted: str) -> Snapshot:
    content = sent.model_dump_json().encode()
    with serving(lambda _method, _body: (200, "application/json", content)) as remote:
        return fetch_snapshot(remote, wanted)


def test_a_version_whose_hashes_are_right_is_taken() -> None:
    whole = a_snapshot()
    assert fetched(whole, whole.commit.commit_id) == whole


def of_commit(**fields: object) -> Callable[[Snapshot], Snapshot]:
    return lambda whole: whole.model_copy(update={"commit": whole.commit.model_copy(update=fields)})


def of_entry(**fields: object) -> Callable[[Snapshot], Snapshot]:
    def changed(whole: Snapshot) -> Snapshot:
        first, *others = whole.tree.entries
        entries = [first.model_copy(update=fields), *others]
        return whole.model_copy(update={"tree": whole.tree.model_copy(update={"entries": entries})})

    return changed


def without_a_text(whole: Snapshot) -> Snapshot:
    return whole.model_copy(update={"blobs": whole.blobs[1:]})


def with_another_text(whole: Snapshot) -> Snapshot:
    changed = whole.blobs[0].model_copy(update={"content": "other\n"})
    return whole.model_copy(update={"blobs": [changed, *whole.blobs[1:]]})


def with_another_selection(whole: Snapshot) -> Snapshot:
    return whole.model_copy(update={"project_org_selection": CommitSelection(revision=1, resource_ids=[])})


@pytest.mark.parametrize(
    "change",
    [
        of_commit(message="Other"),
        of_commit(created_by="usr_2"),
        of_commit(created_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(microseconds=1)),
        of_commit(parent_commit_id="2" * 64),
        of_commit(version=3),
        of_commit(tree_id="3" * 64),
        of_commit(commit_id="4" * 64),
        of_entry(path="b.md"),
        of_entry(description="B"),
        without_a_text,
        with_another_text,
        with_another_selection,
    ],
)
def test_a_version_of_which_anything_is_changed_is_refused(change: Callable[[Snapshot], Snapshot]) -> None:
    whole = a_snapshot()
    with pytest.raises(CommandFailed, match=f"is not commit {whole.commit.commit_id}: "):
        fetched(change(whole), whole.commit.commit_id)


def a_next(whole: Snapshot) -> tuple[Snapshot, Delta]:
    """The version after one, in which the Memory has moved and has another text, and what leads there."""
    content = "other\n"
    memory, selection = whole.tree.entries
    moved = memory.model_copy(update={"path": "b.md", "blob_id": blob_id(content)})
    digests = {
        each.id: entry_digest(memory_id=each.id, path=each.path, description=each.description, blob_id=each.blob_id)
        for each in (moved, selection)
    }
    tree_id = tree_id_of_entries(digests)
    fields = {"version": 3, "parent_commit_id": whole.commit.commit_id, "tree_id": tree_id}
    commit = whole.commit.model_copy(update=fields)
    commit = commit.model_copy(update={"commit_id": commit_id(CommitFields.of(dict(commit)))})
    text = BlobBody(blob_id=blob_id(content), content=content)
    after = Snapshot(
        commit=commit,
        tree=TreeBody(tree_id=tree_id, entries=[moved, selection]),
        blobs=[whole.blobs[1], text],
        project_org_selection=whole.project_org_selection,
    )
    delta = Delta(
        base=whole.commit.commit_id,
        target=commit.commit_id,
        commit=commit,
        tree_id=tree_id,
        upserted=[moved],
        removed=[],
        blobs=[text],
        project_org_selection=whole.project_org_selection,
    )
    return after, delta


def brought_on(known: Snapshot, sent: Delta, wanted: str) -> Snapshot:
    content = sent.model_dump_json().encode()
    with serving(lambda _method, _body: (200, "application/json", content)) as remote:
        return fetch_next(remote, known, wanted)


def test_a_version_is_made_of_a_known_one_and_what_differs() -> None:
    whole = a_snapshot()
    after, delta = a_next(whole)
    assert brought_on(whole, delta, after.commit.commit_id) == after


@pytest.mark.parametrize(
    "change",
    [
        {"removed": ["project_org_selection"]},
        {"upserted": []},
        {"blobs": []},
        {"blobs": [BlobBody(blob_id=blob_id("other\n"), content="another\n")]},
        {"tree_id": "3" * 64},
        {"project_org_selection": None},
    ],
)
def test_a_delta_of_which_anything_is_changed_is_refused(change: dict[str, object]) -> None:
    whole = a_snapshot()
    after, delta = a_next(whole)
    with pytest.raises(CommandFailed, match=f"is not commit {after.commit.commit_id}: "):
        brought_on(whole, delta.model_copy(update=change), after.commit.commit_id)


def test_a_commit_alone_is_taken_by_its_hash() -> None:
    whole = a_snapshot()
    same = Delta(
        base=whole.commit.commit_id,
        target=whole.commit.commit_id,
        commit=whole.commit,
        tree_id=whole.tree.tree_id,
        upserted=[],
        removed=[],
        blobs=[],
        project_org_selection=whole.project_org_selection,
    )
    other = same.model_copy(update={"commit": whole.commit.model_copy(update={"message": "Other"})})
    for sent, is_taken in ((same, True), (other, False)):
        content = sent.model_dump_json().encode()
        with serving(lambda _method, _body, content=content: (200, "application/json", content)) as remote:  # type: ignore[misc]
            try:
                taken = fetch_commit(remote, whole.commit.commit_id) == whole.commit
            except CommandFailed:
                taken = False
        assert taken is is_taken
