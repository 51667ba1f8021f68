"""What a Review of Drafts comes to in the model: the world it would publish, and everything that is in the way.

Written from the contract and from nothing of the product's rules, like the model itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tests.publication_model import Model, ModelDraft, State, World, collide, fold, merge, stays

PRECEDENCE = (
    "draft_empty",
    "operation_invalid",
    "target_missing",
    "memory_not_selected",
    "candidate_stale",
    "reconciliation_required",
    "path_collision",
)

Confirmed = Mapping[int, Mapping[str, State]]
"""By position of a Draft whose candidate is confirmed, the states that settle its conflicts."""


@dataclass
class Verdict:
    """What Drafts come to, in order.

    Args:
        world: all Memories, as they would be published.
        codes: every code against it.
        empty: whether a Draft changes nothing.
        before: by Draft, what plays Current for each Memory that it touches.
        drafts: by Draft, what it says of them itself.
        results: by Draft, what it makes of them.
        contested: by Draft, the Memories of which both sides say different things.
        asking: the Drafts that need a confirmed candidate.
        broken: the Drafts of which some operation does not hold.
        crowded: the Drafts that put something where nobody is to be asked about it.
        made: what the Drafts create or restore.
    """

    world: World
    codes: set[str] = field(default_factory=set)
    empty: bool = False
    before: list[dict[str, State]] = field(default_factory=list)
    drafts: list[dict[str, State]] = field(default_factory=list)
    results: list[dict[str, State]] = field(default_factory=list)
    contested: list[set[str]] = field(default_factory=list)
    asking: set[int] = field(default_factory=set)
    broken: set[int] = field(default_factory=set)
    crowded: set[int] = field(default_factory=set)
    made: set[str] = field(default_factory=set)

    def first(self, *, submitting: bool) -> str | None:
        codes = self.codes | ({"draft_empty"} if self.empty and submitting else set())
        return next((code for code in PRECEDENCE if code in codes), None)

    @property
    def states(self) -> dict[str, State]:
        """What becomes of every Memory that is touched."""
        return {memory: self.world.get(memory) for results in self.results for memory in results}


def judge(
    model: Model,
    drafts: Sequence[ModelDraft],
    *,
    confirmed: Confirmed | None = None,
    selected: set[str] | None = None,
    elsewhere: World | None = None,
) -> Verdict:
    """Apply Drafts in order to Current, and ask everything that the contract asks.

    Args:
        model: the versions so far.
        drafts: those of the Review.
        confirmed: which of them their author confirms a candidate of.
        selected: what the project selects; None: everything.
        elsewhere: what the author's other Drafts create, of a Draft that is looked at alone.
    """
    verdict, course = Verdict(dict(model.current)), _Course(confirmed or {}, elsewhere or {})
    for number in range(len(drafts)):
        _judge_draft(model, drafts, number, verdict, course)
        _ask_selection(model, drafts[: number + 1], verdict, selected)
    _collisions(model, drafts, verdict, course)
    if verdict.asking:
        verdict.codes.add("reconciliation_required")
    return verdict


@dataclass
class _Course:
    """Who came first to each Memory, who put it where it is, and what is undecided."""

    confirmed: Confirmed
    elsewhere: World
    first: dict[str, int] = field(default_factory=dict)
    placed: dict[str, int] = field(default_factory=dict)
    undecided: set[str] = field(default_factory=set)

    def goes_on(self, number: int, memory: str, before: State, after: State, *, published: State) -> None:
        self.first.setdefault(memory, number)
        if after is None or (published and published.path == after.path):
            self.placed.pop(memory, None)
        elif before is None or before.path != after.path:
            self.placed[memory] = number


def _judge_draft(model: Model, drafts: Sequence[ModelDraft], number: int, verdict: Verdict, course: _Course) -> None:
    draft, world = drafts[number], dict(verdict.world)
    made = set[str]().union(*(earlier.creates for earlier in drafts[:number]))
    overlay = {
        memory: state
        for memory, state in draft.overlay.items()
        if not memory.startswith("prv_") or memory in made or memory in course.elsewhere
    }
    so_far = {memory: verdict.world.get(memory) for memory in made}
    start = _present({**model.versions[draft.base], **course.elsewhere, **so_far, **overlay})
    folded = fold(model, draft.steps, start)
    confirmed = course.confirmed.get(number)
    before = {memory: verdict.world.get(memory, course.elsewhere.get(memory)) for memory in folded.states}
    results: dict[str, State] = {}
    contested_here: set[str] = set()
    for memory, after in folded.states.items():
        together, contested = merge(start.get(memory), before[memory], after)
        if memory in overlay or memory in course.elsewhere:
            changes = before[memory] != start.get(memory) and together != after
        else:
            base = model.versions[draft.base].get(memory)
            changes = memory not in draft.creates and not stays(base, after, model.current.get(memory))
        settled = confirmed is not None and memory in confirmed
        if (contested and not settled) or (changes and confirmed is None):
            verdict.asking.add(number)
        contested_here |= {memory} if contested else set()
        course.undecided |= {memory} if "existence" in contested and not settled else set()
        results[memory] = confirmed[memory] if confirmed is not None and settled else together
        course.goes_on(number, memory, before[memory], results[memory], published=model.current.get(memory))
        world.pop(memory, None)
        world |= _present({memory: results[memory]})
    verdict.codes |= folded.refused
    verdict.broken |= {number} if folded.refused else set()
    verdict.empty |= not folded.refused and results == before
    told_anew = {memory for memory, state in results.items() if state is not None and before[memory] is None}
    verdict.made |= draft.creates | (draft.restores if confirmed is None else told_anew)
    verdict.before.append(before)
    verdict.drafts.append(folded.states)
    # A create that its author gives up is told no more; what was there before stays named.
    dropped = {memory for memory in draft.creates if confirmed is not None and results[memory] is None}
    verdict.results.append({memory: state for memory, state in results.items() if memory not in dropped})
    verdict.contested.append(contested_here)
    verdict.world = world


def _present(states: Mapping[str, State]) -> World:
    return {memory: state for memory, state in states.items() if state is not None}


def _ask_selection(model: Model, drafts: Sequence[ModelDraft], verdict: Verdict, selected: set[str] | None) -> None:
    if selected is None:
        return
    needed = verdict.results[-1].keys() & model.current.keys()
    if needed - verdict.made - selected:
        verdict.codes.add("memory_not_selected")


def _collisions(model: Model, drafts: Sequence[ModelDraft], verdict: Verdict, course: _Course) -> None:
    of_memory = [
        (memory, number, asks)
        for pair in combinations(sorted(verdict.world.keys() - course.undecided), 2)
        if any(memory in course.placed for memory in pair) and collide(*(verdict.world[memory].path for memory in pair))
        for memory, number, asks in [_meeting(model, drafts, course, pair)]
    ]
    answered = [(memory, number) for memory, number, _ in of_memory if memory in course.confirmed.get(number, {})]
    verdict.asking |= {number for memory, number, asks in of_memory if asks and (memory, number) not in answered}
    verdict.crowded = {
        number for memory, number, _ in of_memory if number not in verdict.asking or (memory, number) in answered
    }
    verdict.codes |= {"path_collision"} if verdict.crowded else set()


def _meeting(
    model: Model, drafts: Sequence[ModelDraft], course: _Course, pair: tuple[str, str]
) -> tuple[str, int, bool]:
    """Of two Memories in each other's way the one that was placed there, by which Draft, and whether that asks."""
    placed = [(course.placed[memory], memory) for memory in pair if memory in course.placed]
    number, memory = max(placed)
    if len(placed) > 1:
        return memory, number, min(placed)[0] != number
    (standing,) = set(pair) - {memory}
    touched_before = course.first.get(standing, number) < number
    return memory, number, touched_before or model.changed_since(standing, drafts[number].base)
