"""Replays: the Drafts of a Review, folded again, give what was submitted and approved.

Together with `merges` this says that the Drafts of all merged Reviews, in their order, give every version.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from sqlalchemy import RowMapping, text

from models.identifiers import MemoryId, ProjectId, final_id
from models.rules.folding import Action, DraftOperation, fold_what_holds
from models.rules.hashes import result_hash
from models.rules.states import Body, MemoryState, State
from models.store.verification.findings import Finding
from models.store.verification.snapshot import Snapshot

# The operations in order, each with what the submission keeps of its Memory's base.
STEPS = text("""
    select r.review_id, r.project_id, r.result_hash, m.position, o.index, o.action, o.memory_id,
           o.path, o.new_path, o.blob_id, o.content_hash, o.description,
           t.base_path, t.base_description, t.base_blob_id, b.content_hash as base_content_hash
    from reviews r
    join review_submission_drafts m
      on m.org_id = r.org_id and m.review_id = r.review_id and m.number = r.submission
    join draft_operations o on o.org_id = m.org_id and o.draft_id = m.draft_id
    left join review_submission_states t
      on t.org_id = m.org_id and t.review_id = m.review_id and t.number = m.number and t.memory_id = o.memory_id
    left join blobs b on b.org_id = :org_id and b.blob_id = t.base_blob_id
    where r.org_id = :org_id and r.status in ('open', 'approved', 'merged')
    order by r.review_id, m.position, o.index
""")


def check_replays(snapshot: Snapshot) -> Iterator[Finding]:
    """The latest submission of every Review whose Drafts are still as they were submitted."""
    for review_id, steps in groupby(snapshot.rows(STEPS), key=lambda step: step["review_id"]):
        yield from _check_review(review_id, steps)


def _check_review(review_id: str, steps: Iterator[RowMapping]) -> Iterator[Finding]:
    states: dict[MemoryId, State] = {}
    created: set[MemoryId] = set()
    for _, group in groupby(steps, key=lambda step: step["position"]):
        named: dict[MemoryId, State] = {}
        operations: list[DraftOperation] = []
        for step in group:
            expected, project_id = step["result_hash"], ProjectId(step["project_id"])
            operation = _operation(step)
            made = states[operation.memory_id] if operation.memory_id in created else None
            named.setdefault(operation.memory_id, made or _base(step))
            operations.append(operation)
        # What lost its target with a discarded Draft is in the submission as it was before.
        states |= {**named, **_folded(operations, named)}
        created |= {operation.memory_id for operation in operations if operation.action is Action.CREATE}
    final = {final_id(memory_id): state for memory_id, state in states.items()}
    found = result_hash(final, project_id, {final_id(memory_id) for memory_id in created})
    if found != expected:
        what = "the Drafts' operations do not give what was submitted"
        yield Finding("submission.replay", what, f"Review {review_id}", expected, found)


def _folded(operations: Iterable[DraftOperation], named: Mapping[MemoryId, State]) -> dict[MemoryId, State]:
    base = {memory_id: state for memory_id, state in named.items() if state is not None}
    try:
        return fold_what_holds(operations, base)
    except ValueError:  # a row without what its action needs: what was submitted came of more than that
        return {}


def _base(step: RowMapping) -> State:
    if step["base_path"] is None:
        return None
    body = Body(step["base_blob_id"], step["base_content_hash"])
    return MemoryState(step["base_path"], step["base_description"], body)


def _operation(step: RowMapping) -> DraftOperation:
    body = None if step["blob_id"] is None else Body(step["blob_id"], step["content_hash"])
    return DraftOperation(
        Action(step["action"]), MemoryId(step["memory_id"]), step["path"], step["new_path"], body, step["description"]
    )
