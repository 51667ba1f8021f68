"""Laws of the plan of an import, over files and libraries that are as crowded as they get."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from models.identifiers import MemoryId
from models.rules.folding import Action
from models.rules.import_collisions import left_out
from models.rules.import_plans import ImportPlan, Library, StagedFile
from models.rules.importing import plan_files
from models.rules.occupancy import collisions_within
from models.rules.paths import ancestor_keys, path_key
from models.rules.states import MemoryState
from tests.unit.rules.examples import a_few, a_state
from tests.unit.rules.imports import a_file, a_library, applied, reported, unreadable

PREFIXES = ["", "a"]
IDS = [f"mem_{number}" for number in range(5)]
TEXTS = ["1\n", "2\n", "3\n"]


@dataclass
class Case:
    """An import and what it meets."""

    files: list[StagedFile]
    library: Library
    prefix: str
    mirror: bool

    @cached_property
    def plan(self) -> ImportPlan:
        return plan_files(self.files, self.library, prefix=self.prefix, mirror=self.mirror)

    @cached_property
    def after(self) -> "Case":
        return Case(self.files, applied(self.plan, self.files, self.library), self.prefix, self.mirror)

    def beneath(self) -> dict[MemoryId, str]:
        """The paths of selected Memories under the prefix."""
        folder = f"{self.prefix}/" if self.prefix else ""
        paths = {memory_id: self.library.states[memory_id].path for memory_id in self.library.selected}
        return {memory_id: path for memory_id, path in paths.items() if path_key(path).startswith(folder)}


def crowded_paths() -> st.SearchStrategy[str]:
    segments = st.sampled_from(["a", "A", "b", "c", "ss", "ß"])
    return st.lists(segments, min_size=1, max_size=3).map("/".join)


@st.composite
def libraries(draw: st.DrawFn) -> Library:
    states: dict[str, MemoryState] = {}
    for memory_id in IDS:
        path = draw(st.none() | crowded_paths())
        if path is None:
            continue
        state = a_state(path, description=draw(st.sampled_from(["", "d"])), text=draw(st.sampled_from(TEXTS)))
        if not collisions_within({MemoryId(name): known for name, known in (states | {memory_id: state}).items()}):
            states[memory_id] = state
    unselected = draw(st.sets(st.sampled_from(sorted(states)), max_size=2)) if states else set()
    return a_library(states, unselected=unselected, archived=["mem_archived"])


@st.composite
def cases(draw: st.DrawFn, *, mirror: bool | None = None) -> Case:
    prefix = draw(st.sampled_from(PREFIXES))
    files: list[StagedFile] = []
    for path in sorted(draw(st.sets(crowded_paths(), max_size=6))):
        memory_id = draw(st.none() | st.sampled_from([*IDS, "mem_archived", "ctx_unknown"]))
        if draw(st.integers(0, 9)) == 0:
            files.append(unreadable(path, memory_id=memory_id, prefix=prefix))
            continue
        text, description = draw(st.sampled_from(TEXTS)), draw(st.sampled_from([None, "", "d"]))
        files.append(a_file(path, text, memory_id=memory_id, description=description, prefix=prefix))
    return Case(files, draw(libraries()), prefix, draw(st.booleans()) if mirror is None else mirror)


@given(cases())
@a_few
def test_nothing_is_named_twice(case: Case) -> None:
    plan = case.plan
    named = Counter((step.action, step.memory_id) for step in plan.operations if step.memory_id is not None)
    assert all(times == 1 for times in named.values())
    gone = {step.memory_id for step in plan.operations if step.action is Action.DELETE}
    made = {step.memory_id for step in plan.operations if step.action is Action.CREATE}
    kept = {step.memory_id for step in plan.operations if step.action in (Action.UPDATE, Action.RENAME)}
    assert not gone & kept
    assert not made & case.library.states.keys()
    assert gone | kept <= set(case.library.selected)


@given(cases())
@a_few
def test_every_file_is_reported_or_comes_to_something_or_needs_nothing(case: Case) -> None:
    plan = case.plan
    busy = {step.file_path for step in plan.operations if step.file_path is not None}
    assert not busy & reported(plan).keys()
    assert busy | reported(plan).keys() <= {file.file_path for file in case.files}
    assert len(busy) + len(reported(plan)) + plan.counts.unchanged == len(case.files)


@given(cases())
@a_few
def test_what_every_file_that_is_not_reported_says_is_what_stands_at_its_path(case: Case) -> None:
    after = case.after.library
    by_path = {state.path: memory_id for memory_id, state in after.states.items()}
    for file in case.files:
        if file.file_path in reported(case.plan):
            continue
        state = after.states[by_path[file.path]]
        assert state.body == file.body
        assert file.description in (None, state.description)
        assert file.memory_id in (None, by_path[file.path])


@given(cases())
@a_few
def test_nothing_collides_afterwards(case: Case) -> None:
    assert collisions_within(case.after.library.states) == []


@given(cases())
@a_few
def test_the_same_import_again_finds_nothing_to_do(case: Case) -> None:
    again = case.after.plan
    assert again.operations == []
    assert reported(again) == reported(case.plan)


@given(cases(mirror=True))
@a_few
def test_a_mirror_without_reports_leaves_exactly_the_files_under_the_prefix(case: Case) -> None:
    if not case.plan.reports:
        assert sorted(case.after.beneath().values()) == sorted(file.path for file in case.files)


@given(cases(mirror=True))
@a_few
def test_what_a_mirror_leaves_beside_its_files_a_reported_file_may_stand_for(case: Case) -> None:
    out = [file for file in case.files if file.file_path in reported(case.plan)]
    taken = {file.path for file in case.files if file not in out}
    for memory_id, path in case.after.beneath().items():
        if path not in taken:
            assert case.library.states[memory_id] == case.after.library.states[memory_id]
            assert any(
                file.memory_id == memory_id
                or path_key(file.path) == path_key(path)
                or file.body == case.library.states[memory_id].body
                for file in out
            )


@given(cases())
@a_few
def test_what_a_reported_file_names_stays(case: Case) -> None:
    after = case.after.library
    at_key = {path_key(state.path): memory_id for memory_id, state in case.library.states.items()}
    for file in case.files:
        if file.file_path not in reported(case.plan):
            continue
        if file.memory_id is not None and file.memory_id in case.library.states:
            assert after.states[file.memory_id] == case.library.states[file.memory_id]
        if path_key(file.path) in at_key:
            assert at_key[path_key(file.path)] in after.states


@given(cases())
@a_few
def test_only_the_memories_that_files_meet_matter(case: Case) -> None:
    """What a store reads is enough: what files name, stand at, above or below, and what a mirror may delete."""
    keys = {path_key(file.path) for file in case.files}
    above = {folder for key in keys for folder in ancestor_keys(key)}
    named = {file.memory_id for file in case.files}
    met = {
        memory_id
        for memory_id, state in case.library.states.items()
        if memory_id in named
        or path_key(state.path) in keys | above
        or keys & set(ancestor_keys(path_key(state.path)))
        or (case.mirror and memory_id in case.library.selected)
    }
    states = {memory_id: state for memory_id, state in case.library.states.items() if memory_id in met}
    read = Library(states, met & set(case.library.selected), case.library.archived)
    assert Case(case.files, read, case.prefix, case.mirror).plan == case.plan


@given(
    st.lists(st.tuples(crowded_paths(), st.none() | crowded_paths()), max_size=7), st.lists(crowded_paths(), max_size=3)
)
@a_few
def test_the_files_that_are_left_out_are_those_found_by_asking_again_and_again(
    moves: list[tuple[str, str | None]], others: list[str]
) -> None:
    before = [path for _, path in moves if path is not None] + others
    if _collide(before):
        return
    wanted = {str(number): path for number, (path, _) in enumerate(moves)}
    back = {str(number): [] if path is None else [path] for number, (_, path) in enumerate(moves)}
    standing = {MemoryId(f"mem_{number}"): path for number, path in enumerate(others)}
    assert left_out(wanted, standing, lambda file: back[file]).keys() == _by_asking_again(wanted, others, back)


def _by_asking_again(wanted: Mapping[str, str], standing: list[str], back: Mapping[str, list[str]]) -> set[str]:
    out: set[str] = set()
    while True:
        stay = [*standing, *(path for file in out for path in back[file])]
        left = {file: path for file, path in wanted.items() if file not in out}
        collided = {
            file
            for file, path in left.items()
            if any(_meet(path, other) for other in stay)
            or any(_meet(path, other) for name, other in left.items() if name != file)
        }
        if not collided:
            return out
        out |= collided


def _collide(paths: Iterable[str]) -> bool:
    return any(_meet(one, other) for one, other in combinations(paths, 2))


def _meet(one: str, other: str) -> bool:
    ours, theirs = path_key(one), path_key(other)
    return ours == theirs or ours in ancestor_keys(theirs) or theirs in ancestor_keys(ours)
