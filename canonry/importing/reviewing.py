"""Approving and merging the Review of an import; what an interrupted run has done already is no error."""

from collections.abc import Callable

from pydantic import JsonValue

from canonry.failures import CommandFailed
from canonry.refusals import Refused
from canonry.remote import Remote
from models.errors import Forbidden, VersionConflict
from models.schemas.reviews import MergeResult, ReviewBody

# Every try reads the version anew; nobody edits a title this often.
TRIES = 5


def read_review(remote: Remote, review_id: str) -> ReviewBody:
    """The Review as it is now."""
    return remote.get(f"/reviews/{review_id}", ReviewBody)


def approve(remote: Remote, review: ReviewBody) -> ReviewBody:
    """Approve what was read; a second approval by the same person is none.

    Raises:
        CommandFailed: the role, the policy or the Review's state does not allow it; the text says how it stays.
    """

    def decide(seen: ReviewBody) -> ReviewBody:
        body: dict[str, JsonValue] = {"decision": "approved", "expected_review_version": seen.version}
        return remote.command(f"/reviews/{seen.review_id}/decisions", body, ReviewBody)

    return _at_its_version(remote, review, "approved", decide)


def merge(remote: Remote, review: ReviewBody) -> ReviewBody:
    """Publish what was read: from `open` this is the actor's approval as well.

    Raises:
        CommandFailed: the role, the policy or the state of things does not allow it; the text says how it stays.
    """

    def publish(seen: ReviewBody) -> ReviewBody:
        body: dict[str, JsonValue] = {
            "expected_review_version": seen.version,
            "expected_result_hash": seen.result_hash,
        }
        return remote.command(f"/reviews/{seen.review_id}/merges", body, MergeResult).review

    return _at_its_version(remote, review, "merged", publish)


def _at_its_version(
    remote: Remote, review: ReviewBody, wanted: str, act: Callable[[ReviewBody], ReviewBody]
) -> ReviewBody:
    """Act on the Review at the version it has now, as long as it proposes what was read first."""
    read_first = review.result_hash
    for _ in range(TRIES):
        if review.status == "merged":
            return review
        if review.result_hash != read_first:
            raise CommandFailed(f"{review.review_id} proposes something else by now; read it, and decide then.")
        try:
            return act(review)
        except Refused as refusal:
            review = read_review(remote, review.review_id)
            if refusal.code != VersionConflict.code and review.status != "merged":
                whom = "" if refusal.code != Forbidden.code else " Ask one of them to do it."
                raise CommandFailed(
                    f"{review.review_id} is not {wanted}, it stays {review.status}: {refusal}{whom}"
                ) from refusal
    raise CommandFailed(f"{review.review_id} keeps changing; run the same command again.")
