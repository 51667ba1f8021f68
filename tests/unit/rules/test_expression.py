from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.identifiers import MemoryId, is_provisional
from models.rules.expression import express
from models.rules.folding import Action, DraftOperation, fold_what_holds
from models.rules.hashes import body_of
from models.rules.states import State
from tests.unit.rules.examples import a_state, many

M, CARRIED, NEW = MemoryId("mem_1"), MemoryId("ctx_1"), MemoryId("prv_1")
STATE = a_state()


def express_one(before: State, after: State, *, memory_id: MemoryId = M) -> Sequence[DraftOperation]:
    return express({memory_id: after}, current={memory_id: before}, created=[CARRIED])


@pytest.mark.parametrize("memory_id", [NEW, CARRIED])
def test_what_the_draft_creates_is_one_create(memory_id: MemoryId) -> None:
    assert express_one(None, STATE, memory_id=memory_id) == [
        DraftOperation(Action.CREATE, memory_id, path=STATE.path, body=STATE.body, description=STATE.description)
    ]


@pytest.mark.parametrize("memory_id", [NEW, CARRIED])
def test_a_create_that_was_dropped_is_named_no_more(memory_id: MemoryId) -> None:
    assert express_one(None, None, memory_id=memory_id) == []


def test_what_comes_back_is_one_restore_with_its_path_and_texts() -> None:
    assert express_one(None, STATE) == [
        DraftOperation(Action.RESTORE, M, path=STATE.path, body=STATE.body, description=STATE.description)
    ]


@pytest.mark.parametrize("before", [STATE, None])
def test_what_is_absent_afterwards_is_deleted_even_where_it_has_gone_already(before: State) -> None:
    assert express_one(before, None) == [DraftOperation(Action.DELETE, M)]


def test_a_change_carries_the_fields_that_differ_and_no_others() -> None:
    assert express_one(STATE, replace(STATE, path="b.md")) == [DraftOperation(Action.RENAME, M, new_path="b.md")]
    assert express_one(STATE, replace(STATE, body=body_of("b\n"))) == [
        DraftOperation(Action.UPDATE, M, body=body_of("b\n"))
    ]
    assert express_one(STATE, replace(STATE, path="b.md", description="b")) == [
        DraftOperation(Action.RENAME, M, new_path="b.md"),
        DraftOperation(Action.UPDATE, M, description="b"),
    ]


def test_a_memory_that_is_left_as_it_is_stays_named() -> None:
    assert express_one(STATE, STATE) == [DraftOperation(Action.UPDATE, M, description=STATE.description)]


ids = st.sampled_from([M, MemoryId("mem_2"), NEW, MemoryId("prv_2"), CARRIED])
states = st.none() | st.builds(
    lambda path, description, text: a_state(path, description=description, text=text),
    st.sampled_from(["a.md", "b.md"]),
    st.sampled_from(["", "x"]),
    st.sampled_from(["a\n", "b\n"]),
)


@many
@given(result=st.dictionaries(ids, states), current=st.dictionaries(ids, states))
def test_folding_the_operations_gives_the_result_and_touches_the_same_memories(
    result: Mapping[MemoryId, State], current: Mapping[MemoryId, State]
) -> None:
    current = {memory_id: state for memory_id, state in current.items() if memory_id != CARRIED}
    operations = express(result, current=current, created=[CARRIED])
    assert len({operation.memory_id for operation in operations}) <= len(operations) <= 2 * len(result)
    base = {memory_id: state for memory_id, state in current.items() if state is not None}
    folded = fold_what_holds(operations, base, converging=True)
    dropped = {
        memory_id
        for memory_id, state in result.items()
        if state is None and current.get(memory_id) is None and (memory_id == CARRIED or is_provisional(memory_id))
    }
    assert folded == {memory_id: state for memory_id, state in result.items() if memory_id not in dropped}
    assert list(folded) == [memory_id for memory_id in result if memory_id not in dropped]
