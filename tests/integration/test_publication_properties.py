"""Random Drafts, submitted and merged, against a model in memory: the same tree, or the same refusal."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from activities.accepting import ProposedOperation
from models.errors import TargetMissing
from models.identifiers import MemoryId, final_id
from models.rules.folding import Action
from models.store.locks import DraftRow
from models.store.operations import StoredOperation
from tests.commands import a_review, merged, result_of, submitted
from tests.invariants import check_invariants
from tests.publication_model import Doc, Model, ModelDraft, Step, World, apply, collide
from tests.publication_steps import Draw, draws, step_of
from tests.publication_verdicts import judge
from tests.rows import Somewhere, a_draft, an_organization, appended, creates, provisional_ids, ref_of, tree

few_draws = st.lists(draws, max_size=2)


@dataclass(frozen=True)
class Script:
    """What happens: a start, Drafts with what is published after each, a Review of some, and what comes before its end.

    `order` picks the Drafts of the Review, by position.
    """

    start: list[Draw]
    drafts: list[tuple[list[Draw], list[Draw]]]
    order: list[int]
    meanwhile: list[Draw]


scripts = st.builds(
    Script,
    start=st.lists(draws, max_size=4),
    drafts=st.lists(st.tuples(st.lists(draws, min_size=1, max_size=4), few_draws), min_size=1, max_size=3),
    order=st.lists(st.integers(0, 2), min_size=1, max_size=3),
    meanwhile=few_draws,
)


@dataclass
class Play:
    """The product and the model side by side; both name Memories by their final ids.

    `made` is what the Drafts so far create, each as its own Draft leaves it.
    """

    place: Somewhere
    model: Model = field(default_factory=Model)
    known: list[str] = field(default_factory=list)
    provisional: dict[str, MemoryId] = field(default_factory=dict)
    made: World = field(default_factory=dict)

    def publish(self, chosen: Sequence[Draw]) -> None:
        """Publish changes one by one, as a colleague does, leaving out those that something is in the way of."""
        for draw in chosen:
            step = step_of(draw, self.model.current)
            world = dict(self.model.current)
            if not apply(world, step) or world == self.model.current or self._is_crowded(world, step.memory):
                continue
            row = a_draft(self.place, self._sent(step))
            result_of(merged(self.place, a_review(self.place, row)))
            if step.action == "create":
                world[self._learn(row)] = world.pop(step.memory)
            self.model.publish(world)

    def _is_crowded(self, world: World, memory: str) -> bool:
        return memory in world and any(
            collide(world[memory].path, doc.path) for other, doc in world.items() if other != memory
        )

    def draft(self, chosen: Sequence[Draw]) -> tuple[DraftRow, ModelDraft]:
        """A Draft, step by step; what the model says is not there, the product refuses."""
        row, draft = a_draft(self.place), ModelDraft(self.model.version)
        view = self.model.current | self.made
        for draw in chosen:
            step = step_of(draw, self.known)
            if step.action != "create" and step.memory not in view:
                with pytest.raises(TargetMissing):
                    appended(self.place, row, self._sent(step))
                continue
            row = appended(self.place, row, self._sent(step))
            if step.action == "create":
                step = replace(step, memory=self._learn(row))
            apply(view, step)
            draft.steps.append(step)
        self.made |= {memory: view[memory] for memory in draft.creates & view.keys()}
        return row, draft

    def _learn(self, row: DraftRow) -> str:
        """The final id of what a Draft created last."""
        provisional = provisional_ids(self.place, row.draft_id)[-1]
        memory = str(final_id(provisional))
        self.provisional[memory] = provisional
        self.known.append(memory)
        return memory

    def _sent(self, step: Step) -> ProposedOperation:
        if step.action == "create":
            return creates(step.path or "", step.body or "", step.description or "")
        published = step.memory in self.model.current or step.memory not in self.provisional
        return ProposedOperation(
            Action(step.action),
            MemoryId(step.memory) if published else self.provisional[step.memory],
            new_path=step.path,
            content=step.body,
            description=step.description,
        )


def code(operation: StoredOperation) -> str | None:
    assert operation.status in ("succeeded", "failed")
    return None if operation.problem is None else str(operation.problem["code"])


def shown(world: dict[str, Doc]) -> dict[str, tuple[str, str, str]]:
    return {memory: (doc.path, doc.description, doc.body) for memory, doc in world.items()}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(script=scripts)
def test_a_review_publishes_what_the_model_says_or_is_refused_with_its_code(engine: Engine, script: Script) -> None:
    play_out(Play(an_organization(engine)), script)


@pytest.mark.long
@pytest.mark.timeout(3_600)
@settings(max_examples=2_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(script=scripts)
def test_many_more_reviews_do_too(engine: Engine, script: Script) -> None:
    play_out(Play(an_organization(engine)), script)


def play_out(play: Play, script: Script) -> None:
    place, model = play.place, play.model
    play.publish(script.start)
    made = []
    for chosen, upstream in script.drafts:
        made.append(play.draft(chosen))
        play.publish(upstream)
    members = [made[position] for position in dict.fromkeys(number % len(made) for number in script.order)]
    drafts = [draft for _, draft in members]

    submit = submitted(place, *(row for row, _ in members))
    assert code(submit) == judge(model, drafts).first(submitting=True)
    if submit.review_id is not None and submit.status == "succeeded":
        for draft in drafts:
            draft.base = model.version
        play.publish(script.meanwhile)
        merge, verdict = merged(place, submit.review_id), judge(model, drafts)
        assert code(merge) == verdict.first(submitting=False)
        if merge.status == "succeeded":
            assert result_of(merge)["already_published"] == (verdict.world == model.current)
            model.publish(verdict.world)
    assert tree(place) == shown(model.current)
    assert ref_of(place)[1] == model.version
    check_invariants(place.engine, place.org_id)
