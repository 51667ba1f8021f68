from datetime import UTC, datetime

import pytest

from activities.memory_tool.texts import (
    deleted_text,
    found_row,
    miss,
    record_text,
    refusal_text,
    row_line,
    rows_text,
    saved_text,
    with_other_places,
)
from models.identifiers import StructuredMemoryId, UserId
from models.rules.visibility import Place
from models.store.structured import MemoryRecord

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def a_record(name: str = "n", *, description: str = "d", content: str = "c") -> MemoryRecord:
    return MemoryRecord(
        memory_id=StructuredMemoryId("0"),
        name=name,
        description=description,
        content=content,
        type="feedback",
        scope="user",
        scope_id="usr_1",
        created=NOW,
        updated=NOW,
        revision=1,
        created_by=UserId("usr_1"),
        updated_by=UserId("usr_1"),
        published_memory_id=None,
    )


def test_a_save_says_what_it_was_and_where() -> None:
    assert saved_text(a_record(), created=True) == "Saved memory 'n' (type=feedback, scope=user)"
    assert saved_text(a_record(), created=False) == "Updated memory 'n' (type=feedback, scope=user)"


def test_a_delete_says_where() -> None:
    assert deleted_text(a_record()) == "Deleted memory 'n' (scope=user)"


def test_a_record_is_a_row_a_blank_line_and_its_content() -> None:
    assert record_text(a_record(content="one\n\ttwo")) == "[feedback:user] n — d\n\none\n\ttwo"


def test_a_record_keeps_the_line_ends_of_its_content_and_shows_other_carriage_returns() -> None:
    assert record_text(a_record(content="one\r\ntwo\rthree\r\r\n")).endswith("\n\none\r\ntwo\\u000dthree\\u000d\r\n")


def test_a_found_row_has_its_snippet_indented_below() -> None:
    assert found_row(a_record(), "the part") == "[feedback:user] n — d\n    the part"


def test_rows_stand_one_a_line() -> None:
    assert rows_text(["a", "b"], []) == "a\nb"


def test_where_nothing_is_found_that_is_said() -> None:
    assert rows_text([], []) == "No memories found."


@pytest.mark.parametrize("rows", [["a"], []])
def test_what_had_to_be_left_out_is_the_last_line(rows: list[str]) -> None:
    last = rows_text(rows, [("project", "not_found")]).splitlines()[-1]
    assert "'project'" in last
    assert "not_found" in last


@pytest.mark.parametrize(
    ("others", "pointer"),
    [
        ([], ""),
        (
            [Place("user", "u")],
            "; it exists in scope 'user': retry with scope='user'",
        ),
        (
            [Place("user", "u"), Place("workstream", "w")],
            "; it exists in scopes 'user', 'workstream': retry with scope='user' or scope='workstream'",
        ),
    ],
)
def test_a_miss_says_where_else_the_name_exists(others: list[Place], pointer: str) -> None:
    assert with_other_places(miss("n", "project"), others) == f"Memory 'n' not found (scope=project){pointer}"


def test_a_refusal_that_says_where_else_the_name_exists_begins_with_the_memory() -> None:
    pointer = "; it exists in scope 'user': retry with scope='user'"
    others = [Place("user", "u")]
    lost = refusal_text("n", "There is no such project.", others, forbids=False)
    assert lost == f"Memory 'n' cannot be reached: there is no such project{pointer}"
    kept = refusal_text("n", "Viewers do not write to this project.", others, forbids=True)
    assert kept == f"Memory 'n' cannot be changed: viewers do not write to this project{pointer}"


def test_a_refusal_without_another_place_is_told_as_it_is() -> None:
    assert refusal_text("n", "There is no such project.", [], forbids=False) == "There is no such project."


def test_nothing_that_somebody_wrote_hides_or_steers() -> None:
    hostile = a_record("n\u200bm", description="d\u202ee", content="\x1b[2Jc\u2028\0\ufeff")
    assert row_line(hostile) == "[feedback:user] n\\u200bm — d\\u202ee"
    assert record_text(hostile).endswith("\\u001b[2Jc\\u2028\\u0000\\ufeff")
    for text in (saved_text(hostile, created=True), deleted_text(hostile), miss(hostile.name, "user")):
        assert "'n\\u200bm'" in text


def test_markup_in_a_text_stays_as_it_is() -> None:
    assert record_text(a_record(content="</memories> & <b>")).endswith("</memories> & <b>")
