"""A Review's Drafts, evaluated in order against Current: final states, and all that is in the way (publication.md §4).

The results of the earlier Drafts play Current for the next. Nothing here is written; submit, rebase, publication and
mergeability all ask this one question.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from models.errors import DraftEmpty, DuplicateId, MemoryNotSelected, Problem
from models.identifiers import DraftId, MemoryId, final_id
from models.rules.bodies import accept_description
from models.rules.evaluation import Confirmed, Evaluation, Fits, ProposedDraft, Surroundings
from models.rules.folding import Action, DraftOperation, fold_what_holds
from models.rules.paths import accept_path
from models.rules.resolutions import offer_resolutions
from models.rules.review_places import judge_places
from models.rules.review_standing import Standing, compare, confirmation_needed, text_reader
from models.rules.states import MemoryState, State

NOTHING_CONFIRMED: Confirmed = {}


def fits_anyhow(_draft_id: DraftId, _current: Mapping[MemoryId, State]) -> bool:
    """What is confirmed holds, whatever it was made from."""
    return True


def evaluate(
    drafts: Sequence[ProposedDraft],
    surroundings: Surroundings,
    confirmed: Confirmed = NOTHING_CONFIRMED,
    fits: Fits = fits_anyhow,
) -> Evaluation:
    """Fold the Drafts in order, tell how each stands to Current, and name every blocker with its `draft_id`.

    A Draft of `confirmed` needs no confirmation any more, unless one of its conflicts is left without a state, or its
    candidate does not fit what the Drafts before it come to (`outrun`).
    """
    evaluation = fold_in_order(drafts, surroundings, confirmed, fits)
    holding = {draft_id: states for draft_id, states in confirmed.items() if draft_id not in evaluation.outrun}
    evaluation.blockers.extend(judge_places(evaluation, surroundings, holding))
    evaluation.blockers.extend(confirmation_needed(evaluation))
    offer_resolutions(
        list(evaluation.reconciliations.values()),
        final=evaluation.states,
        free_among=surroundings.free_among,
        read=text_reader(evaluation, surroundings),
        texts=evaluation.texts,
    )
    return evaluation


def fold_in_order(
    drafts: Sequence[ProposedDraft],
    surroundings: Surroundings,
    confirmed: Confirmed = NOTHING_CONFIRMED,
    fits: Fits = fits_anyhow,
) -> Evaluation:
    """The same without the question of who stands at which path, and without what could be done about a conflict."""
    evaluation = Evaluation(current=surroundings.current)
    for draft in drafts:
        _take_draft(evaluation, draft, surroundings, confirmed, fits)
    return evaluation


def _take_draft(
    evaluation: Evaluation, draft: ProposedDraft, surroundings: Surroundings, confirmed: Confirmed, fits: Fits
) -> None:
    duplicates = _duplicates(evaluation, draft, surroundings)
    standing = Standing(evaluation, draft, surroundings)
    made = {final_id(memory_id) for memory_id in draft.creates}
    evaluation.made |= made
    evaluation.introduced[draft.draft_id] = made | draft.restores
    states, refused = _fold(draft, standing.base)
    evaluation.blockers.extend([*duplicates, *refused])
    results = compare(evaluation, standing, states, _holding(evaluation, standing, states, confirmed, fits))
    if not duplicates and not refused and all(state == standing.current.get(name) for name, state in results.items()):
        evaluation.empty.append(DraftEmpty("The Draft's result equals Current.", draft_id=draft.draft_id))
    missing = {problem.context.get("memory_id") for problem in [*duplicates, *refused]}
    evaluation.blockers.extend(
        _unselected(evaluation, draft, [name for name in results if name not in missing], surroundings)
    )
    _keep(evaluation, standing, results)


def _holding(
    evaluation: Evaluation, standing: Standing, touched: Iterable[MemoryId], confirmed: Confirmed, fits: Fits
) -> Mapping[MemoryId, State] | None:
    """What is confirmed of a Draft, if that fits what plays Current for it by now."""
    draft_id = standing.draft.draft_id
    if draft_id not in confirmed:
        return None
    if fits(draft_id, {memory_id: standing.current.get(memory_id) for memory_id in touched}):
        return confirmed[draft_id]
    evaluation.outrun.append(draft_id)
    return None


def _duplicates(evaluation: Evaluation, draft: ProposedDraft, surroundings: Surroundings) -> list[Problem]:
    """Creates under an id that is a Memory's already, or that an earlier Draft of the Review gives to what it creates.

    A provisional id is compared by what it becomes.
    """
    return [
        DuplicateId(
            f"{operation.memory_id} is the id of another Memory.",
            index=index,
            memory_id=operation.memory_id,
            draft_id=draft.draft_id,
        )
        for index, operation in enumerate(draft.operations)
        if operation.action is Action.CREATE
        and (evaluation.creates(operation.memory_id) or final_id(operation.memory_id) in surroundings.taken)
    ]


def _fold(draft: ProposedDraft, base: Mapping[MemoryId, MemoryState]) -> tuple[dict[MemoryId, State], list[Problem]]:
    """The fold, leaving out what is refused: a Review whose Drafts lost a sibling still shows what is left."""
    refused: list[Problem] = []
    states = fold_what_holds(draft.operations, base, refused, check=_check_syntax, converging=True)
    for problem in refused:
        problem.context["draft_id"] = draft.draft_id
    # Named is touched: the result hash covers it, even where nothing came of it.
    untouched = {operation.memory_id: base.get(operation.memory_id) for operation in draft.operations}
    return {**untouched, **states}, refused


def _check_syntax(operation: DraftOperation) -> None:
    if operation.path is not None:
        accept_path(operation.path)
    if operation.new_path is not None:
        accept_path(operation.new_path, field="new_path")
    if operation.description is not None:
        accept_description(operation.description)


def _unselected(
    evaluation: Evaluation, draft: ProposedDraft, touched: Sequence[MemoryId], surroundings: Surroundings
) -> Iterator[Problem]:
    """Memories that the project does not select, leaving out what is to be created or restored or is gone already."""
    for memory_id in touched:
        if (
            memory_id not in surroundings.selected
            and memory_id not in surroundings.elsewhere
            and memory_id in surroundings.current
            and not evaluation.introduces(memory_id)
        ):
            yield MemoryNotSelected(
                f"{memory_id} is not in the project's selection.", memory_id=memory_id, draft_id=draft.draft_id
            )


def _keep(evaluation: Evaluation, standing: Standing, results: Mapping[MemoryId, State]) -> None:
    draft = standing.draft
    evaluation.results[draft.draft_id] = dict(results)
    for memory_id, state in results.items():
        evaluation.states[memory_id] = state
        # What is published, also for a Draft that stands on an earlier one which is not before it any more.
        evaluation.bases.setdefault(memory_id, standing.organization_base.get(memory_id))
        evaluation.first_touched_by.setdefault(memory_id, draft)
        standing.record_changes(memory_id, state)
