"""Reviews as they are shown: members with their freshness, submissions, approvals, timeline, mergeability."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, RowMapping, text

from models.errors import NotFound, Problem, ProjectArchived
from models.identifiers import BlobId, MemoryId, OrganizationId, ReviewId
from models.rules.evaluation import Evaluation
from models.rules.states import Body, MemoryState, State
from models.schemas.drafts import Coordination, MemoryDifference
from models.schemas.reviews import (
    ApprovalBody,
    ComputedFor,
    MemoryAtPath,
    Mergeability,
    ReviewBody,
    ReviewDraft,
    ReviewListItem,
    SubmissionBody,
    SubmissionDraft,
    SubmissionWithMemories,
    TimelineEvent,
)
from models.store.commits import organization_ref
from models.store.coordination import coordinate
from models.store.draft_views import difference, read_contents
from models.store.drafts import drafts_by_id
from models.store.locks import DraftRow, ReviewRow
from models.store.review_evaluation import evaluate_drafts
from models.store.reviews import Member, approvals_of, latest_members, members_of, read_review


def review_body(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, evaluation: Evaluation | None = None
) -> ReviewBody:
    """A Review, whole.

    Args:
        connection: any; the answer is a snapshot unless the coordination row is locked.
        org_id: the organization.
        review_id: the Review.
        evaluation: that of its Drafts, where the caller has just made it under the coordination row.

    Raises:
        NotFound: no such Review.
    """
    review = read_review(connection, org_id, review_id)
    if review is None:
        raise NotFound("There is no such Review.")
    item = review_items(connection, org_id, [review])[0]
    return ReviewBody(
        **{name: getattr(item, name) for name in ReviewListItem.model_fields},
        timeline=_timeline(connection, review),
        mergeability=mergeability(connection, review, evaluation),
    )


def review_items(connection: Connection, org_id: OrganizationId, reviews: Sequence[ReviewRow]) -> list[ReviewListItem]:
    """Reviews without timeline and mergeability; as many statements for a page as for one."""
    review_ids = [review.review_id for review in reviews]
    members = members_of(connection, org_id, review_ids)
    submissions = _submissions(connection, org_id, review_ids, members)
    approvals = approvals_of(connection, org_id, review_ids)
    shown = {review.review_id: members.get((review.review_id, review.submission), ()) for review in reviews}
    drafts = drafts_by_id(connection, org_id, {member.draft_id for latest in shown.values() for member in latest})
    coordination = coordinate(connection, org_id, list(drafts.values()))
    names = set(ReviewListItem.model_fields) - {"drafts", "submissions", "approvals"}
    return [
        ReviewListItem(
            **{name: getattr(review, name) for name in names},
            drafts=[
                _member(drafts[member.draft_id], member, coordination[member.draft_id])
                for member in shown[review.review_id]
            ],
            submissions=submissions.get(review.review_id, []),
            approvals=[
                ApprovalBody.model_validate(approval, from_attributes=True)
                for approval in approvals.get(review.review_id, ())
            ],
        )
        for review in reviews
    ]


def _member(draft: DraftRow, member: Member, coordination: Coordination | None) -> ReviewDraft:
    return ReviewDraft(
        draft_id=draft.draft_id,
        draft_version=member.draft_version,
        title=draft.title,
        status=draft.status,
        freshness=coordination.freshness if coordination else None,
        reconciliation=coordination.reconciliation if coordination else None,
    )


def _submissions(
    connection: Connection,
    org_id: OrganizationId,
    review_ids: Sequence[ReviewId],
    members: Mapping[tuple[ReviewId, int], Sequence[Member]],
) -> dict[ReviewId, list[SubmissionBody]]:
    rows = connection.execute(
        text("""
            select review_id, number, result_hash, created_at from review_submissions
            where org_id = :org_id and review_id = any(:review_ids) order by review_id, number
        """),
        {"org_id": org_id, "review_ids": list(review_ids)},
    )
    found: dict[ReviewId, list[SubmissionBody]] = {}
    for row in rows:
        drafts = [
            SubmissionDraft(draft_id=member.draft_id, draft_version=member.draft_version)
            for member in members.get((row.review_id, row.number), ())
        ]
        found.setdefault(row.review_id, []).append(
            SubmissionBody(number=row.number, result_hash=row.result_hash, created_at=row.created_at, drafts=drafts)
        )
    return found


def _timeline(connection: Connection, review: ReviewRow) -> list[TimelineEvent]:
    rows = connection.execute(
        text("""
            select at, actor_id, event, submission, old_hash, new_hash, reason from review_timeline
            where org_id = :org_id and review_id = :review_id order by position
        """),
        {"org_id": review.org_id, "review_id": review.review_id},
    )
    return [TimelineEvent(**row) for row in rows.mappings()]


def submission_body(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, number: int
) -> SubmissionWithMemories:
    """One submission, with what it proposed.

    Raises:
        NotFound: the Review has no submission of this number.
    """
    members = members_of(connection, org_id, [review_id])
    for submission in _submissions(connection, org_id, [review_id], members).get(review_id, []):
        if submission.number == number:
            memories = submission_memories(connection, org_id, review_id, number)
            return SubmissionWithMemories(**dict(submission), memories=memories)
    raise NotFound("The Review has no such submission.")


STATES = text("""
    select s.memory_id, s.path, s.description, s.blob_id, b.content_hash,
           s.base_path, s.base_description, s.base_blob_id, a.content_hash as base_content_hash
    from review_submission_states s
    left join blobs b on b.org_id = s.org_id and b.blob_id = s.blob_id
    left join blobs a on a.org_id = s.org_id and a.blob_id = s.base_blob_id
    where s.org_id = :org_id and s.review_id = :review_id and s.number = :number
    order by s.memory_id
""")


def submitted_states(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, number: int
) -> dict[MemoryId, tuple[State, State]]:
    """The base and the result of every touched Memory, as a submission fixed them."""
    rows = connection.execute(STATES, {"org_id": org_id, "review_id": review_id, "number": number}).mappings()
    return {row["memory_id"]: (_state(row, "base_"), _state(row, "")) for row in rows}


def _state(row: RowMapping, side: str) -> State:
    if row[f"{side}path"] is None:
        return None
    body = Body(row[f"{side}blob_id"], row[f"{side}content_hash"])
    return MemoryState(path=row[f"{side}path"], description=row[f"{side}description"], body=body)


def submission_memories(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, number: int
) -> list[MemoryDifference]:
    """What a submission proposed: every touched Memory with its base, result and diff."""
    states = submitted_states(connection, org_id, review_id, number)
    blob_ids: set[BlobId] = {state.body.blob_id for pair in states.values() for state in pair if state is not None}
    contents = read_contents(connection, org_id, blob_ids)
    return [difference(memory_id, base, result, contents) for memory_id, (base, result) in states.items()]


def mergeability(connection: Connection, review: ReviewRow, evaluation: Evaluation | None = None) -> Mergeability:
    """Whether a merge would pass now; a pure read, complete only under the coordination row."""
    current, version = organization_ref(connection, review.org_id)
    computed_for = ComputedFor(org_commit_id=current, review_version=review.version)
    if review.status not in ("open", "approved"):
        pairs = submitted_states(connection, review.org_id, review.review_id, review.submission)
        before = {memory_id: base for memory_id, (base, _) in pairs.items()}
        after = {memory_id: result for memory_id, (_, result) in pairs.items()}
        return _mergeability("closed", computed_for, [], review.result_hash, before, after)
    evaluation = evaluation or _evaluation(connection, review, version)
    blockers: list[Problem] = [*_archived(connection, review), *evaluation.blockers]
    return _mergeability(
        "blocked" if blockers else "mergeable",
        computed_for,
        blockers,
        evaluation.result_hash(review.project_id),
        evaluation.current,
        evaluation.final_states,
    )


def _evaluation(connection: Connection, review: ReviewRow, version: int) -> Evaluation:
    members = latest_members(connection, review)
    drafts = drafts_by_id(connection, review.org_id, [member.draft_id for member in members])
    in_order = [drafts[member.draft_id] for member in members]
    return evaluate_drafts(connection, review.org_id, review.project_id, version, in_order)


def _archived(connection: Connection, review: ReviewRow) -> list[Problem]:
    state = connection.execute(
        text("select state from projects where org_id = :org_id and project_id = :project_id"),
        {"org_id": review.org_id, "project_id": review.project_id},
    ).scalar_one()
    if state == "active":
        return []
    return [ProjectArchived(f"The project is {state}.", project_id=review.project_id)]


def _mergeability(
    state: str,
    computed_for: ComputedFor,
    blockers: Sequence[Problem],
    result_hash: str,
    before: Mapping[MemoryId, State],
    after: Mapping[MemoryId, State],
) -> Mergeability:
    changed = {memory_id for memory_id in after if after[memory_id] != before.get(memory_id)}
    created = {memory_id for memory_id in changed if before.get(memory_id) is None}
    deleted = {memory_id for memory_id in changed if after[memory_id] is None}
    return Mergeability(
        state=state,
        computed_for=computed_for,
        blockers=[problem.document() for problem in blockers],
        result_hash=result_hash,
        creates=_at_paths(after, created),
        updates=_at_paths(after, changed - created - deleted),
        deletes=_at_paths(before, deleted),
    )


def _at_paths(states: Mapping[MemoryId, State], memory_ids: set[MemoryId]) -> list[MemoryAtPath]:
    return sorted(
        (
            MemoryAtPath(memory_id=memory_id, path=state.path)
            for memory_id in memory_ids
            if (state := states[memory_id]) is not None
        ),
        key=lambda item: item.path,
    )
