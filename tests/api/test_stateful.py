"""Whatever authors and admins do, in any order: after each step the API shows what a model in memory says."""

from collections.abc import Sequence

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from sqlalchemy import Engine

from models.identifiers import OrganizationId
from tests.api_held import LIVE, UNDECIDED, HeldDraft, HeldReview
from tests.api_play import Play, a_play
from tests.client import Client
from tests.invariants import check_invariants
from tests.machines import run_machine
from tests.publication_model import Step
from tests.publication_steps import Draw, roomy_draws, step_of

SELDOM = 11
numbers = st.integers(0, SELDOM)
choices = st.integers(0, 3)
few_draws = st.lists(roomy_draws, min_size=1, max_size=3)


class Colleagues(RuleBasedStateMachine):
    """Two authors and two admins at work; each draw is a number, modulo what there is."""

    api: Client
    engine: Engine
    waits_for_passes = False
    play: Play

    @initialize(projects=st.integers(1, 2), required=st.integers(0, 2), first=few_draws)
    def begin(self, projects: int, required: int, first: list[Draw]) -> None:
        self.play = a_play(self.api, projects=projects, required_approvals=required)
        self.publish(0, first)

    @rule(who=numbers, behind=st.sampled_from((0, 0, 0, 1, 2)), chosen=few_draws)
    def open_draft(self, who: int, behind: int, chosen: list[Draw]) -> None:
        author, project = self._author(who), self._project(who // 2)
        self.play.open_draft(author, project, behind, self._steps(self.play.blank(author, project, behind), chosen))

    @precondition(lambda self: self.live())
    @rule(which=numbers, chosen=few_draws)
    def append(self, which: int, chosen: list[Draw]) -> None:
        draft = self._draft(which)
        self.play.append(draft, self._steps(draft, chosen))

    @precondition(lambda self: self.live())
    @rule(which=numbers, by_admin=st.booleans())
    def discard(self, which: int, *, by_admin: bool) -> None:
        draft = self._draft(which)
        self.play.discard(draft, self.play.admins[1] if by_admin else draft.author)

    @precondition(lambda self: self.live())
    @rule(which=st.lists(numbers, min_size=1, max_size=3), choice=choices)
    def submit(self, which: list[int], choice: int) -> None:
        first = self._draft(which[0])
        self.play.submit(self._beside(first, which), choice)

    @precondition(lambda self: self.play.model.reviews)
    @rule(which=numbers, drafts=st.lists(numbers, max_size=2), choice=choices)
    def resubmit(self, which: int, drafts: list[int], choice: int) -> None:
        review = self._review(which)
        members = [member for member in review.members if member.status in LIVE] if which % 3 else []
        others = self.play.model.of(review.author, review.project)
        chosen = [*members, *(others[number % len(others)] for number in drafts if others)]
        if chosen:
            self.play.submit(list({each.draft_id: each for each in chosen}.values()), choice, review)

    @precondition(lambda self: self.undecided())
    @rule(which=numbers, who=numbers, decision=st.sampled_from(("approved", "approved", "rejected")))
    def decide(self, which: int, who: int, decision: str) -> None:
        self.play.decide(self._review(which), self._admin(who), decision)

    @precondition(lambda self: self.undecided())
    @rule(which=numbers, by_admin=st.booleans())
    def withdraw(self, which: int, *, by_admin: bool) -> None:
        review = self._review(which)
        self.play.withdraw(review, self.play.admins[0] if by_admin else review.author)

    @precondition(lambda self: self.undecided())
    @rule(which=numbers, who=numbers, names_hash=st.booleans())
    def merge(self, which: int, who: int, *, names_hash: bool) -> None:
        self.play.merge(self._review(which), self._admin(who), names_hash=names_hash)

    @rule(who=numbers, chosen=few_draws)
    def publish(self, who: int, chosen: list[Draw]) -> None:
        author, project = self._author(who), self._project(who // 2)
        self._publish(author, project, self._steps(self.play.blank(author, project, 0), chosen))

    @precondition(lambda self: self.live())
    @rule(which=numbers, draw=roomy_draws)
    def overtake(self, which: int, draw: Draw) -> None:
        """Publish a change of what a Draft changes, from whichever project selects it."""
        named = {step.memory for step in self._draft(which).steps} & self.play.model.model.current.keys()
        at = [(memory, project) for memory in sorted(named) for project in self._selecting(memory)]
        if at:
            memory, project = at[which % len(at)]
            self._publish(self._author(which), project, [step_of((2 + draw[0] % 4, 0, draw[2]), [memory])])

    @precondition(lambda self: self.play.model.model.current)
    @rule(who=numbers, which=numbers, chosen=st.lists(roomy_draws, min_size=2, max_size=3), choice=choices)
    def compete(self, who: int, which: int, chosen: list[Draw], choice: int) -> None:
        """Submit Drafts of one author together that change one Memory."""
        author, project = self._author(who), self._project(who // 2)
        at = sorted(self.play.model.installed(project))
        if at:
            steps = [step_of((2 + action % 4, 0, value), [at[which % len(at)]]) for action, _, value in chosen]
            drafts = [self.play.open_draft(author, project, 0, [step]) for step in steps]
            self.play.submit([draft for draft in drafts if draft is not None], choice)

    @precondition(lambda self: self.live())
    @rule(which=numbers, choice=choices)
    def rebase(self, which: int, choice: int) -> None:
        self.play.rebase(self._draft(which), choice)

    @precondition(lambda self: self.play.model.model.version > 0)
    @rule(who=numbers, which=numbers)
    def revert(self, who: int, which: int) -> None:
        version = 1 + which % self.play.model.model.version
        self.play.revert(self._author(who), self._project(which), version)

    @rule(which=numbers, mask=st.integers(0, 255))
    def select(self, which: int, mask: int) -> None:
        known = sorted(self.play.model.model.current)
        wanted = {memory for position, memory in enumerate(known) if mask >> position % 8 & 1}
        self.play.select(self.play.admins[0], self._project(which), wanted)

    @rule(which=numbers, who=numbers)
    def read_closely_and_comment(self, which: int, who: int) -> None:
        self.look_closely()
        if self.play.model.reviews:
            self.play.comment(self._review(which), self._author(who))

    @invariant()
    def both_show_the_same(self) -> None:
        if hasattr(self, "play"):
            self.play.compare()

    def teardown(self) -> None:
        if not hasattr(self, "play"):
            return
        if self.waits_for_passes:
            self.play.settle()
        self.look_closely()
        check_invariants(self.engine, OrganizationId(self.play.organization.organization_id))

    def look_closely(self) -> None:
        self.play.compare_details()
        self.play.compare_projects()

    def live(self) -> list[HeldDraft]:
        return [draft for draft in self.play.model.drafts.values() if draft.status in LIVE]

    def undecided(self) -> list[HeldReview]:
        return [review for review in self.play.model.reviews.values() if review.status in UNDECIDED]

    def _publish(self, author: str, project: str, steps: Sequence[Step]) -> None:
        """All the way, as far as it goes."""
        draft = self.play.open_draft(author, project, 0, steps)
        if draft is None:
            return
        self.play.submit([draft], 0)
        review = self.play.model.reviews.get(draft.review or "")
        if review is not None:
            for admin in self.play.admins[: self.play.model.required_approvals]:
                self.play.decide(review, admin, "approved")
            self.play.merge(review, self.play.admins[0], names_hash=True)

    def _is_behind(self, draft: HeldDraft) -> bool:
        return draft.base < self.play.model.model.version or bool(draft.overlay)

    def _selecting(self, memory: str) -> list[str]:
        return [project for project in self.play.projects if memory in self.play.model.selected[project]]

    def _steps(self, draft: HeldDraft, chosen: Sequence[Draw]) -> list[Step]:
        """Steps on what the author sees there, or, now and then, on what is not there."""
        view, ever = self.play.model.view(draft), self.play.model.model.versions
        gone = {memory for world in ever for memory in world} - view.keys()
        return [step_of(draw, [*view, *gone][: 7 + len(view)], sorted(gone)) for draw in chosen]

    def _draft(self, which: int) -> HeldDraft:
        """One that is behind, one that is live, or, seldom, any."""
        live = self.live()
        behind = [draft for draft in live if self._is_behind(draft)]
        found = [*self.play.model.drafts.values()] if which == SELDOM else behind if behind and which % 2 else live
        return found[-1 - which // 2 % len(found)]

    def _beside(self, first: HeldDraft, which: Sequence[int]) -> list[HeldDraft]:
        others = self.play.model.of(first.author, first.project) or [first]
        chosen = [first, *(others[number % len(others)] for number in which[1:])]
        return list({each.draft_id: each for each in chosen}.values())

    def _review(self, which: int) -> HeldReview:
        """Undecided ones more often than others."""
        reviews = [*self.play.model.reviews.values()]
        found = reviews if which == SELDOM else self.undecided() or reviews
        return found[-1 - which % len(found)]

    def _author(self, who: int) -> str:
        return self.play.authors[who % len(self.play.authors)]

    def _admin(self, who: int) -> str:
        return self.play.admins[who % len(self.play.admins)]

    def _project(self, which: int) -> str:
        return self.play.projects[which % len(self.play.projects)]


def run(api: Client, engine: Engine, *, examples: int, steps: int, derandomize: bool, waits_for_passes: bool) -> None:
    class Machine(Colleagues):
        pass

    Machine.api, Machine.engine, Machine.waits_for_passes = api, engine, waits_for_passes
    run_machine(Machine, examples=examples, steps=steps, derandomize=derandomize)


@pytest.mark.usefixtures("worker")
def test_whatever_is_done_in_whatever_order_the_api_shows_what_the_model_says(api: Client, engine: Engine) -> None:
    run(api, engine, examples=3, steps=20, derandomize=True, waits_for_passes=False)


@pytest.mark.long
@pytest.mark.timeout(7_200)
@pytest.mark.usefixtures("worker")
def test_it_does_in_two_hundred_longer_plays_too(api: Client, engine: Engine) -> None:
    run(api, engine, examples=200, steps=40, derandomize=False, waits_for_passes=True)
