"""The documents of the reconciliation table as states of the rules, and what a Review meets among them."""

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from models.identifiers import BlobId, DraftId, MemoryId, is_provisional
from models.rules.conflicts import Reconciliation
from models.rules.evaluation import Confirmed, Evaluation, ProposedDraft, Surroundings
from models.rules.expression import express
from models.rules.folding import Action, DraftOperation
from models.rules.hashes import body_of
from models.rules.review import evaluate
from models.rules.states import MemoryState, State
from tests.reconciliation_steps import BASE, Document, Step, after
from tests.unit.rules.examples import each_at, free_beside

THEN, NOW = 1, 5

States = Mapping[MemoryId, MemoryState]


@dataclass(frozen=True)
class Letters:
    """Which id a letter stands for; provisional ones are those that a Draft of the Review creates."""

    provisional: Collection[str]

    def id_of(self, letter: str) -> MemoryId:
        return MemoryId(f"prv_{letter}" if letter in self.provisional else f"mem_{letter}")

    def states(self, standing: Mapping[str, Document | None]) -> dict[MemoryId, MemoryState]:
        return {
            self.id_of(letter): state
            for letter, document in standing.items()
            if (state := state_of(document)) is not None
        }

    def operation(self, step: Step) -> DraftOperation:
        """As it is stored once accepted: a restore has all that it brings back."""
        path = None if step.path is None else unicodedata.normalize("NFC", step.path)
        memory_id = self.id_of(step.memory)
        if step.action == "restore":
            state = state_of(after(BASE, (step,))[step.memory])
            assert state is not None
            return DraftOperation(
                Action.RESTORE, memory_id, path=state.path, body=state.body, description=state.description
            )
        renames = step.action == "rename"
        return DraftOperation(
            Action(step.action),
            memory_id,
            path=None if renames else path,
            new_path=path if renames else None,
            body=None if step.content is None else body_of(step.content),
            description=step.description,
        )


def state_of(document: Document | None) -> State:
    if document is None or document.archived:
        return None
    path = unicodedata.normalize("NFC", document.path)
    return MemoryState(path=path, description=document.description, body=body_of(document.content))


class World:
    """What was published, and the Drafts of a Review upon it.

    Args:
        published: the steps that Current is ahead of the base of the first Drafts.
        drafts: the steps of each Draft.
    """

    def __init__(self, published: Sequence[Step], *drafts: Sequence[Step]) -> None:
        created = {step.memory for draft in drafts for step in draft if step.action == "create"}
        self.letters = Letters(created)
        self.base = self.letters.states(after(BASE, ()))
        self.current = self.letters.states(after(BASE, tuple(published)))
        self.texts = dict(_texts([published, *drafts]))
        self.drafts = [
            ProposedDraft(DraftId(f"drf_{number}"), THEN, [self.letters.operation(step) for step in steps])
            for number, steps in enumerate(drafts)
        ]

    def evaluate(self, drafts: Sequence[ProposedDraft] | None = None, confirmed: Confirmed | None = None) -> Evaluation:
        judged = self.drafts if drafts is None else drafts
        evaluation = evaluate(judged, self._surroundings(judged), confirmed or {})
        self.texts |= evaluation.texts
        return evaluation

    def rebased(self, evaluation: Evaluation) -> list[ProposedDraft]:
        """The Review with its last Draft re-expressed as it was confirmed, and the others brought up to date."""
        *earlier, last = self.drafts
        up_to_date = [ProposedDraft(draft.draft_id, NOW, draft.operations) for draft in earlier]
        siblings = self.evaluate(up_to_date).states
        result = evaluation.results[last.draft_id]
        operations = express(result, current={**self.current, **siblings}, created=last.creates)
        overlay = {memory_id: siblings[memory_id] for memory_id in result if memory_id in siblings}
        return [*up_to_date, ProposedDraft(last.draft_id, NOW, operations, overlay)]

    def reconciliation(self, evaluation: Evaluation) -> Reconciliation:
        """The last Draft's."""
        return evaluation.reconciliations[self.drafts[-1].draft_id]

    def _surroundings(self, drafts: Sequence[ProposedDraft]) -> Surroundings:
        touched = {operation.memory_id for draft in drafts for operation in draft.operations}
        untouched = {memory_id: state.path for memory_id, state in self.current.items() if memory_id not in touched}
        versions: Mapping[int, States] = {THEN: self.base, NOW: self.current}
        return Surroundings(
            version=NOW,
            current=self.current,
            bases=versions,
            selected=[memory_id for memory_id in {**self.base, **self.current} if not is_provisional(memory_id)],
            occupants={memory_id: state.path for memory_id, state in self.current.items()},
            changed_since={
                THEN: [memory_id for memory_id, state in self.current.items() if state != self.base.get(memory_id)]
            },
            read=self.texts.__getitem__,
            free_among=free_beside(untouched),
            each_at=each_at(versions),
        )


def _texts(sides: Sequence[Sequence[Step]]) -> Iterator[tuple[BlobId, str]]:
    contents = {document.content for document in BASE.values()}
    contents |= {step.content for side in sides for step in side if step.content is not None}
    for content in contents:
        yield body_of(content).blob_id, content
