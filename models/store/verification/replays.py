"""Replays: the Drafts of a Review, folded again, give what was submitted and approved.

Together with `merges` this says that the Drafts of all merged Reviews, in their order, give every version.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from sqlalchemy import RowMapping, text

from models.identifiers import BlobId, DraftId, MemoryId, ProjectId
from models.rules.evaluation import Evaluation, ProposedDraft, Surroundings
from models.rules.folding import Action, DraftOperation
from models.rules.hashes import result_hash
from models.rules.review import fold_in_order
from models.rules.states import Body, MemoryState, State
from models.store.verification.findings import Finding
from models.store.verification.snapshot import Snapshot
from models.store.verification.submissions import state_of

# The operations in order, each with what its Memory was where the Draft starts, in what the Draft was laid over, and
# in the version that the submission was evaluated against, or that Drafts whose result stayed equal have moved on to.
STEPS = text("""
    with steps as (
        select r.review_id, r.submission, r.project_id, r.result_hash, m.position, m.draft_id, d.base_version,
               s.org_version as submitted_version,
               greatest(s.org_version, max(d.base_version) over (partition by r.review_id)) as version,
               o.index, o.action, o.memory_id, o.path, o.new_path, o.blob_id, o.content_hash, o.description
        from reviews r
        join review_submissions s on s.org_id = r.org_id and s.review_id = r.review_id and s.number = r.submission
        join review_submission_drafts m
          on m.org_id = r.org_id and m.review_id = r.review_id and m.number = r.submission
        join drafts d on d.org_id = m.org_id and d.draft_id = m.draft_id
        join draft_operations o on o.org_id = m.org_id and o.draft_id = m.draft_id
        where r.org_id = :org_id and r.status in ('open', 'approved', 'merged')
    )
    select t.*,
           b.path as base_path, b.description as base_description, b.blob_id as base_blob_id,
           bb.content_hash as base_content_hash,
           c.path as current_path, c.description as current_description, c.blob_id as current_blob_id,
           cb.content_hash as current_content_hash,
           l.memory_id as overlay_memory_id, l.path as overlay_path, l.description as overlay_description,
           l.blob_id as overlay_blob_id, lb.content_hash as overlay_content_hash
    from steps t
    left join memory_versions b
      on b.org_id = :org_id and b.memory_id = t.memory_id
     and b.from_version <= t.base_version and (b.to_version is null or b.to_version > t.base_version)
    left join blobs bb on bb.org_id = :org_id and bb.blob_id = b.blob_id
    left join memory_versions c
      on c.org_id = :org_id and c.memory_id = t.memory_id
     and c.from_version <= t.version and (c.to_version is null or c.to_version > t.version)
    left join blobs cb on cb.org_id = :org_id and cb.blob_id = c.blob_id
    left join draft_base_states l on l.org_id = :org_id and l.draft_id = t.draft_id and l.memory_id = t.memory_id
    left join blobs lb on lb.org_id = :org_id and lb.blob_id = l.blob_id
    order by t.review_id, t.position, t.index, b.from_version, c.from_version
""")
CURRENT = text("""
    select v.memory_id, v.path, v.description, v.blob_id, b.content_hash
    from memory_versions v left join blobs b on b.org_id = :org_id and b.blob_id = v.blob_id
    where v.org_id = :org_id and v.memory_id = any(:memory_ids)
      and v.from_version <= :version and (v.to_version is null or v.to_version > :version)
""")
SUBMITTED = text("""
    select t.memory_id, t.path, t.description, t.blob_id, b.content_hash
    from review_submission_states t left join blobs b on b.org_id = :org_id and b.blob_id = t.blob_id
    where t.org_id = :org_id and t.review_id = :review_id and t.number = :number
""")
TEXT = text("""
    select content from blobs where org_id = :org_id and blob_id = :blob_id
    union all
    select content from draft_operations where org_id = :org_id and draft_id = any(:draft_ids) and blob_id = :blob_id
    limit 1
""")


def check_replays(snapshot: Snapshot) -> Iterator[Finding]:
    """The latest submission of every Review whose Drafts are still as they were submitted."""
    for review_id, steps in groupby(snapshot.rows(STEPS), key=lambda step: step["review_id"]):
        yield from _check_review(snapshot, review_id, list(steps))


def _check_review(snapshot: Snapshot, review_id: str, steps: Sequence[RowMapping]) -> Iterator[Finding]:
    expected = steps[0]["result_hash"]
    found = _replayed(snapshot, steps)
    if found != expected:
        found = _replayed_in_parts(snapshot, review_id, steps)
    if found != expected:
        what = "the Drafts' operations do not give what was submitted"
        yield Finding("submission.replay", what, f"Review {review_id}", expected, found or "nothing")


def _replayed(snapshot: Snapshot, steps: Sequence[RowMapping]) -> str | None:
    """The result's hash, where all Drafts of the Review have moved on together, or none has."""
    current = {MemoryId(step["memory_id"]): state for step in steps if (state := _state(step, "current_")) is not None}
    evaluation = _evaluated(snapshot, steps, current)
    return None if evaluation is None else evaluation.result_hash(ProjectId(steps[0]["project_id"]))


def _replayed_in_parts(snapshot: Snapshot, review_id: str, steps: Sequence[RowMapping]) -> str | None:
    """The same where only those have whose own result stayed equal: each Memory is as one of the versions has it."""
    submitted = snapshot.all(SUBMITTED, review_id=review_id, number=steps[0]["submission"])
    expected = {MemoryId(row["memory_id"]): state_of(row) for row in submitted}
    versions = {steps[0]["submitted_version"], *(step["base_version"] for step in steps)}
    evaluations = [
        evaluation
        for version in sorted(versions)
        if version >= steps[0]["submitted_version"]
        and (evaluation := _evaluated(snapshot, steps, _current(snapshot, steps, version))) is not None
    ]
    if not evaluations:
        return None
    states: dict[MemoryId, State] = {}
    for evaluation in evaluations:
        for memory_id, state in evaluation.final_states.items():
            if memory_id not in states or state == expected.get(memory_id):
                states[memory_id] = state
    introduced = {memory_id for of_draft in evaluations[0].introduced.values() for memory_id in of_draft}
    return result_hash(states, ProjectId(steps[0]["project_id"]), introduced)


def _current(snapshot: Snapshot, steps: Sequence[RowMapping], version: int) -> dict[MemoryId, MemoryState]:
    rows = snapshot.all(CURRENT, memory_ids=[step["memory_id"] for step in steps], version=version)
    return {MemoryId(row["memory_id"]): state for row in rows if (state := state_of(row)) is not None}


def _evaluated(
    snapshot: Snapshot, steps: Sequence[RowMapping], current: Mapping[MemoryId, MemoryState]
) -> Evaluation | None:
    """The Drafts in their order; what lost its target with a discarded Draft is in the submission as it was before."""
    drafts = [_draft(list(group)) for _, group in groupby(steps, key=lambda step: step["position"])]
    try:
        return fold_in_order(drafts, _surroundings(snapshot, steps, drafts, current))
    except (ValueError, LookupError):  # a row without what its action needs, or a text that has gone
        return None


def _draft(steps: Sequence[RowMapping]) -> ProposedDraft:
    overlay = {MemoryId(step["memory_id"]): _state(step, "overlay_") for step in steps if step["overlay_memory_id"]}
    first = steps[0]
    return ProposedDraft(
        DraftId(first["draft_id"]), first["base_version"], [_operation(step) for step in steps], overlay
    )


def _surroundings(
    snapshot: Snapshot,
    steps: Sequence[RowMapping],
    drafts: Sequence[ProposedDraft],
    current: Mapping[MemoryId, MemoryState],
) -> Surroundings:
    bases: dict[int, dict[MemoryId, MemoryState]] = {draft.base_version: {} for draft in drafts}
    for step in steps:
        if (base := _state(step, "base_")) is not None:
            bases[step["base_version"]][MemoryId(step["memory_id"])] = base

    def read(blob_id: BlobId) -> str:
        draft_ids = [draft.draft_id for draft in drafts]
        return str(snapshot.all(TEXT, blob_id=blob_id, draft_ids=draft_ids)[0]["content"])

    return Surroundings(
        version=steps[0]["version"],
        current=current,
        bases=bases,
        selected=current,
        occupants={},
        changed_since={},
        read=read,
        free_among=lambda paths: paths,
        each_at=lambda _: {},
    )


def _state(step: RowMapping, side: str) -> State:
    if step[f"{side}path"] is None:
        return None
    body = Body(step[f"{side}blob_id"], step[f"{side}content_hash"])
    return MemoryState(step[f"{side}path"], step[f"{side}description"], body)


def _operation(step: RowMapping) -> DraftOperation:
    body = None if step["blob_id"] is None else Body(step["blob_id"], step["content_hash"])
    return DraftOperation(
        Action(step["action"]), MemoryId(step["memory_id"]), step["path"], step["new_path"], body, step["description"]
    )
