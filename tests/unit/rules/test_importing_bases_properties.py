"""Laws of the plan of an import whose base is known (publication.md §6)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from models.identifiers import CommitId, MemoryId
from models.rules.import_plans import Base, ImportPlan, Library, StagedFile
from models.rules.importing import plan_files
from models.rules.occupancy import collisions_within
from models.rules.states import MemoryState
from tests.unit.rules.examples import a_few
from tests.unit.rules.imports import applied
from tests.unit.rules.test_importing_properties import IDS, Case, cases, libraries

COMMIT = CommitId("0123456789abcdef")


def based_on(library: Library, base: Library) -> Library:
    """A library whose base was another one; what is not active any more has been deleted."""
    archived = {*library.archived, *(memory_id for memory_id in base.states if memory_id not in library.states)}
    return replace(library, archived=archived, base=Base(COMMIT, base.states, base.states.keys()))


def exported(base: Library, named: set[MemoryId]) -> list[StagedFile]:
    """The files of an export of the base, some with ids."""
    return [_exported(memory_id, state, named) for memory_id, state in sorted(base.states.items())]


def _exported(memory_id: MemoryId, state: MemoryState, named: set[MemoryId]) -> StagedFile:
    identity = memory_id if memory_id in named else None
    return StagedFile(state.path, state.path, identity, state.description, state.body)


def plan_of(case: Case, library: Library) -> ImportPlan:
    return plan_files(case.files, library, prefix=case.prefix, mirror=case.mirror)


@given(cases())
@a_few
def test_a_base_that_is_published_still_makes_no_difference_to_what_is_selected(case: Case) -> None:
    library = replace(case.library, selected=case.library.states.keys())
    assert plan_of(case, based_on(library, library)) == plan_of(case, library)


@given(
    base=libraries(),
    library=libraries(),
    named=st.sets(st.sampled_from([MemoryId(memory_id) for memory_id in IDS])),
    mirror=st.booleans(),
)
@a_few
def test_files_that_are_as_the_base_was_change_nothing_whatever_has_been_published_since(
    *, base: Library, library: Library, named: set[MemoryId], mirror: bool
) -> None:
    files = exported(base, named)
    plan = plan_files(files, based_on(library, base), mirror=mirror)
    assert (plan.operations, plan.reports) == ([], [])
    assert plan.counts.unchanged == len(files)


@given(cases(), libraries())
@a_few
def test_what_is_published_afterwards_collides_with_nothing(case: Case, base: Library) -> None:
    library = based_on(case.library, base)
    after = applied(plan_of(case, library), case.files, library)
    assert collisions_within(after.states) == []


@given(cases(), libraries())
@a_few
def test_no_field_that_others_have_changed_is_overwritten_where_the_file_is_as_the_base_was(
    case: Case, base: Library
) -> None:
    library = based_on(case.library, base)
    after = applied(plan_of(case, library), case.files, library)
    by_id = {file.memory_id: file for file in case.files if file.memory_id is not None}
    for memory_id, now in library.states.items():
        was, file, then = base.states.get(memory_id), by_id.get(memory_id), after.states.get(memory_id)
        if was is None or file is None or file.body is None or then is None:
            continue
        assert then.body in ({now.body} if file.body == was.body else {now.body, file.body})
        assert then.path in ({now.path} if file.path == was.path else {now.path, file.path})
        if file.description in (None, was.description):
            assert then.description == now.description
        if now.body not in (was.body, file.body) and file.body != was.body:
            assert then == now
