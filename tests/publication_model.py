"""A small model of publication in memory, written from the contract and from nothing of the product's rules.

Memories are what they say; versions are whole copies; every question is asked of every pair.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

PRECEDENCE = ("draft_empty", "target_missing", "reconciliation_required", "path_collision")


@dataclass(frozen=True)
class Doc:
    path: str
    description: str
    body: str


World = dict[str, Doc]


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
    if step.action == "create":
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
    touched: dict[str, int] = {}
    placed: dict[str, int] = {}
    asking: set[int] = set()
    for number, draft in enumerate(drafts):
        outcome = _own_outcome(model, drafts, number, verdict.world)
        if outcome is None:
            verdict.codes.add("target_missing")
            outcome = _own_outcome(model, drafts, number, verdict.world, leniently=True) or {}
        elif all(verdict.world.get(memory) == after for memory, after in outcome.items()):
            verdict.empty = True
        base = model.versions[draft.base]
        for memory, after in outcome.items():
            published = memory in base
            if published and (memory in touched or not _stays(base[memory], after, model.current.get(memory))):
                verdict.codes.add("reconciliation_required")
                asking.add(number)
            before = verdict.world.get(memory)
            if memory not in placed or (after and before and after.path != before.path):
                placed[memory] = number
            touched[memory] = number
            verdict.world.pop(memory, None)
            if after is not None:
                verdict.world[memory] = after
    verdict.codes |= _collisions(model, drafts, verdict.world, placed, asking)
    return verdict


def _own_outcome(
    model: Model, drafts: Sequence[ModelDraft], number: int, so_far: World, *, leniently: bool = False
) -> dict[str, Doc | None] | None:
    """What a Draft makes of each Memory it names, over its base and what earlier Drafts created."""
    draft = drafts[number]
    created_before = set().union(*(earlier.creates for earlier in drafts[:number]))
    start = model.versions[draft.base] | {memory: so_far[memory] for memory in created_before if memory in so_far}
    world = dict(start)
    named: dict[str, None] = {}
    for step in draft.steps:
        if apply(world, step):
            named[step.memory] = None
        elif not leniently:
            return None
    return {memory: world.get(memory) for memory in named}


def _stays(base: Doc, draft: Doc | None, current: Doc | None) -> bool:
    """Whether a three-way merge, field by field, gives exactly what the Draft proposes."""
    if current in (base, draft):
        return True
    if draft is None or current is None:
        return False
    for name in ("path", "description", "body"):
        ours, theirs, before = getattr(draft, name), getattr(current, name), getattr(base, name)
        merged = theirs if ours == before else ours
        if theirs not in (before, ours) or merged != ours:
            return False
    return True


def _collisions(
    model: Model, drafts: Sequence[ModelDraft], world: World, placed: Mapping[str, int], asking: set[int]
) -> set[str]:
    codes: set[str] = set()
    for one, other in combinations(world, 2):
        if not collide(world[one].path, world[other].path):
            continue
        placing = {placed[memory] for memory in (one, other) if memory in placed}
        if one in placed and other in placed:
            codes.add("path_collision" if len(placing) == 1 else "reconciliation_required")
        elif placing:
            (number,) = placing
            occupant = other if one in placed else one
            moved_in = model.changed_since(occupant, drafts[number].base)
            codes.add("reconciliation_required" if moved_in or number in asking else "path_collision")
    return codes
