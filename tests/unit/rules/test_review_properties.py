"""The evaluation of a Review against a model that asks every pair, on thousands of small histories."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from models.errors import first_by_precedence
from models.identifiers import DraftId, MemoryId
from models.rules.conflicts import ContestedField
from models.rules.evaluation import Evaluation, ProposedDraft, Surroundings
from models.rules.folding import Action, DraftOperation
from models.rules.hashes import body_of
from models.rules.paths import accept_path
from models.rules.review import evaluate
from models.rules.states import MemoryState
from tests.publication_model import Model, ModelDraft, Step, World, apply, collide
from tests.publication_steps import BODIES, Draw, draws, step_of
from tests.publication_verdicts import judge
from tests.unit.rules.examples import each_at

few_draws = st.lists(draws, max_size=3)
histories = st.lists(few_draws, min_size=1, max_size=3)
"""What is published at once, version by version."""
proposals = st.lists(st.tuples(st.integers(0, 3), st.lists(draws, min_size=1, max_size=4)), min_size=1, max_size=3)
"""Drafts: how many versions they are behind, and their steps."""


@settings(max_examples=1_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories, proposed=proposals, order=st.permutations(range(3)))
def test_a_review_is_judged_as_the_model_judges_it(
    history: list[list[Draw]], proposed: list[tuple[int, list[Draw]]], order: Sequence[int]
) -> None:
    model = a_model(history)
    drafts = some_drafts(model, proposed)
    drafts = [drafts[position] for position in order if position < len(drafts)]
    evaluation = evaluate([a_proposed(number, draft) for number, draft in enumerate(drafts)], around(model, drafts))
    verdict = judge(model, drafts)
    for submitting in (True, False):
        assert code_of(evaluation, submitting=submitting) == verdict.first(submitting=submitting)
    if not evaluation.blockers:
        assert states(model.current) | evaluation.final_states == states(verdict.world) | dict.fromkeys(
            memory_id for memory_id, state in evaluation.final_states.items() if state is None
        )


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories, proposed=proposals)
def test_every_memory_that_is_in_another_ones_way_has_a_record_of_it_where_its_draft_asks(
    history: list[list[Draw]], proposed: list[tuple[int, list[Draw]]]
) -> None:
    model = a_model(history)
    drafts = some_drafts(model, proposed)
    evaluation = evaluate([a_proposed(number, draft) for number, draft in enumerate(drafts)], around(model, drafts))
    displaced = displaced_in(evaluation, model)
    for draft_id, reconciliation in evaluation.reconciliations.items():
        told = {each.memory_id for each in reconciliation.conflicts if each.paths is not None}
        assert told == (displaced[draft_id] if draft_id in evaluation.needs_reconciliation else set())


def displaced_in(evaluation: Evaluation, model: Model) -> dict[DraftId, set[MemoryId]]:
    """By Draft, what it put where an earlier Draft or Current has something else, asking every pair."""
    contested = {
        conflict.memory_id
        for reconciliation in evaluation.reconciliations.values()
        for conflict in reconciliation.conflicts
        if conflict.field is ContestedField.EXISTENCE
    }
    world = {**states(model.current), **evaluation.states}
    there = {name: state.path for name, state in world.items() if state is not None and name not in contested}
    order = list(evaluation.reconciliations)
    found: dict[DraftId, set[MemoryId]] = {draft_id: set() for draft_id in order}
    for pair in permutations(there, 2):
        one, other = (evaluation.moved_by.get(memory_id) for memory_id in pair)
        if one is None or not collide(*(there[memory_id] for memory_id in pair)):
            continue
        if other is None or order.index(other.draft_id) < order.index(one.draft_id):
            found[one.draft_id].add(pair[0])
    return found


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories, proposed=proposals)
def test_a_draft_alone_on_its_own_base_is_itself(
    history: list[list[Draw]], proposed: list[tuple[int, list[Draw]]]
) -> None:
    model = a_model(history)
    for draft in some_drafts(model, [(0, chosen) for _, chosen in proposed]):
        evaluation = evaluate([a_proposed(0, draft)], around(model, [draft]))
        (reconciliation,) = evaluation.reconciliations.values()
        assert (reconciliation.conflicts, reconciliation.asking, evaluation.texts) == ([], [], {})
        assert all(each.proposed == each.draft and each.current == each.base for each in reconciliation.comparisons)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories, proposed=proposals)
def test_an_evaluation_depends_on_nothing_but_what_it_is_given_and_drafts_on_results_alone(
    history: list[list[Draw]], proposed: list[tuple[int, list[Draw]]]
) -> None:
    model = a_model(history)
    drafts = some_drafts(model, proposed)
    numbered = list(enumerate(drafts))
    first = evaluate([a_proposed(*each) for each in numbered], around(model, drafts))
    again = evaluate([a_proposed(*each) for each in numbered], around(model, drafts))
    assert (first.states, first.reconciliations) == (again.states, again.reconciliations)
    if all(touched(one).isdisjoint(touched(other)) for one, other in combinations(drafts, 2)):
        turned = evaluate([a_proposed(*each) for each in reversed(numbered)], around(model, drafts))
        assert turned.final_states == first.final_states
        for draft_id, reconciliation in first.reconciliations.items():
            assert turned.reconciliations[draft_id].comparisons == reconciliation.comparisons


def touched(draft: ModelDraft) -> set[str]:
    return {step.memory for step in draft.steps}


@pytest.mark.parametrize("code", [None, "draft_empty", "target_missing", "reconciliation_required", "path_collision"])
def test_the_histories_reach_every_verdict(code: str | None) -> None:
    def reaches(example: tuple[list[list[Draw]], list[tuple[int, list[Draw]]]]) -> bool:
        model = a_model(example[0])
        return judge(model, some_drafts(model, example[1])).first(submitting=True) == code

    find(
        st.tuples(histories, proposals),
        reaches,
        settings=settings(max_examples=5_000, phases=[Phase.generate], database=None),
    )


def a_model(history: list[list[Draw]]) -> Model:
    """Versions in which no two Memories are in each other's way."""
    model = Model()
    for number, chosen in enumerate(history):
        world = dict(model.current)
        for position, draw in enumerate(chosen):
            changed = dict(world)
            archived = sorted({memory for version in model.versions for memory in version} - changed.keys())
            step = step_of(draw, changed, archived)
            memory = f"mem_{number}{position}" if step.action == "create" else step.memory
            if apply(changed, replace(step, memory=memory)) and not is_crowded(changed, memory):
                world = changed
        model.publish(world)
    return model


def is_crowded(world: World, memory: str) -> bool:
    return memory in world and any(
        collide(world[memory].path, doc.path) for other, doc in world.items() if other != memory
    )


def some_drafts(model: Model, proposed: list[tuple[int, list[Draw]]]) -> list[ModelDraft]:
    """Drafts whose steps name what their base holds or has lost, or what any of them creates."""
    created = [
        f"mem_new{number}{position}" for number, (_, chosen) in enumerate(proposed) for position in range(len(chosen))
    ]
    drafts: list[ModelDraft] = []
    for number, (behind, chosen) in enumerate(proposed):
        draft = ModelDraft(max(0, model.version - behind))
        base = model.versions[draft.base]
        gone = sorted({memory for world in model.versions[: draft.base] for memory in world} - base.keys())
        for position, draw in enumerate(chosen):
            back = [step.memory for step in draft.steps if step.action == "restore"]
            step = step_of(draw, [*base, *created, *back], [memory for memory in gone if memory not in back])
            if step.action == "create":
                step = replace(step, memory=f"mem_new{number}{position}")
            draft.steps.append(step)
        drafts.append(draft)
    return drafts


def a_proposed(number: int, draft: ModelDraft) -> ProposedDraft:
    return ProposedDraft(DraftId(f"drf_{number}"), draft.base, [an_operation(step) for step in draft.steps])


def an_operation(step: Step) -> DraftOperation:
    memory_id = MemoryId(step.memory.replace("mem_new", "prv_new"))
    path = None if step.path is None else accept_path(step.path)
    return DraftOperation(
        Action(step.action),
        memory_id,
        path=path if step.action in ("create", "restore") else None,
        new_path=path if step.action == "rename" else None,
        body=None if step.body is None else body_of(step.body),
        description=step.description,
    )


def around(model: Model, drafts: Sequence[ModelDraft]) -> Surroundings:
    bases = {draft.base for draft in drafts}
    named = {memory for draft in drafts for memory in touched(draft)}
    return Surroundings(
        version=model.version,
        current=states(model.current),
        bases={base: states(model.versions[base]) for base in bases},
        selected=states(model.current),
        occupants={MemoryId(memory): doc.path for memory, doc in model.current.items()},
        changed_since={
            base: [MemoryId(memory) for memory in model.current if model.changed_since(memory, base)] for base in bases
        },
        read={body_of(text).blob_id: text for text in BODIES}.__getitem__,
        free_among=lambda paths: {
            path
            for path in paths
            if not any(collide(path, doc.path) for memory, doc in model.current.items() if memory not in named)
        },
        each_at=each_at({version: states(world) for version, world in enumerate(model.versions)}),
    )


def states(world: World) -> dict[MemoryId, MemoryState]:
    return {
        MemoryId(memory): MemoryState(doc.path, doc.description, body_of(doc.body)) for memory, doc in world.items()
    }


def code_of(evaluation: Evaluation, *, submitting: bool) -> str | None:
    problem = first_by_precedence([*evaluation.blockers, *(evaluation.empty if submitting else [])])
    return None if problem is None else problem.code
