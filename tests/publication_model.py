"""A small model of publication in memory, written from the contract and from nothing of the product's rules.

Memories are what they say; versions are whole copies; every question is asked of every pair.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

PRECEDENCE = ("draft_empty", "target_missing", "reconciliation_required", "path_collision")


@dataclass(frozen=True)
class Doc:
    path: str
    description: str
    body: str


World = dict[str, Doc]

FIELDS = ("path", "description", "body")


@dataclass(frozen=True)
class Step:
    """One operation of a Draft; fields that it does not carry are None."""

    action: str
    memory: str
    path: str | None = None
    description: str | None = None
    body: str | None = None


@dataclass
class ModelDraft:
    """Operations on top of the version `base`."""

    base: int
    steps: list[Step] = field(default_factory=list)

    @property
    def creates(self) -> set[str]:
        return {step.memory for step in self.steps if step.action == "create"}


@dataclass
class Model:
    """The versions so far; the first is empty."""

    versions: list[World] = field(default_factory=lambda: [{}])

    @property
    def current(self) -> World:
        return self.versions[-1]

    @property
    def version(self) -> int:
        return len(self.versions) - 1

    def publish(self, world: World) -> None:
        if world != self.current:
            self.versions.append(world)

    def changed_since(self, memory: str, version: int) -> bool:
        later = range(version + 1, len(self.versions))
        return any(self.versions[number].get(memory) != self.versions[number - 1].get(memory) for number in later)


def apply(world: World, step: Step) -> bool:
    """Do one step to a world; False, and nothing done, when its target is not there."""
    path = None if step.path is None else unicodedata.normalize("NFC", step.path)
    if step.action in ("create", "restore"):
        world[step.memory] = Doc(path or "", step.description or "", step.body or "")
        return True
    there = world.get(step.memory)
    if there is None:
        return False
    if step.action == "delete":
        del world[step.memory]
    else:
        given = {"path": path, "description": step.description, "body": step.body}
        world[step.memory] = replace(there, **{name: value for name, value in given.items() if value is not None})
    return True


def collide(one: str, other: str) -> bool:
    """Whether no disk could hold both: folded like a name on a disk, equal, or one the folder of the other."""
    first, second = ([_folded(part) for part in path.split("/")] for path in (one, other))
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]


def _folded(part: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", part).casefold())


@dataclass
class Verdict:
    """What a Review of Drafts comes to: the world it would publish, and every code against it."""

    world: World
    codes: set[str] = field(default_factory=set)
    empty: bool = False

    def first(self, *, submitting: bool) -> str | None:
        codes = self.codes | ({"draft_empty"} if self.empty and submitting else set())
        return next((code for code in PRECEDENCE if code in codes), None)


def judge(model: Model, drafts: Sequence[ModelDraft]) -> Verdict:
    """Apply Drafts in order to Current, and ask everything that the contract asks."""
    verdict = Verdict(dict(model.current))
    course = _Course()
    for number in range(len(drafts)):
        _judge_draft(model, drafts, number, verdict, course)
    if course.asking:
        verdict.codes.add("reconciliation_required")
    verdict.codes |= _collisions(model, drafts, verdict.world, course)
    return verdict


def _judge_draft(model: Model, drafts: Sequence[ModelDraft], number: int, verdict: Verdict, course: "_Course") -> None:
    outcome = _own_outcome(model, drafts, number, verdict.world)
    is_whole = outcome is not None
    if outcome is None:
        verdict.codes.add("target_missing")
        outcome = _own_outcome(model, drafts, number, verdict.world, leniently=True) or {}
    world = dict(verdict.world)
    for memory, after in outcome.items():
        before, published = verdict.world.get(memory), model.current.get(memory)
        if memory in _created_before(drafts, number):
            together, contested = merge(before, before, after)
        else:
            base = model.versions[drafts[number].base].get(memory)
            together, contested = merge(base, before, after)
            if contested or not _stays(base, after, published):
                course.asking.add(number)
        course.goes_on(number, memory, before, together, published=published)
        course.undecided |= {memory} if "existence" in contested else set()
        world.pop(memory, None)
        if together is not None:
            world[memory] = together
    verdict.empty |= is_whole and world == verdict.world
    verdict.world = world


@dataclass
class _Course:
    """Who came first to each Memory, who put it where it is, which Drafts have to ask, and what is undecided."""

    first: dict[str, int] = field(default_factory=dict)
    placed: dict[str, int] = field(default_factory=dict)
    asking: set[int] = field(default_factory=set)
    undecided: set[str] = field(default_factory=set)

    def goes_on(
        self, number: int, memory: str, before: Doc | None, after: Doc | None, *, published: Doc | None
    ) -> None:
        self.first.setdefault(memory, number)
        if after is None or (published and published.path == after.path):
            self.placed.pop(memory, None)
        elif before is None or before.path != after.path:
            self.placed[memory] = number


def _created_before(drafts: Sequence[ModelDraft], number: int) -> set[str]:
    return set().union(*(earlier.creates for earlier in drafts[:number]))


def merge(base: Doc | None, theirs: Doc | None, ours: Doc | None) -> tuple[Doc | None, set[str]]:
    """What two changes of a Memory come to, and what is contested; ours, where anything is.

    Bodies count as one line: two changes of them always meet.
    """
    if theirs == base or ours in (base, theirs):
        return (theirs if ours == base else ours), set()
    if ours is None or theirs is None:
        return ours, {"existence"}
    before = base or Doc("", "", "")
    fields = [(name, getattr(before, name), getattr(theirs, name), getattr(ours, name)) for name in FIELDS]
    if contested := {name for name, *values in fields if len(set(values)) == len(values)}:
        return ours, contested
    return replace(ours, **{name: their for name, was, their, our in fields if our == was}), set()


def _own_outcome(
    model: Model, drafts: Sequence[ModelDraft], number: int, so_far: World, *, leniently: bool = False
) -> dict[str, Doc | None] | None:
    """What a Draft makes of each Memory it names, over its base and what earlier Drafts created."""
    draft = drafts[number]
    created_before = _created_before(drafts, number)
    start = model.versions[draft.base] | {memory: so_far[memory] for memory in created_before if memory in so_far}
    world = dict(start)
    named: dict[str, None] = {}
    for position, step in enumerate(draft.steps):
        if apply(world, step) or _has_gone_already(model, draft, start, position):
            named[step.memory] = None
        elif not leniently:
            return None
    return {memory: world.get(memory) for memory in named}


def _has_gone_already(model: Model, draft: ModelDraft, start: World, position: int) -> bool:
    """Whether a step leads up to the delete of a published Memory that the base, moved on since, no longer has."""
    memory = draft.steps[position].memory
    was_published = any(memory in world for world in model.versions)
    deletes = [number for number, step in enumerate(draft.steps) if (step.action, step.memory) == ("delete", memory)]
    return was_published and memory not in start and bool(deletes) and position <= deletes[0]


def _stays(base: Doc | None, draft: Doc | None, current: Doc | None) -> bool:
    """Whether a three-way merge, field by field, gives exactly what the Draft proposes."""
    return current == base or (merge(base, current, draft) == (draft, set()))


def _collisions(model: Model, drafts: Sequence[ModelDraft], world: World, course: _Course) -> set[str]:
    codes: set[str] = set()
    for pair in combinations(world.keys() - course.undecided, 2):
        if not collide(*(world[memory].path for memory in pair)):
            continue
        placing = {course.placed[memory] for memory in pair if memory in course.placed}
        if all(memory in course.placed for memory in pair):
            codes.add("path_collision" if len(placing) == 1 else "reconciliation_required")
            continue
        (number,) = placing
        (standing,) = (memory for memory in pair if memory not in course.placed)
        touched_before = course.first.get(standing, number) < number
        moved_in = model.changed_since(standing, drafts[number].base)
        asks = touched_before or moved_in or number in course.asking
        codes.add("reconciliation_required" if asks else "path_collision")
    return codes
