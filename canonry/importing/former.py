"""What earlier runs of the command have made of the folder: an import to go on with, or Reviews still open."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from canonry.importing.proposing import Proposal, Teller, start
from canonry.importing.reviewing import read_review
from canonry.refusals import Refused, sentence_of
from canonry.remote import Remote
from models.errors import ApprovalsMissing, ReviewClosed, SelfApproval, VersionConflict
from models.schemas.imports import ImportBody, ImportListItem
from models.schemas.reviews import ReviewBody, ReviewListItem

REVIEWABLE = ("open", "approved")
"""The states of a Review that can still be merged."""

# People may still give these.
APPROVALS = frozenset({ApprovalsMissing.code, SelfApproval.code})

# Every try reads the version anew; nobody edits a Review this often.
TRIES = 5


@dataclass(frozen=True, slots=True)
class Former:
    """The import to go on with, None where a new one is needed, and what a person should know of it."""

    going_on: ImportBody | None
    told: Sequence[str] = ()


def former_import(remote: Remote, proposal: Proposal, tell: Teller) -> Former:
    """The newest import of just this, at its end, if its Review is what it made and can still be published.

    A Review of just this that somebody has changed, or that something stands in the way of, is withdrawn.
    """
    mine = list(remote.items("/imports", ImportListItem, project_id=proposal.project_id))
    newest = next((each for each in mine if each.status != "staging" and proposal.is_just_this(each.source)), None)
    if newest is None or newest.status == "failed":
        return Former(None, _open_beside(remote, proposal, mine))
    # Joining one that runs: by the time that we asked for another it could have ended, and there would be two.
    done = start(remote, newest, tell)
    if done.review_id is None:
        return Former(None, _open_beside(remote, proposal, mine))
    return _gone_on_with(remote, done, done.review_id) or Former(None, _open_beside(remote, proposal, mine))


def _gone_on_with(remote: Remote, done: ImportBody, review_id: str) -> Former | None:
    """The import whose Review can be gone on with, or that it was withdrawn; None where the Review is closed."""
    for _ in range(TRIES):
        review = read_review(remote, review_id)
        if review.status not in REVIEWABLE:
            return None
        obstacle = _obstacle(review)
        if obstacle is None:
            told = f"Just this was imported before ({done.import_id}), and its Review is not closed yet:"
            return Former(done, [f"{told} going on with that."])
        try:
            _withdraw(remote, review)
        except Refused as refusal:
            if refusal.code not in {VersionConflict.code, ReviewClosed.code}:
                raise
        else:
            told = f"{obstacle} Review {review_id} of an earlier run is withdrawn, and everything is imported anew."
            return Former(None, [told])
    return None


def _obstacle(review: ReviewBody) -> str | None:
    """Why the Review does not stand for what was imported: a sentence."""
    made = [(draft.draft_id, draft.draft_version) for draft in review.submissions[0].drafts]
    if review.submission != 1 or made != [(draft.draft_id, draft.draft_version) for draft in review.drafts]:
        return "It is no longer what was imported."
    blockers = [blocker for blocker in review.mergeability.blockers if blocker.get("code") not in APPROVALS]
    return f"It cannot be published as it is: {sentence_of(blockers[0]).removesuffix('.')}." if blockers else None


def _withdraw(remote: Remote, review: ReviewBody) -> None:
    body: dict[str, JsonValue] = {"expected_review_version": review.version, "reason": "imported anew"}
    remote.command(f"/reviews/{review.review_id}/withdrawals", body, ReviewBody)


def _open_beside(remote: Remote, proposal: Proposal, mine: Sequence[ImportListItem]) -> list[str]:
    """That Reviews of another content of the same folder are still open."""
    earlier = {each.review_id for each in mine if each.review_id and proposal.is_same_folder(each.source)}
    if not earlier:
        return []
    reviews = [
        review.review_id
        for status in REVIEWABLE
        for review in remote.items("/reviews", ReviewListItem, project_id=proposal.project_id, status=status)
        if review.review_id in earlier
    ]
    return [
        f"Review {review_id} of an earlier import of this folder is still open"
        " (withdraw it if this one takes its place)."
        for review_id in reviews
    ]
