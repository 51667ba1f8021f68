"""A small model of publication in memory, written from the contract and from nothing of the product's rules.

Memories are what they say; versions are whole copies; every question is asked of every pair.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Doc:
    path: str
    description: str
    body: str


State = Doc | None
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
    """Operations on top of the version `base`, of which `overlay` says otherwise what earlier Drafts changed."""

    base: int
    steps: list[Step] = field(default_factory=list)
    overlay: dict[str, State] = field(default_factory=dict)

    @property
    def creates(self) -> set[str]:
        return {step.memory for step in self.steps if step.action == "create"}

    @property
    def restores(self) -> set[str]:
        return {step.memory for step in self.steps if step.action == "restore"}


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
class Folded:
    """What steps make of each Memory that they name, and the codes of those that do not hold."""

    states: dict[str, State] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)


def fold(model: Model, steps: Sequence[Step], start: World) -> Folded:
    """Do the steps of a Draft in order, leaving out those that do not hold.

    What the base, moved on since, has come to by itself is done already: a delete, or a restore.
    """
    world, folded = dict(start), Folded()
    for position, step in enumerate(steps):
        is_there = step.memory in world
        first = step.memory not in folded.states
        if step.action == "restore" and is_there and not (first and step.memory in start):
            folded.refused.add("operation_invalid")
        elif not apply(world, step) and not _has_gone_already(model, steps, start, position):
            folded.refused.add("target_missing")
        folded.states[step.memory] = world.get(step.memory)
    return folded


def _has_gone_already(model: Model, steps: Sequence[Step], start: World, position: int) -> bool:
    """Whether a step leads up to the delete of a published Memory that the base, moved on since, no longer has."""
    memory = steps[position].memory
    was_published = any(memory in world for world in model.versions)
    deletes = [number for number, step in enumerate(steps) if (step.action, step.memory) == ("delete", memory)]
    return was_published and memory not in start and bool(deletes) and position <= deletes[0]


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


def stays(base: Doc | None, draft: Doc | None, current: Doc | None) -> bool:
    """Whether a three-way merge, field by field, gives exactly what the Draft proposes."""
    return current == base or (merge(base, current, draft) == (draft, set()))
