"""The plan of an import whose base is known: only what the files change is a change (publication.md §6)."""

from collections.abc import Collection, Mapping

import pytest

from models.identifiers import CommitId, MemoryId
from models.rules.import_plans import Base, ImportPlan, Library, StagedFile
from models.rules.importing import plan_files
from models.rules.states import MemoryState
from tests.unit.rules.examples import a_state
from tests.unit.rules.imports import a_file, a_library, changed, reported

COMMIT = CommitId("0123456789abcdef")


def a_history(
    was: Mapping[str, MemoryState],
    now: Mapping[str, MemoryState],
    *,
    unselected: Collection[str] = (),
    exported: Collection[str] | None = None,
) -> Library:
    """What was published at the base, and what is now; all of the base is in its export unless named."""
    states = {MemoryId(memory_id): state for memory_id, state in was.items()}
    held = states.keys() if exported is None else {MemoryId(memory_id) for memory_id in exported}
    library = a_library(now, unselected=unselected, archived=[name for name in was if name not in now])
    return Library(library.states, library.selected, library.archived, Base(COMMIT, states, held))


def planned(file: StagedFile, was: MemoryState | None, now: MemoryState | None) -> ImportPlan:
    """The plan of one file, where one Memory was and is."""
    return plan_files([file], a_history({"mem_1": was} if was else {}, {"mem_1": now} if now else {}))


@pytest.mark.parametrize("memory_id", ["mem_1", None], ids=["by id", "by path"])
@pytest.mark.parametrize(
    ("file", "now", "expected"),
    [
        (("a.md", "1\n", "d"), ("a.md", "1\n", "d"), []),
        (("a.md", "1\n", "d"), ("b.md", "2\n", "e"), []),
        (("a.md", "1\n", None), ("b.md", "2\n", "e"), []),
        (("a.md", "3\n", "d"), ("b.md", "1\n", "e"), [("update", "b.md", None, "mem_1")]),
        (("a.md", "1\n", "f"), ("b.md", "2\n", "d"), [("update", "b.md", None, "mem_1")]),
        (("a.md", "2\n", "e"), ("a.md", "2\n", "e"), []),
        (("a.md", "3\n", "d"), ("a.md", "2\n", "d"), "its text;"),
        (("a.md", "1\n", "f"), ("a.md", "1\n", "e"), "its description;"),
        (("a.md", "3\n", "f"), ("a.md", "2\n", "e"), "its text and description;"),
        (("a.md", "1\n", "d"), None, []),
        (("a.md", "3\n", "d"), None, "deleted by others"),
        (("a.md", "1\n", "f"), None, "deleted by others"),
    ],
)
def test_three_states_are_compared_field_by_field(
    memory_id: str | None,
    file: tuple[str, str, str | None],
    now: tuple[str, str, str] | None,
    expected: list[tuple[str, str, str | None, str | None]] | str,
) -> None:
    path, text, description = file
    current = None if now is None else a_state(now[0], text=now[1], description=now[2])
    staged = a_file(path, text, description=description, memory_id=memory_id)
    plan = planned(staged, a_state("a.md", text="1\n", description="d"), current)
    if isinstance(expected, str):
        assert (reported(plan), plan.operations) == ({"a.md": "reconciliation_required"}, [])
        assert expected in plan.reports[0].detail
        assert "since commit 0123456789ab," in plan.reports[0].detail
    else:
        assert (changed(plan), plan.reports) == (expected, [])
        assert plan.counts.unchanged == (0 if expected else 1)


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        ("a.md", [("rename", "b.md", "a.md", "mem_1")]),
        ("b.md", []),
        ("c.md", None),
    ],
)
def test_a_path_is_a_field_like_the_others(theirs: str, expected: list[object] | None) -> None:
    plan = planned(a_file("b.md", "1\n", memory_id="mem_1"), a_state("a.md", text="1\n"), a_state(theirs, text="2\n"))
    if expected is None:
        assert reported(plan) == {"b.md": "reconciliation_required"}
        assert "others: its path;" in plan.reports[0].detail
    else:
        assert (changed(plan), plan.reports) == (expected, [])


def test_what_both_made_at_one_path_is_settled_where_it_is_equal() -> None:
    assert planned(a_file("a.md", "1\n"), None, a_state("a.md", text="1\n")).reports == []
    plan = planned(a_file("a.md", "1\n"), None, a_state("a.md", text="2\n"))
    assert (reported(plan), plan.operations) == ({"a.md": "reconciliation_required"}, [])


@pytest.mark.parametrize("memory_id", ["mem_1", None], ids=["by id", "by path"])
@pytest.mark.parametrize(
    ("text", "now", "code"),
    [
        ("1\n", a_state("a.md", text="1\n"), None),
        ("1\n", a_state("b.md", text="2\n"), None),
        ("2\n", a_state("b.md", text="2\n"), None),
        ("2\n", a_state("a.md", text="1\n"), "memory_not_selected"),
        ("3\n", a_state("b.md", text="2\n"), "memory_not_selected"),
    ],
    ids=["as it was", "others went on", "as others made it", "edited here", "edited by both"],
)
def test_a_memory_that_the_project_does_not_select_is_left_out_only_where_the_file_changes_it(
    memory_id: str | None, text: str, now: MemoryState, code: str | None
) -> None:
    library = a_history({"mem_1": a_state("a.md", text="1\n")}, {"mem_1": now}, unselected=["mem_1"])
    plan = plan_files([a_file("a.md", text, memory_id=memory_id)], library)
    assert (reported(plan), plan.operations) == ({} if code is None else {"a.md": code}, [])
    assert plan.counts.unchanged == (1 if code is None else 0)


def test_a_new_file_at_the_path_of_a_memory_that_the_project_does_not_select_collides() -> None:
    library = a_history({}, {"mem_1": a_state("a.md", text="1\n")}, unselected=["mem_1"])
    assert reported(plan_files([a_file("a.md", "1\n")], library)) == {"a.md": "path_collision"}
    moved_there = a_history({"mem_1": a_state("b.md")}, {"mem_1": a_state("a.md")}, unselected=["mem_1"])
    assert reported(plan_files([a_file("a.md", "new\n")], moved_there)) == {"a.md": "path_collision"}


def test_a_new_file_where_a_memory_has_moved_to_collides_alone() -> None:
    library = a_history({"mem_1": a_state("a.md")}, {"mem_1": a_state("b.md")})
    plan = plan_files([a_file("a.md"), a_file("b.md", "new\n")], library)
    assert (reported(plan), plan.operations) == ({"b.md": "path_collision"}, [])
    assert plan.counts.unchanged == 1


def test_a_mirror_deletes_what_the_base_had_and_nobody_has_changed_since() -> None:
    was = {"mem_1": a_state("docs/same.md"), "mem_2": a_state("docs/edited.md"), "mem_3": a_state("docs/moved.md")}
    now = {
        "mem_1": a_state("docs/same.md"),
        "mem_2": a_state("docs/edited.md", text="theirs\n"),
        "mem_3": a_state("elsewhere.md"),
        "mem_4": a_state("docs/new.md"),
    }
    plan = plan_files([], a_history(was, now), prefix="docs", mirror=True)
    assert changed(plan) == [("delete", "docs/same.md", None, "mem_1")]
    assert reported(plan) == dict.fromkeys(["edited.md", "moved.md"], "reconciliation_required")
    assert "docs/edited.md was deleted here and, since commit 0123456789ab, changed by others: its text" in (
        plan.reports[0].detail
    )


def test_a_mirror_keeps_what_the_export_of_the_base_did_not_hold() -> None:
    states = {"mem_1": a_state("a.md"), "mem_2": a_state("b.md")}
    plan = plan_files([], a_history(states, states, exported=["mem_1"]), mirror=True)
    assert changed(plan) == [("delete", "a.md", None, "mem_1")]


def test_a_file_that_was_moved_without_its_id_keeps_what_others_have_written_since() -> None:
    library = a_history({"mem_1": a_state("a.md", text="1\n")}, {"mem_1": a_state("a.md", text="2\n")})
    plan = plan_files([a_file("b.md", "1\n")], library, mirror=True)
    assert (changed(plan), plan.reports) == ([("rename", "b.md", "a.md", "mem_1")], [])
    library = a_history({"mem_1": a_state("a.md", text="1\n")}, {"mem_1": a_state("c.md", text="1\n")})
    plan = plan_files([a_file("b.md", "1\n")], library, mirror=True)
    assert (reported(plan), plan.operations) == ({"b.md": "reconciliation_required"}, [])


def test_a_memory_that_others_have_changed_is_reported_where_it_stands_if_a_file_is_where_it_was() -> None:
    library = a_history({"mem_1": a_state("a.md")}, {"mem_1": a_state("b.md")})
    plan = plan_files([a_file("a.md", "new\n", memory_id="ctx_1")], library, mirror=True)
    assert (changed(plan), reported(plan)) == (
        [("create", "a.md", None, "ctx_1")],
        {"b.md": "reconciliation_required"},
    )
