"""What the people of a mixed load were told, and whether the server says the same afterwards."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Engine, text

from tests.client import Client, Json, Organization, ok
from tests.proposals import all_items, inside, texts

PAGE = 100

CHANGES = text("""
    select v.memory_id, c.review_id
    from (
        select memory_id, from_version as version from memory_versions where org_id = :o
        union
        select memory_id, to_version from memory_versions where org_id = :o and to_version is not null
    ) v
    join commits c on c.org_id = :o and c.project_id is null and c.version = v.version
    order by v.memory_id, v.version
""")


@dataclass
class Page:
    """A Memory that one person alone changes.

    Args:
        memory_id: empty until it is published.
        path: where it stands, or stood.
        body: its text.
        reviews: those that were merged into it, in order.
        deleted: whether it is gone.
        before: what it was before the last of them.
    """

    memory_id: str
    path: str
    body: str
    reviews: list[str] = field(default_factory=list)
    deleted: bool = False
    before: "Page | None" = None


@dataclass
class Book:
    """What one person knows to have happened; statuses are the last that were answered."""

    pages: list[Page] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    drafts: dict[str, str] = field(default_factory=dict)
    reviews: dict[str, str] = field(default_factory=dict)
    merged: dict[str, str] = field(default_factory=dict)
    comments: dict[str, list[str]] = field(default_factory=dict)
    operations: dict[str, str] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)


@dataclass
class Library:
    """An organization of the load: what is everybody's in it; `kept` are Memories that nobody deletes."""

    organization: Organization
    project_id: str
    reader_id: str
    contested: Page
    kept: list[str] = field(default_factory=list)
    selected: frozenset[str] = frozenset()
    selections: int = 0
    selecting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def client(self) -> Client:
        return self.organization.owner


def require_agreement(engine: Engine, library: Library, books: Sequence[tuple[Client, Book]]) -> Counter[str]:
    """Assert that an organization holds exactly what its people were told; how much of each kind was compared."""
    every = [book for _, book in books]
    for client, book in books:
        _drafts_are_as_told(client, library, book)
        _comments_stand_once(client, book)
    _reviews_are_as_told(library, every)
    _commits_are_the_merges(library, every)
    _texts_stand(library, every)
    _each_change_was_made_once(engine, library, every)
    _selection_moved_once_each(library)
    _operations_ended_as_told(engine, library, every)
    return Counter(
        {
            "operations": sum(len(book.operations) for book in every),
            "Drafts": sum(len(book.drafts) for book in every),
            "Reviews": sum(len(book.reviews) for book in every),
            "merges": sum(len(book.merged) for book in every),
            "comments": sum(len(written) for book in every for written in book.comments.values()),
            "Memories": len(_standing(every)) + 1,
            "selections": library.selections,
        }
    )


def _drafts_are_as_told(client: Client, library: Library, book: Book) -> None:
    """None was made twice, none is lost, each is in its state; those of imports are the server's to make."""
    listed = all_items_of(client, f"/drafts?project_id={library.project_id}")
    statuses = {str(draft["draft_id"]): draft["status"] for draft in listed}
    assert {draft_id: statuses.pop(draft_id, "lost") for draft_id in book.drafts} == book.drafts
    assert "open" not in statuses.values()


def _comments_stand_once(client: Client, book: Book) -> None:
    for review_id, written in book.comments.items():
        shown = all_items_of(client, f"/reviews/{review_id}/comments")
        assert [comment["body"] for comment in shown] == written, review_id


def _reviews_are_as_told(library: Library, books: Sequence[Book]) -> None:
    told = {review_id: status for book in books for review_id, status in book.reviews.items()}
    shown = all_items_of(library.client, "/reviews")
    assert {str(review["review_id"]): review["status"] for review in shown} == told


def _commits_are_the_merges(library: Library, books: Sequence[Book]) -> None:
    """Each merge has the one commit that its answer named, and there is no other."""
    told = {review_id: commit_id for book in books for review_id, commit_id in book.merged.items()}
    commits = all_items_of(library.client, "/org/commits")
    assert len(commits) == len(told)
    assert {str(commit["review_id"]): commit["commit_id"] for commit in commits} == told


def _texts_stand(library: Library, books: Sequence[Book]) -> None:
    """By path, the texts that their authors know, the contested one aside."""
    latest = ok(library.client.get("/org/commit-state"))
    snapshot = ok(library.client.get(f"/commits/{inside(latest, 'latest')['commit_id']}"))
    blobs = {blob["blob_id"]: blob["content"] for blob in _objects(snapshot["blobs"])}
    entries = _objects(inside(snapshot, "tree")["entries"])
    shown = {str(entry["path"]): blobs[entry["blob_id"]] for entry in entries}
    shown.pop(library.contested.path)
    assert shown == _standing(books)


def _standing(books: Iterable[Book]) -> dict[str, str]:
    """The texts that have to stand, by path."""
    standing: dict[str, str] = {}
    for book in books:
        standing |= {page.path: page.body for page in book.pages if not page.deleted}
        standing |= book.files
    return standing


def _each_change_was_made_once(engine: Engine, library: Library, books: Sequence[Book]) -> None:
    """A Memory has the versions that its merged Reviews made, in their order; so has the contested one, in any.

    Whoever wins it next may hear of that before the one who won it last.
    """
    told = {page.memory_id: page.reviews for book in books for page in book.pages}
    shown = changes_of(engine, library)
    assert {memory_id: shown.get(memory_id) for memory_id in told} == told
    assert sorted(shown[library.contested.memory_id]) == sorted(library.contested.reviews)


def changes_of(engine: Engine, library: Library) -> dict[str, list[str]]:
    """The Reviews that opened or ended a version of a Memory, by Memory, oldest first."""
    changes: dict[str, list[str]] = {}
    with engine.connect() as connection:
        for memory_id, review_id in connection.execute(CHANGES, {"o": library.organization.organization_id}):
            changes.setdefault(memory_id, []).append(review_id)
    return changes


def _selection_moved_once_each(library: Library) -> None:
    selection = ok(library.client.get(f"/projects/{library.reader_id}/org-selections"))
    assert set(texts(selection, "resource_ids")) == library.selected
    told = [commit for commit in _reader_commits(library) if commit["review_id"] is None]
    assert len(told) == library.selections


def _reader_commits(library: Library) -> list[Json]:
    return all_items_of(library.client, f"/projects/{library.reader_id}/commits")


def _operations_ended_as_told(engine: Engine, library: Library, books: Sequence[Book]) -> None:
    """Every command that was accepted has ended as its client knows.

    One that nobody knows of is a merge that fell due, or a selection, asked for again without a key when its answer was
    lost: that changed nothing.
    """
    told = {operation_id: status for book in books for operation_id, status in book.operations.items()}
    with engine.connect() as connection:
        rows = connection.execute(
            text("select operation_id, kind, status from operations where org_id = :o"),
            {"o": library.organization.organization_id},
        ).all()
    shown = {row.operation_id: row.status for row in rows}
    assert {operation_id: shown.get(operation_id, "lost") for operation_id in told} == told
    unknown = [(row.kind, row.status) for row in rows if row.operation_id not in told]
    assert set(unknown) <= {
        ("selection.replace", "failed"),
        ("selection.replace", "succeeded"),
        ("review.merge", "succeeded"),
    }
    assert unknown.count(("review.merge", "succeeded")) == sum(book.done["published on time"] for book in books)


def all_items_of(client: Client, path: str) -> list[Json]:
    """Every item of a list."""
    return all_items(client, path, limit=PAGE)


def _objects(value: object) -> list[Json]:
    assert isinstance(value, list)
    return [item for item in value if isinstance(item, dict)]
