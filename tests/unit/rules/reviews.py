"""Drafts of a Review and what they meet, for the tests of its evaluation."""

from collections.abc import Collection, Mapping, Sequence

from models.errors import Problem
from models.identifiers import DraftId, MemoryId
from models.rules.conflicts import Conflict
from models.rules.evaluation import Confirmed, Evaluation, Fits, ProposedDraft, Surroundings
from models.rules.folding import Action, DraftOperation
from models.rules.hashes import body_of
from models.rules.review import evaluate, fits_anyhow
from models.rules.states import MemoryState, State
from tests.unit.rules.examples import each_at, free_beside

ONE, TWO, THREE = MemoryId("mem_1"), MemoryId("mem_2"), MemoryId("mem_3")
NEW, NEWER = MemoryId("prv_8"), MemoryId("prv_9")

NOW = 5
"""The organization's version, and the base of a Draft that is current."""
THEN = 1
"""The base of a Draft that is behind."""

LINES = "one\ntwo\nthree\n"
TEXTS = ["text\n", "new\n", "edited\n", "was\n", "is\n", LINES]
"""What the tests may use as bodies, beside `LINES` with one line changed."""
READABLE = {body_of(text).blob_id: text for text in TEXTS} | {
    body_of(text).blob_id: text
    for line in LINES.splitlines()
    for change in ("ours", "theirs")
    for text in [LINES.replace(line, f"{line}, {change}")]
}


def create(memory_id: MemoryId, path: str, text: str = "new\n") -> DraftOperation:
    return DraftOperation(Action.CREATE, memory_id, path=path, body=body_of(text))


def edit(memory_id: MemoryId, text: str = "edited\n") -> DraftOperation:
    return DraftOperation(Action.UPDATE, memory_id, body=body_of(text))


def describe(memory_id: MemoryId, description: str) -> DraftOperation:
    return DraftOperation(Action.UPDATE, memory_id, description=description)


def rename(memory_id: MemoryId, new_path: str) -> DraftOperation:
    return DraftOperation(Action.RENAME, memory_id, new_path=new_path)


def delete(memory_id: MemoryId) -> DraftOperation:
    return DraftOperation(Action.DELETE, memory_id)


def restore(memory_id: MemoryId, path: str, text: str = "text\n") -> DraftOperation:
    return DraftOperation(Action.RESTORE, memory_id, path=path, body=body_of(text))


def a_draft(
    name: str, *operations: DraftOperation, base: int = NOW, overlay: Mapping[MemoryId, State] | None = None
) -> ProposedDraft:
    return ProposedDraft(DraftId(name), base, operations, overlay or {})


def judge(
    drafts: Sequence[ProposedDraft],
    current: Mapping[MemoryId, MemoryState],
    *,
    base: Mapping[MemoryId, MemoryState] | None = None,
    unselected: Collection[MemoryId] = (),
    taken: Collection[MemoryId] = (),
    elsewhere: Mapping[MemoryId, MemoryState] | None = None,
    confirmed: Confirmed | None = None,
    fits: Fits = fits_anyhow,
) -> Evaluation:
    """Evaluate against Current; `base` is what stood at THEN, the same as Current unless said otherwise."""
    versions = {NOW: current, THEN: current if base is None else base}
    paths = {memory_id: state.path for memory_id, state in current.items()}
    touched = {operation.memory_id for draft in drafts for operation in draft.operations}
    untouched = {memory_id: path for memory_id, path in paths.items() if memory_id not in touched}
    return evaluate(
        drafts,
        Surroundings(
            version=NOW,
            current=current,
            bases=versions,
            selected=set(current) - set(unselected),
            occupants=paths,
            changed_since={
                THEN: [memory_id for memory_id in current if versions[THEN].get(memory_id) != current[memory_id]]
            },
            read=READABLE.__getitem__,
            free_among=free_beside(untouched),
            each_at=each_at(versions),
            taken=taken,
            elsewhere=elsewhere or {},
        ),
        confirmed or {},
        fits,
    )


def codes(evaluation: Evaluation) -> list[str]:
    return [problem.code for problem in evaluation.blockers]


def only(evaluation: Evaluation) -> Problem:
    (problem,) = evaluation.blockers
    return problem


def conflicts(evaluation: Evaluation, draft: str) -> list[Conflict]:
    return evaluation.reconciliations[DraftId(draft)].conflicts
