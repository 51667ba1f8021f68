"""Dry runs: a command is carried out under its locks and told; whoever opened the transaction rolls it back (§6).

What is answered names nothing that would only be made: no id of the Review, of the commit, of approvals, of candidates.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from activities.boundary import time_of_turn
from activities.publication import publish
from activities.requests import MergeRequest, ResubmitRequest, SubmitRequest
from activities.submissions import open_review, submit_again
from models.errors import JsonValue, ReconciliationRequired
from models.identifiers import CandidateId, ProjectId, ReviewId, new_review_id
from models.schemas.reviews import MergeFacts, ReviewBody
from models.schemas.trials import MergeTrial, ReviewTrial, TriedReview
from models.store.candidates import read_candidates
from models.store.review_views import review_body
from models.store.transaction import Transaction


def try_submission(tx: Transaction, project_id: ProjectId, request: SubmitRequest) -> ReviewTrial:
    """The Review that a submission would open."""
    review_id = new_review_id()
    with _turn(tx) as turn:
        evaluation = open_review(turn, review_id, project_id, request)
        body = review_body(tx.connection, tx.org_id, review_id, evaluation)
    return ReviewTrial(dry_run=True, **_members(body) | {"review_id": None})


def try_resubmission(tx: Transaction, review_id: ReviewId, request: ResubmitRequest) -> ReviewTrial:
    """A Review as another submission would leave it."""
    with _turn(tx) as turn:
        body = submit_again(turn, review_id, request)
    return ReviewTrial(dry_run=True, **_members(body))


def try_merge(tx: Transaction, review_id: ReviewId, request: MergeRequest) -> MergeTrial:
    """What a merge would do; every check of it is made, that of what is written included."""
    with _turn(tx) as turn:
        result = publish(turn, review_id, request)
    facts = {name: getattr(result, name) for name in MergeFacts.model_fields}
    return MergeTrial(dry_run=True, review=TriedReview(**_members(result.review)), **facts)


@contextmanager
def _turn(tx: Transaction) -> Iterator[Transaction]:
    """The transaction when it is the command's turn; a refusal names no candidate that is not kept already."""
    turn = replace(tx, now=time_of_turn(tx.connection, tx.org_id))
    try:
        yield turn
    except ReconciliationRequired as problem:
        _name_kept_candidates_only(tx, problem)
        raise


def _name_kept_candidates_only(tx: Transaction, problem: ReconciliationRequired) -> None:
    candidates = _objects(problem.context["candidates"])
    named = [CandidateId(str(candidate["candidate_id"])) for candidate in candidates]
    kept = read_candidates(tx.connection, tx.org_id, named)
    for candidate_id, candidate in zip(named, candidates, strict=True):
        if candidate_id not in kept:
            del candidate["candidate_id"]


def _objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _members(body: ReviewBody) -> dict[str, object]:
    return {name: getattr(body, name) for name in TriedReview.model_fields}
