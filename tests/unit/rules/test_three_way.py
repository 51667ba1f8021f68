from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.identifiers import BlobId, MemoryId
from models.rules.bodies import MAX_BODY_BYTES
from models.rules.conflicts import ConflictCode, Other
from models.rules.currency import stays_equal
from models.rules.hashes import body_of
from models.rules.states import MemoryState, State
from models.rules.text_merge import Hunk, LineRange
from models.rules.three_way import Reconciled, three_way
from tests.unit.rules.examples import a_state, many

M = MemoryId("mem_1")
LINES = "one\n\ntwo\n\nthree\n"
BASE = a_state("base.md", description="base", text=LINES)


def compare(base: State, current: State, draft: State, *texts: str) -> Reconciled:
    known = {body_of(text).blob_id: text for text in (*texts, LINES)}
    return three_way(M, base=base, current=current, draft=draft, read=known.__getitem__)


def codes(reconciled: Reconciled) -> list[ConflictCode]:
    return [conflict.code for conflict in reconciled.conflicts]


def test_every_field_is_taken_from_the_side_that_changed_it() -> None:
    current = replace(BASE, path="moved.md", body=body_of("theirs\n"))
    merged = compare(BASE, current, replace(BASE, description="ours"))
    assert merged == Reconciled(replace(current, description="ours"))


def test_edits_of_a_body_that_an_untouched_line_keeps_apart_are_one_text() -> None:
    theirs, ours, both = "ONE\n\ntwo\n\nthree\n", "one\n\ntwo\n\nTHREE\n", "ONE\n\ntwo\n\nTHREE\n"
    merged = compare(BASE, replace(BASE, body=body_of(theirs)), replace(BASE, body=body_of(ours)), theirs, ours)
    assert merged.proposed == replace(BASE, body=body_of(both))
    assert merged.texts == {body_of(both).blob_id: both}
    assert merged.conflicts == ()


def test_edits_of_the_same_lines_overlap_in_them_alone() -> None:
    theirs, ours = "ONE\n\ntwo\n\nthree\n", "1\n\ntwo\n\nTHREE\n"
    merged = compare(BASE, replace(BASE, body=body_of(theirs)), replace(BASE, body=body_of(ours)), theirs, ours)
    assert codes(merged) == [ConflictCode.BODY_OVERLAP]
    assert merged.conflicts[0].hunks == (Hunk(LineRange(0, 1), LineRange(0, 1), LineRange(0, 1)),)


def test_a_merged_text_above_the_limit_of_a_body_is_a_conflict_of_the_whole() -> None:
    line = "x" * (MAX_BODY_BYTES // 2) + "\n"
    theirs, ours = line + LINES, LINES + line
    merged = compare(BASE, replace(BASE, body=body_of(theirs)), replace(BASE, body=body_of(ours)), theirs, ours)
    assert codes(merged) == [ConflictCode.BODY_TOO_COMPLEX]


def test_no_text_is_read_where_at_most_one_side_changed_it() -> None:
    def refuse(_blob: BlobId) -> str:
        raise AssertionError

    texts = [BASE.body, body_of("edited\n")]
    for theirs, ours in product(texts, texts):
        merged = three_way(
            M,
            base=BASE,
            current=replace(BASE, body=theirs, path="theirs.md"),
            draft=replace(BASE, body=ours, description="ours"),
            read=refuse,
        )
        assert merged.conflicts == ()


def test_two_descriptions_are_never_merged() -> None:
    merged = compare(BASE, replace(BASE, description="base and more"), replace(BASE, description=""))
    assert codes(merged) == [ConflictCode.DESCRIPTION_BOTH_CHANGED]


@pytest.mark.parametrize(("theirs", "equivalent"), [("other.md", None), ("OURS.md", True), ("Ours.md", True)])
def test_two_renames_are_equivalent_when_no_disk_tells_them_apart(theirs: str, *, equivalent: bool | None) -> None:
    merged = compare(BASE, replace(BASE, path=theirs), replace(BASE, path="ours.md"))
    assert [(conflict.code, conflict.equivalent) for conflict in merged.conflicts] == [
        (ConflictCode.PATH_BOTH_RENAMED, equivalent)
    ]


def test_every_contested_field_has_its_record() -> None:
    theirs = MemoryState("theirs.md", "theirs", body_of("theirs\n"))
    ours = MemoryState("ours.md", "ours", body_of("ours\n"))
    merged = compare(BASE, theirs, ours, "theirs\n", "ours\n")
    assert codes(merged) == [
        ConflictCode.PATH_BOTH_RENAMED,
        ConflictCode.DESCRIPTION_BOTH_CHANGED,
        ConflictCode.BODY_OVERLAP,
    ]
    assert merged.proposed == ours


@pytest.mark.parametrize(
    ("changed", "as_ours", "as_theirs"),
    [
        (
            replace(BASE, body=body_of("new\n")),
            ConflictCode.EDIT_DELETED_UPSTREAM,
            ConflictCode.DELETE_EDITED_UPSTREAM,
        ),
        (
            replace(BASE, description="new", path="new.md"),
            ConflictCode.EDIT_DELETED_UPSTREAM,
            ConflictCode.DELETE_EDITED_UPSTREAM,
        ),
        (replace(BASE, path="new.md"), ConflictCode.RENAME_DELETED_UPSTREAM, ConflictCode.DELETE_RENAMED_UPSTREAM),
    ],
)
def test_a_change_against_a_delete_is_one_record(
    changed: MemoryState, as_ours: ConflictCode, as_theirs: ConflictCode
) -> None:
    assert codes(compare(BASE, None, changed)) == [as_ours]
    assert codes(compare(BASE, changed, None)) == [as_theirs]


def test_two_restores_are_compared_field_by_field() -> None:
    assert compare(None, BASE, BASE) == Reconciled(BASE)
    assert codes(compare(None, BASE, replace(BASE, path="ours.md"))) == [ConflictCode.PATH_BOTH_RENAMED]
    assert codes(compare(None, BASE, replace(BASE, body=body_of("ours\n")), "ours\n")) == [ConflictCode.BODY_OVERLAP]


def test_a_record_names_the_other_side_and_the_three_states() -> None:
    theirs, ours = replace(BASE, description="theirs"), replace(BASE, description="ours")
    (conflict,) = compare(BASE, theirs, ours).conflicts
    assert conflict.other == Other(None, M)
    assert (conflict.base, conflict.current, conflict.draft) == (BASE, theirs, ours)


texts = st.sampled_from(["a\n\nb\n\nc\n", "A\n\nb\n\nc\n", "a\n\nb\n\nC\n", "1\n\nb\n\nc\n", "z\n"])
states = st.none() | st.builds(
    lambda path, description, text: a_state(path, description=description, text=text),
    st.sampled_from(["a.md", "b.md", "c.md"]),
    st.sampled_from(["", "x", "y"]),
    texts,
)
TEXTS = ("a\n\nb\n\nc\n", "A\n\nb\n\nc\n", "a\n\nb\n\nC\n", "1\n\nb\n\nc\n", "z\n")


@many
@given(base=states, current=states, draft=states)
def test_the_sides_swapped_are_in_conflict_over_the_same_fields(base: State, current: State, draft: State) -> None:
    one, other = compare(base, current, draft, *TEXTS), compare(base, draft, current, *TEXTS)
    assert [conflict.field for conflict in one.conflicts] == [conflict.field for conflict in other.conflicts]
    if not one.conflicts:
        assert one.proposed == other.proposed


@many
@given(base=states, current=states, draft=states)
def test_a_draft_that_keeps_its_result_is_clean_and_proposes_it(base: State, current: State, draft: State) -> None:
    merged = compare(base, current, draft, *TEXTS)
    if stays_equal(draft=draft, base=base, current=current):
        assert (merged.conflicts, merged.proposed) == ((), draft)
    elif base is not None and not are_merged_by_lines(base, current, draft):
        assert merged.conflicts or merged.proposed != draft


def are_merged_by_lines(base: State, current: State, draft: State) -> bool:
    """Where they are, a Draft may have made Current's change among others."""
    return len({state.body for state in (base, current, draft) if state is not None}) == len("bcd")
