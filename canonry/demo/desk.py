"""Drafts and Reviews as the people of the demonstration handle them.

Every function looks at what there is and does what is missing, so that a run that was killed anywhere is gone on with.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue

from canonry.importing.reviewing import read_review
from canonry.remote import Remote
from models.schemas.commits import CommitBody
from models.schemas.drafts import DraftBody, DraftListItem
from models.schemas.operations import OperationView
from models.schemas.reviews import CommentBody, MergeResult, ReviewBody, ReviewListItem

PROPOSALS = Path(__file__).parent / "proposals"


def find_review(remote: Remote, project_id: str, title: str) -> ReviewBody | None:
    """The newest Review of that title that nobody has withdrawn."""
    for review in remote.items("/reviews", ReviewListItem, project_id=project_id):
        if review.title == title and review.status != "withdrawn":
            return read_review(remote, review.review_id)
    return None


def draft(author: Remote, project_id: str, title: str, operations: Sequence[JsonValue]) -> DraftBody:
    """A Draft with these operations, the one that an interrupted run has left where there is one."""
    for known in author.items("/drafts", DraftListItem, project_id=project_id):
        if known.title == title and known.status in ("open", "submitted"):
            return read_draft(author, known.draft_id)
    return author.post("/drafts", {"project_id": project_id, "title": title, "operations": [*operations]}, DraftBody)


def read_draft(author: Remote, draft_id: str) -> DraftBody:
    """The Draft as it is now."""
    return author.get(f"/drafts/{draft_id}", DraftBody)


def append(author: Remote, known: DraftBody, operation: JsonValue) -> DraftBody:
    """One more operation at the end of the Draft."""
    path = f"/drafts/{known.draft_id}/operations"
    return author.post(path, {"operations": [operation]}, DraftBody, version=known.version)


def creation(path: str, file: str, description: str) -> JsonValue:
    """The operation that makes a document of one of our texts."""
    return {"action": "create", "path": path, "content": {"content": proposed(file), "description": description}}


def proposed(file: str) -> str:
    """One of the texts that are proposed in the course of the story."""
    return (PROPOSALS / file).read_text(encoding="utf-8")


def submit(author: Remote, title: str, drafts: Sequence[DraftBody]) -> ReviewBody:
    """Propose the Drafts together, unless an interrupted run has done so a moment ago."""
    first = drafts[0]
    if first.review_id is not None:
        return read_review(author, first.review_id)
    body: dict[str, JsonValue] = {"project_id": first.project_id, "title": title, "drafts": _references(drafts)}
    return author.command("/reviews", body, ReviewBody, key=f"demo/submit/{first.draft_id}/{first.version}")


def resubmit(author: Remote, review: ReviewBody, drafts: Sequence[DraftBody]) -> ReviewBody:
    """Propose the Drafts again, as they are now."""
    body: dict[str, JsonValue] = {"expected_review_version": review.version, "drafts": _references(drafts)}
    return author.command(f"/reviews/{review.review_id}/submissions", body, ReviewBody, key=_key("resubmit", review))


def approve(reviewer: Remote, review: ReviewBody) -> ReviewBody:
    """Approve exactly what the Review comes to now."""
    return _decide(reviewer, review, "approved", None)


def reject(reviewer: Remote, review: ReviewBody, reason: str) -> ReviewBody:
    """Send it back with a reason."""
    return _decide(reviewer, review, "rejected", reason)


def ask_to_merge(reviewer: Remote, review: ReviewBody) -> OperationView:
    """Ask for publication and return as soon as that is accepted; asked again, it is the same operation."""
    body: dict[str, JsonValue] = {
        "expected_review_version": review.version,
        "expected_result_hash": review.result_hash,
    }
    return reviewer.post(f"/reviews/{review.review_id}/merges", body, OperationView, key=_key("merge", review))


def merge(reviewer: Remote, review: ReviewBody) -> MergeResult:
    """Publish it."""
    return reviewer.outcome(ask_to_merge(reviewer, review), MergeResult)


def comment(remote: Remote, review: ReviewBody, body: str, anchor: tuple[str, int] | None = None) -> CommentBody:
    """Say something about the Review, or about a line of what it proposes; said already, it is not said twice."""
    for known in comments(remote, review):
        if known.body == body:
            return known
    said: dict[str, JsonValue] = {"body": body}
    if anchor is not None:
        said["anchor_path"], said["anchor_line"] = anchor
    return remote.post(f"/reviews/{review.review_id}/comments", said, CommentBody)


def comments(remote: Remote, review: ReviewBody) -> list[CommentBody]:
    """What was said, oldest first."""
    return list(remote.items(f"/reviews/{review.review_id}/comments", CommentBody))


def resolve(remote: Remote, review: ReviewBody, settled: CommentBody) -> CommentBody:
    """Say that what a comment asks for is settled."""
    path = f"/reviews/{review.review_id}/comments/{settled.comment_id}"
    return remote.patch(path, {"resolved": True}, CommentBody)


def commits_of(remote: Remote, review: ReviewBody) -> list[CommitBody]:
    """The organization's commits that published the Review: one, once it is merged."""
    return [commit for commit in remote.items("/org/commits", CommitBody) if commit.review_id == review.review_id]


def _decide(reviewer: Remote, review: ReviewBody, decision: str, reason: str | None) -> ReviewBody:
    body: dict[str, JsonValue] = {"decision": decision, "expected_review_version": review.version}
    if reason is not None:
        body["body"] = reason
    return reviewer.command(f"/reviews/{review.review_id}/decisions", body, ReviewBody, key=_key(decision, review))


def _references(drafts: Sequence[DraftBody]) -> list[JsonValue]:
    return [{"draft_id": draft.draft_id, "expected_draft_version": draft.version} for draft in drafts]


def _key(command: str, review: ReviewBody) -> str:
    return f"demo/{command}/{review.review_id}/{review.version}"
