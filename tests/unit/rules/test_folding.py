from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import DuplicateId, OperationInvalid, Problem, TargetMissing
from models.identifiers import MemoryId
from models.rules.folding import Action, DraftOperation, apply, fold_what_holds, resolve_path
from models.rules.hashes import body_of
from models.rules.states import MemoryState, State
from tests.unit.rules.examples import a_state, fold, many

ONE, TWO, THREE, NEW, NEWER = (MemoryId(text) for text in ("mem_1", "mem_2", "mem_3", "prv_1", "prv_2"))


def create(memory_id: MemoryId, path: str, *, text: str = "new\n", description: str | None = None) -> DraftOperation:
    return DraftOperation(Action.CREATE, memory_id, path=path, body=body_of(text), description=description)


def update(memory_id: MemoryId, *, text: str | None = None, description: str | None = None) -> DraftOperation:
    body = None if text is None else body_of(text)
    return DraftOperation(Action.UPDATE, memory_id, body=body, description=description)


def rename(memory_id: MemoryId, new_path: str) -> DraftOperation:
    return DraftOperation(Action.RENAME, memory_id, new_path=new_path)


def delete(memory_id: MemoryId) -> DraftOperation:
    return DraftOperation(Action.DELETE, memory_id)


def restore(memory_id: MemoryId, path: str, *, text: str = "old\n", description: str = "was") -> DraftOperation:
    return DraftOperation(Action.RESTORE, memory_id, path=path, body=body_of(text), description=description)


@dataclass
class Desk:
    """The same rules, told as documents on a desk: sheets come, are overwritten, are thrown away for good."""

    sheets: dict[str, dict[str, str]]
    used_names: set[str]
    named: set[str] = field(default_factory=set)

    def obey(self, operation: DraftOperation) -> bool:
        """Do it, or say that it cannot be done."""
        name = operation.memory_id
        if operation.action == "create":
            if name in self.used_names:
                return False
            self.sheets[name] = {"description": ""}
        elif operation.action == "restore":
            if name in self.sheets:
                return False
            self.sheets[name] = {}
        elif name not in self.sheets:
            return False
        self.used_names.add(name)
        self.named.add(name)
        if operation.action == "delete":
            del self.sheets[name]
            return True
        written = {
            "path": operation.new_path or operation.path,
            "description": operation.description,
            "text": operation.body.blob_id if operation.body else None,
        }
        self.sheets[name] |= {what: value for what, value in written.items() if value is not None}
        return True

    def shows(self) -> dict[str, dict[str, str] | None]:
        return {name: self.sheets.get(name) for name in self.named}


def desk_with(base: Mapping[MemoryId, MemoryState]) -> Desk:
    return Desk({str(name): sheet_of(state) for name, state in base.items()}, {str(name) for name in base})


def sheet_of(state: MemoryState) -> dict[str, str]:
    return {"path": state.path, "description": state.description, "text": state.body.blob_id}


def operations() -> st.SearchStrategy[DraftOperation]:
    ids = st.sampled_from([ONE, TWO, THREE, NEW, NEWER])
    paths = st.sampled_from(["a", "b", "c"])
    texts = st.sampled_from(["x\n", "y\n"])
    descriptions = st.sampled_from(["", "d", "e"])
    edits = st.one_of(
        st.builds(lambda memory_id, text: update(memory_id, text=text), ids, texts),
        st.builds(lambda memory_id, description: update(memory_id, description=description), ids, descriptions),
        st.builds(lambda memory_id, text, new: update(memory_id, text=text, description=new), ids, texts, descriptions),
    )
    creates = st.builds(
        lambda memory_id, path, text, description: create(memory_id, path, text=text, description=description),
        ids,
        paths,
        texts,
        st.none() | descriptions,
    )
    return st.one_of(
        creates, edits, st.builds(rename, ids, paths), st.builds(delete, ids), st.builds(restore, ids, paths)
    )


def bases() -> st.SearchStrategy[dict[MemoryId, MemoryState]]:
    states = st.builds(
        lambda path, description, text: a_state(path, description=description, text=text),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["", "d"]),
        st.sampled_from(["x\n", "y\n"]),
    )
    return st.dictionaries(st.sampled_from([ONE, TWO, THREE, NEW]), states)


@given(st.lists(operations(), max_size=12), bases())
@many
def test_a_fold_ends_as_the_documents_on_a_desk_do_or_is_refused_at_the_same_operation(
    sequence: Sequence[DraftOperation], base: dict[MemoryId, MemoryState]
) -> None:
    desk = desk_with(base)
    impossible = next((index for index, operation in enumerate(sequence) if not desk.obey(operation)), None)
    if impossible is None:
        folded = fold(sequence, base)
        assert {name: state and sheet_of(state) for name, state in folded.items()} == desk.shows()
    else:
        with pytest.raises((TargetMissing, DuplicateId, OperationInvalid)) as caught:
            fold(sequence, base)
        assert caught.value.context["index"] == impossible
        refusal = {"create": DuplicateId, "restore": OperationInvalid}
        assert type(caught.value) is refusal.get(sequence[impossible].action, TargetMissing)


@given(st.lists(operations(), max_size=12), bases())
@many
def test_the_fold_goes_on_after_what_cannot_be_done_and_tells_it(
    sequence: Sequence[DraftOperation], base: dict[MemoryId, MemoryState]
) -> None:
    desk = desk_with(base)
    impossible = [index for index, operation in enumerate(sequence) if not desk.obey(operation)]
    refused: list[Problem] = []
    folded = fold_what_holds(sequence, base, refused)
    assert {name: state and sheet_of(state) for name, state in folded.items()} == desk.shows()
    assert [problem.context["index"] for problem in refused] == impossible


@given(st.lists(operations(), max_size=12), bases())
@many
def test_a_refused_operation_leaves_the_fold_and_the_base_as_they_were(
    sequence: Sequence[DraftOperation], base: dict[MemoryId, MemoryState]
) -> None:
    states: dict[MemoryId, State] = {}
    untouched = dict(base)
    for index, operation in enumerate(sequence):
        before = dict(states)
        try:
            apply(states, base, operation, index)
        except Problem:
            assert states == before
    assert base == untouched


def test_create_update_and_rename_are_one_create() -> None:
    folded = fold([create(NEW, "a"), update(NEW, text="better\n", description="why"), rename(NEW, "b")], {})
    assert folded == {NEW: a_state("b", description="why", text="better\n")}


def test_create_and_delete_change_nothing_but_touch_the_memory() -> None:
    folded = fold([create(NEW, "a"), delete(NEW)], {})
    assert folded == {NEW: None}


def test_a_rename_back_changes_nothing_but_touches_the_memory() -> None:
    base = {ONE: a_state("a")}
    folded = fold([rename(ONE, "b"), rename(ONE, "a")], base)
    assert folded == base


def test_an_edit_undone_changes_nothing() -> None:
    base = {ONE: a_state("a", text="old\n", description="was")}
    edits = [update(ONE, text="new\n", description="is"), update(ONE, text="old\n"), update(ONE, description="was")]
    assert fold(edits, base) == base


def test_a_delete_is_a_change_to_not_existing() -> None:
    base = {ONE: a_state("a")}
    assert fold([delete(ONE)], base) == {ONE: None}


def test_an_update_keeps_what_it_does_not_carry() -> None:
    base = {ONE: a_state("a", description="was", text="old\n"), TWO: a_state("b", description="was", text="old\n")}
    folded = fold([update(ONE, text="new\n"), update(TWO, description="is")], base)
    assert folded == {
        ONE: a_state("a", description="was", text="new\n"),
        TWO: a_state("b", description="is", text="old\n"),
    }


def test_an_update_can_empty_a_description() -> None:
    assert fold([update(ONE, description="")], {ONE: a_state(description="was")}) == {ONE: a_state(description="")}


def test_a_created_memory_without_a_description_has_an_empty_one() -> None:
    assert fold([create(NEW, "a", text="new\n")], {}) == {NEW: a_state("a", description="", text="new\n")}


def test_memories_that_no_operation_names_are_not_part_of_the_fold() -> None:
    assert fold([delete(ONE)], {ONE: a_state("a"), TWO: a_state("b")}) == {ONE: None}


def test_memories_keep_the_order_in_which_they_were_first_named() -> None:
    base = {ONE: a_state("a"), TWO: a_state("b")}
    assert list(fold([delete(TWO), create(NEW, "c"), delete(ONE), delete(NEW)], base)) == [TWO, NEW, ONE]


def test_what_an_earlier_draft_made_can_be_built_on() -> None:
    made_earlier = fold([create(NEW, "a", text="first\n")], {})
    base = {memory_id: state for memory_id, state in made_earlier.items() if state is not None}
    assert fold([update(NEW, text="second\n")], base) == {NEW: a_state("a", text="second\n")}


@pytest.mark.parametrize("operation", [update(NEW, text="x\n"), rename(NEW, "b"), delete(NEW)])
def test_an_operation_on_what_was_never_made_is_refused(operation: DraftOperation) -> None:
    with pytest.raises(TargetMissing) as caught:
        fold([create(NEWER, "a"), operation], {})
    assert caught.value.context == {"index": 1, "memory_id": NEW}


@pytest.mark.parametrize("operation", [update(ONE, text="x\n"), rename(ONE, "b"), delete(ONE)])
def test_an_operation_on_what_was_deleted_before_is_refused(operation: DraftOperation) -> None:
    with pytest.raises(TargetMissing) as caught:
        fold([delete(ONE), operation], {ONE: a_state("a")})
    assert caught.value.context == {"index": 1, "memory_id": ONE}


@pytest.mark.parametrize("before", [[], [delete(ONE)]])
def test_a_create_never_takes_the_id_of_another_memory(before: list[DraftOperation]) -> None:
    with pytest.raises(DuplicateId) as caught:
        fold([*before, create(ONE, "b")], {ONE: a_state("a")})
    assert caught.value.context == {"index": len(before), "memory_id": ONE}


def test_a_restore_brings_a_memory_back_as_it_says() -> None:
    assert fold([restore(ONE, "b")], {}) == {ONE: a_state("b", text="old\n", description="was")}
    assert fold([delete(ONE), restore(ONE, "b")], {ONE: a_state("a")})[ONE] == a_state(
        "b", text="old\n", description="was"
    )


@pytest.mark.parametrize(("before", "base"), [([], {ONE: a_state("a")}), ([restore(ONE, "a")], {})])
def test_a_restore_of_an_active_memory_is_invalid(
    before: list[DraftOperation], base: Mapping[MemoryId, MemoryState]
) -> None:
    with pytest.raises(OperationInvalid) as caught:
        fold([*before, restore(ONE, "b")], base)
    assert caught.value.context == {"index": len(before), "field": "memory_id", "rule": "active"}


def converge(sequence: Sequence[DraftOperation], base: Mapping[MemoryId, MemoryState]) -> dict[MemoryId, State]:
    """The fold over a base that may have moved on; nothing may be refused."""
    refused: list[Problem] = []
    states = fold_what_holds(sequence, base, refused, converging=True)
    assert refused == []
    return states


def test_over_a_base_that_moved_on_a_delete_of_what_has_gone_changes_nothing_but_touches_the_memory() -> None:
    assert converge([delete(ONE)], {}) == {ONE: None}
    assert converge([update(ONE, text="new\n"), rename(ONE, "b"), delete(ONE)], {}) == {ONE: None}
    assert converge([delete(ONE), restore(ONE, "b")], {})[ONE] is not None


def test_over_a_base_that_moved_on_a_restore_of_what_is_back_goes_on_from_what_it_says() -> None:
    restored = [restore(ONE, "b"), rename(ONE, "c")]
    assert converge(restored, {ONE: a_state("c", text="old\n", description="was")}) == fold(restored, {})


@pytest.mark.parametrize(
    "sequence",
    [
        [update(ONE, text="new\n")],
        [update(ONE, text="new\n"), rename(ONE, "b")],
        [delete(NEW)],
        [delete(ONE), update(ONE, text="new\n")],
        [delete(ONE), delete(ONE)],
        [restore(ONE, "a"), restore(ONE, "a")],
    ],
)
def test_nothing_else_is_let_through_over_a_base_that_moved_on(sequence: Sequence[DraftOperation]) -> None:
    refused: list[Problem] = []
    fold_what_holds(sequence, {}, refused, converging=True)
    assert refused[-1].context["index"] == len(sequence) - 1


@given(st.lists(operations(), max_size=12), bases())
@many
def test_a_fold_that_holds_is_the_same_over_a_base_that_may_have_moved_on(
    sequence: Sequence[DraftOperation], base: dict[MemoryId, MemoryState]
) -> None:
    refused: list[Problem] = []
    folded = fold_what_holds(sequence, base, refused)
    if not refused:
        assert converge(sequence, base) == folded


def test_a_path_names_the_bases_occupant_while_the_draft_leaves_it_there() -> None:
    assert resolve_path("a", {}, ONE) == ONE
    assert resolve_path("a", {TWO: a_state("b")}, ONE) == ONE


def test_a_path_names_the_memory_that_the_draft_moved_there() -> None:
    assert resolve_path("b", {ONE: a_state("b")}, None) == ONE


def test_a_path_names_what_the_draft_made_there() -> None:
    assert resolve_path("b", {NEW: a_state("b")}, None) == NEW


def test_a_path_that_the_draft_freed_names_nobody() -> None:
    assert resolve_path("a", {ONE: a_state("b")}, ONE) is None
    assert resolve_path("a", {ONE: None}, ONE) is None


def test_a_path_names_an_edited_memory_that_stayed() -> None:
    assert resolve_path("a", {ONE: a_state("a", text="edited\n")}, ONE) == ONE


def test_a_path_where_nothing_ever_stood_names_nobody() -> None:
    assert resolve_path("z", {ONE: a_state("a")}, None) is None


def test_a_path_taken_twice_halfway_through_a_swap_names_what_the_draft_put_there() -> None:
    assert resolve_path("b", {ONE: a_state("b")}, TWO) == ONE
    assert resolve_path("b", {ONE: a_state("b"), NEW: a_state("b")}, TWO) == NEW
