import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.rules.currency import stays_equal
from models.rules.states import MemoryState, State
from tests.unit.rules.examples import a_state, many

BASE = a_state("p", description="was", text="old\n")
EDITED = a_state("p", description="was", text="edited\n")
OTHERWISE_EDITED = a_state("p", description="was", text="otherwise\n")
DESCRIBED = a_state("p", description="is", text="old\n")
RENAMED = a_state("r", description="was", text="old\n")
OTHERWISE_RENAMED = a_state("q", description="was", text="old\n")
EDITED_AND_RENAMED = a_state("r", description="was", text="edited\n")


@pytest.mark.parametrize("draft", [BASE, EDITED, DESCRIBED, RENAMED, EDITED_AND_RENAMED, None])
def test_where_current_changed_nothing_the_result_stays_equal(draft: State) -> None:
    assert stays_equal(draft=draft, base=BASE, current=BASE)


@pytest.mark.parametrize("draft", [EDITED, DESCRIBED, RENAMED, EDITED_AND_RENAMED, None])
def test_where_current_made_the_same_change_the_result_stays_equal(draft: State) -> None:
    assert stays_equal(draft=draft, base=BASE, current=draft)


@pytest.mark.parametrize(
    ("draft", "current"),
    [(EDITED_AND_RENAMED, EDITED), (EDITED_AND_RENAMED, RENAMED)],
)
def test_where_current_made_a_part_of_the_change_the_result_stays_equal(draft: State, current: State) -> None:
    assert stays_equal(draft=draft, base=BASE, current=current)


@pytest.mark.parametrize(
    ("draft", "current"),
    [
        (EDITED, OTHERWISE_EDITED),
        (EDITED, DESCRIBED),
        (EDITED, RENAMED),
        (EDITED, EDITED_AND_RENAMED),
        (DESCRIBED, EDITED),
        (RENAMED, EDITED),
        (RENAMED, OTHERWISE_RENAMED),
        (BASE, EDITED),
        (BASE, RENAMED),
    ],
)
def test_where_current_changed_what_the_draft_would_not_have_the_result_changes(draft: State, current: State) -> None:
    assert not stays_equal(draft=draft, base=BASE, current=current)


@pytest.mark.parametrize("draft", [BASE, EDITED, DESCRIBED, RENAMED])
def test_a_memory_deleted_upstream_changes_the_result_of_a_draft_that_keeps_it(draft: State) -> None:
    assert not stays_equal(draft=draft, base=BASE, current=None)


@pytest.mark.parametrize("current", [EDITED, DESCRIBED, RENAMED])
def test_a_delete_of_what_changed_upstream_changes_the_result(current: State) -> None:
    assert not stays_equal(draft=None, base=BASE, current=current)


def test_a_memory_that_the_draft_creates_stays_as_created() -> None:
    assert stays_equal(draft=EDITED, base=None, current=None)


def test_a_memory_that_the_draft_creates_and_deletes_stays_away() -> None:
    assert stays_equal(draft=None, base=None, current=None)


def test_an_id_that_both_sides_created_differently_changes_the_result() -> None:
    assert not stays_equal(draft=EDITED, base=None, current=DESCRIBED)
    assert not stays_equal(draft=None, base=None, current=DESCRIBED)


def test_what_both_sides_restored_but_only_the_draft_described_stays_as_the_draft_says() -> None:
    undescribed = a_state("p", description="", text="old\n")
    assert stays_equal(draft=BASE, base=None, current=undescribed)
    assert not stays_equal(draft=undescribed, base=None, current=BASE)


def some_states() -> st.SearchStrategy[State]:
    return st.none() | st.builds(
        lambda path, description, text: a_state(path, description=description, text=text),
        st.sampled_from("pqr"),
        st.sampled_from("de"),
        st.sampled_from(["x\n", "y\n", "z\n"]),
    )


Values = tuple[object, object, object]


def values(state: MemoryState) -> Values:
    return state.path, state.description, state.body


def carried_over(*, draft: State, base: State, current: State) -> State | str:
    """What carrying the Draft's change over to Current gives, field by field; `ask` where the two contradict."""
    if draft is None or base is None or current is None:
        if draft == base:
            return current
        return draft if current in (base, draft) else "ask"
    if any(
        len({before, now, ours}) == 3 for before, now, ours in zip(*map(values, (base, current, draft)), strict=True)
    ):
        return "ask"
    return MemoryState(
        path=draft.path if draft.path != base.path else current.path,
        description=draft.description if draft.description != base.description else current.description,
        body=draft.body if draft.body != base.body else current.body,
    )


@given(some_states(), some_states(), some_states())
@many
def test_a_result_is_kept_exactly_when_carrying_the_change_over_to_current_gives_it_again(
    draft: State, base: State, current: State
) -> None:
    expected = carried_over(draft=draft, base=base, current=current) == draft
    assert stays_equal(draft=draft, base=base, current=current) is expected
