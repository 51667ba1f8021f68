"""The plan of an import, case by case (publication.md §6)."""

import pytest

from models.identifiers import MemoryId
from models.rules.folding import Action
from models.rules.import_plans import ImportCounts, PlannedOperation
from models.rules.importing import plan_files
from tests.growth import require_linear
from tests.unit.rules.examples import a_state
from tests.unit.rules.imports import a_file, a_library, changed, reported, unreadable


def test_a_file_where_nothing_stands_is_created() -> None:
    plan = plan_files([a_file("a.md", prefix="docs")], a_library({}), prefix="docs")
    assert plan.operations == [
        PlannedOperation(Action.CREATE, None, "docs/a.md", "a.md", takes_content=True, takes_description=True)
    ]
    assert changed(plan) == [("create", "docs/a.md", None, None)]
    assert plan.counts == ImportCounts(created=1, updated=0, renamed=0, deleted=0, unchanged=0)


def test_an_id_that_the_organization_does_not_know_is_carried_by_the_create() -> None:
    plan = plan_files([a_file("a.md", memory_id="ctx_1")], a_library({"mem_1": a_state("b.md")}))
    assert changed(plan) == [("create", "a.md", None, "ctx_1")]


def test_a_file_that_says_what_is_published_changes_nothing() -> None:
    library = a_library({"mem_1": a_state("a.md", description="d"), "mem_2": a_state("b.md", description="d")})
    files = [a_file("a.md"), a_file("b.md", memory_id="mem_2", description="d")]
    plan = plan_files(files, library)
    assert (plan.operations, plan.reports) == ([], [])
    assert plan.counts.unchanged == 2


def test_a_description_that_is_not_given_stays_and_an_empty_one_counts() -> None:
    library = a_library({"mem_1": a_state("a.md", description="d"), "mem_2": a_state("b.md", description="d")})
    plan = plan_files([a_file("a.md", "new\n"), a_file("b.md", description="")], library)
    assert plan.operations == [
        PlannedOperation(Action.UPDATE, MemoryId("mem_1"), None, "a.md", takes_content=True),
        PlannedOperation(Action.UPDATE, MemoryId("mem_2"), None, "b.md", takes_description=True),
    ]


def test_a_file_that_moves_and_changes_its_memory_makes_a_pair_of_operations() -> None:
    library = a_library({"mem_1": a_state("a.md")})
    plan = plan_files([a_file("b.md", "new\n", memory_id="mem_1")], library)
    assert changed(plan) == [("rename", "b.md", "a.md", "mem_1"), ("update", "b.md", None, "mem_1")]
    assert plan.counts == ImportCounts(created=0, updated=1, renamed=1, deleted=0, unchanged=0)


def test_pairs_come_first_so_that_even_batches_never_part_one() -> None:
    library = a_library({f"mem_{number}": a_state(f"{number}.md") for number in range(6)})
    files = [
        a_file("0.md", "new\n"),
        *(a_file(f"moved/{number}.md", "new\n", memory_id=f"mem_{number}") for number in range(1, 5)),
        a_file("z.md", "z\n"),
    ]
    plan = plan_files(files, library, mirror=True)
    ids = [step.memory_id for step in plan.operations]
    assert ids[0:8:2] == ids[1:8:2] == ["mem_1", "mem_2", "mem_3", "mem_4"]
    assert [step.action for step in plan.operations[8:]] == [Action.DELETE, Action.UPDATE, Action.CREATE]


def test_a_path_that_differs_in_case_only_is_the_same_memory_and_gets_the_new_spelling() -> None:
    plan = plan_files([a_file("guide.md")], a_library({"mem_1": a_state("Guide.md")}))
    assert changed(plan) == [("rename", "guide.md", "Guide.md", "mem_1")]


def test_a_memory_that_another_file_names_is_not_the_target_at_its_old_path() -> None:
    library = a_library({"mem_1": a_state("a.md")})
    plan = plan_files([a_file("a.md", "other\n"), a_file("b.md", memory_id="mem_1")], library)
    assert changed(plan) == [("create", "a.md", None, None), ("rename", "b.md", "a.md", "mem_1")]


def test_a_path_that_its_memory_does_not_leave_stays_occupied() -> None:
    library = a_library({"mem_1": a_state("a.md"), "mem_2": a_state("b.md")})
    plan = plan_files([a_file("a.md", "other\n"), a_file("b.md", memory_id="mem_1")], library)
    assert reported(plan) == {"a.md": "path_collision", "b.md": "path_collision"}
    assert plan.operations == []


def test_paths_may_be_swapped() -> None:
    library = a_library({"mem_1": a_state("a.md"), "mem_2": a_state("b.md")})
    plan = plan_files([a_file("a.md", memory_id="mem_2"), a_file("b.md", memory_id="mem_1")], library)
    assert changed(plan) == [("rename", "a.md", "b.md", "mem_2"), ("rename", "b.md", "a.md", "mem_1")]


def test_a_memory_outside_the_selection_is_another_documents_unless_the_file_has_its_id() -> None:
    library = a_library({"mem_1": a_state("ops/a.md"), "mem_2": a_state("b.md")}, unselected=["mem_1", "mem_2"])
    plan = plan_files([a_file("A.md", prefix="ops"), a_file("c.md", memory_id="mem_2", prefix="ops")], library)
    assert (reported(plan), plan.operations) == ({"A.md": "path_collision", "c.md": "memory_not_selected"}, [])
    assert plan.reports[0].detail == (
        "ops/A.md is another document's path in this organization, which this project does not use; import under"
        " another path (--prefix) or select it (mem_1) to change it."
    )


def test_a_file_with_the_id_of_a_deleted_memory_restores_it() -> None:
    files = [a_file("a.md", memory_id="mem_1"), a_file("b.md", memory_id="mem_2", description="About b")]
    plan = plan_files(files, a_library({}, archived=["mem_1", "mem_2"]))
    assert (plan.reports, plan.counts.created) == ([], 2)
    assert changed(plan) == [("restore", "a.md", None, "mem_1"), ("restore", "b.md", None, "mem_2")]
    assert [(step.takes_content, step.takes_description) for step in plan.operations] == [(True, False), (True, True)]


def test_a_deleted_memory_is_restored_where_a_mirror_deletes_what_stands_there_and_nowhere_else() -> None:
    library = a_library({"mem_2": a_state("a.md")}, archived=["mem_1"])
    files = [a_file("a.md", memory_id="mem_1")]
    assert reported(plan_files(files, library)) == {"a.md": "path_collision"}
    assert changed(plan_files(files, library, mirror=True)) == [
        ("delete", "a.md", None, "mem_2"),
        ("restore", "a.md", None, "mem_1"),
    ]


def test_files_with_the_same_id_are_all_reported_one_that_was_reported_before_included() -> None:
    library = a_library({"mem_1": a_state("a.md")})
    files = [a_file("b.md", memory_id="mem_1"), a_file("c.md", memory_id="mem_1")]
    assert reported(plan_files(files, library)) == {"b.md": "duplicate_id", "c.md": "duplicate_id"}
    files = [a_file("b.md", memory_id="mem_1"), unreadable("c.md", memory_id="mem_1")]
    assert reported(plan_files(files, library)) == {"b.md": "duplicate_id", "c.md": "operation_invalid"}


@pytest.mark.parametrize(
    ("paths", "collided"),
    [
        (["a.md", "A.md", "b.md"], ["A.md", "a.md"]),
        (["a", "a/b", "a/c", "b"], ["a", "a/b", "a/c"]),
        (["a", "A/b/c", "d"], ["A/b/c", "a"]),
    ],
)
def test_every_member_of_a_colliding_group_is_reported_and_the_rest_goes_on(
    paths: list[str], collided: list[str]
) -> None:
    plan = plan_files([a_file(path) for path in paths], a_library({}))
    assert reported(plan) == dict.fromkeys(collided, "path_collision")
    assert plan.counts.created == 1


def test_a_collision_names_the_other_paths_the_first_five_of_many() -> None:
    few = plan_files([a_file("a.md"), a_file("A.md")], a_library({}))
    assert [report.detail for report in few.reports] == [
        "A.md cannot stand beside a.md; rename one of them.",
        "a.md cannot stand beside A.md; rename one of them.",
    ]
    many = plan_files([a_file("a"), *(a_file(f"a/{number}") for number in range(7))], a_library({}))
    assert many.reports[0].detail == "a cannot stand beside a/0, a/1, a/2, a/3, a/4 and 2 more; rename one of them."


def test_what_waited_for_a_path_is_left_out_with_the_file_that_was_to_free_it() -> None:
    library = a_library({f"mem_{number}": a_state(f"{number}.md") for number in range(4)})
    chain = [a_file(f"{number + 1}.md", memory_id=f"mem_{number}") for number in range(3)]
    plan = plan_files([*chain, a_file("free.md")], library)
    assert reported(plan) == dict.fromkeys(["1.md", "2.md", "3.md"], "path_collision")
    assert changed(plan) == [("create", "free.md", None, None)]


def test_a_long_chain_of_renames_to_an_occupied_path_is_left_out_in_time_that_grows_with_its_length() -> None:
    require_linear(plan_a_blocked_chain, 3_000, 1_500)


def plan_a_blocked_chain(length: int) -> None:
    library = a_library({f"mem_{number}": a_state(f"{number}.md") for number in range(length + 1)})
    chain = [a_file(f"{number + 1}.md", memory_id=f"mem_{number}") for number in range(length)]
    assert len(plan_files(chain, library).reports) == length


def test_a_mirror_deletes_what_is_selected_under_the_prefix_and_no_file_names() -> None:
    library = a_library(
        {
            "mem_1": a_state("docs/a.md"),
            "mem_2": a_state("docs/b.md"),
            "mem_3": a_state("docs/c.md"),
            "mem_4": a_state("docsbeside.md"),
            "mem_5": a_state("DOCS/d.md"),
        },
        unselected=["mem_3"],
    )
    files = [a_file("a.md", prefix="docs")]
    plan = plan_files(files, library, prefix="docs", mirror=True)
    assert changed(plan) == [("delete", "DOCS/d.md", None, "mem_5"), ("delete", "docs/b.md", None, "mem_2")]
    assert plan_files(files, library, prefix="docs").operations == []


def test_a_mirror_without_a_prefix_is_of_all_that_is_selected() -> None:
    plan = plan_files([], a_library({"mem_1": a_state("a.md"), "mem_2": a_state("b/c.md")}), mirror=True)
    assert changed(plan) == [("delete", "a.md", None, "mem_1"), ("delete", "b/c.md", None, "mem_2")]


def test_in_a_mirror_one_absent_memory_and_one_new_file_that_say_the_same_are_a_move() -> None:
    library = a_library({"mem_1": a_state("a.md", description="d")})
    plan = plan_files([a_file("b.md", description="e")], library, mirror=True)
    assert changed(plan) == [("rename", "b.md", "a.md", "mem_1"), ("update", "b.md", None, "mem_1")]
    assert changed(plan_files([a_file("b.md")], library)) == [("create", "b.md", None, None)]


@pytest.mark.parametrize(
    ("paths", "absent"), [(["x.md", "y.md"], ["a.md"]), (["x.md"], ["a.md", "b.md"])], ids=["two new", "two absent"]
)
def test_a_move_is_not_guessed(paths: list[str], absent: list[str]) -> None:
    library = a_library({f"mem_{path}": a_state(path) for path in absent})
    plan = plan_files([a_file(path) for path in paths], library, mirror=True)
    assert (plan.counts.created, plan.counts.deleted, plan.counts.renamed) == (len(paths), len(absent), 0)


def test_a_file_with_an_id_of_its_own_is_not_taken_for_a_moved_one() -> None:
    plan = plan_files([a_file("b.md", memory_id="ctx_1")], a_library({"mem_1": a_state("a.md")}), mirror=True)
    assert changed(plan) == [("delete", "a.md", None, "mem_1"), ("create", "b.md", None, "ctx_1")]


def test_a_mirror_never_deletes_what_a_reported_file_may_stand_for() -> None:
    library = a_library({"mem_1": a_state("a.md"), "mem_2": a_state("b.md"), "mem_3": a_state("c.md")})
    files = [unreadable("A.md"), unreadable("moved.md", memory_id="mem_2")]
    plan = plan_files(files, library, mirror=True)
    assert changed(plan) == [("delete", "c.md", None, "mem_3")]


def test_a_reported_file_with_an_id_may_stand_for_what_is_at_its_path_too() -> None:
    library = a_library({"mem_1": a_state("a.md")})
    assert plan_files([unreadable("a.md", memory_id="ctx_1")], library, mirror=True).operations == []


def test_in_a_mirror_a_memory_may_move_to_the_path_of_one_that_goes() -> None:
    library = a_library({"mem_1": a_state("a.md"), "mem_2": a_state("b.md", text="other\n")})
    plan = plan_files([a_file("b.md", memory_id="mem_1")], library, mirror=True)
    assert changed(plan) == [("delete", "b.md", None, "mem_2"), ("rename", "b.md", "a.md", "mem_1")]


def test_a_memory_whose_moved_file_collides_stays_as_it_is() -> None:
    library = a_library({"mem_1": a_state("old.md"), "mem_2": a_state("x/y.md")}, unselected=["mem_2"])
    plan = plan_files([a_file("x")], library, mirror=True)
    assert reported(plan) == {"x": "path_collision"}
    assert plan.operations == []


def test_a_memory_that_says_what_a_colliding_new_file_says_is_not_deleted() -> None:
    library = a_library({"mem_1": a_state("old.md")})
    plan = plan_files([a_file("x.md"), a_file("X.md")], library, mirror=True)
    assert reported(plan) == {"x.md": "path_collision", "X.md": "path_collision"}
    assert plan.operations == []


def test_what_a_left_out_file_spares_keeps_its_place() -> None:
    """The Memory at `b` is not deleted after all, because the file there is left out: what lay below has to go too."""
    library = a_library({"mem_1": a_state("a"), "mem_2": a_state("b"), "mem_3": a_state("c")}, unselected=["mem_3"])
    files = [a_file("c/x", "1\n"), a_file("b", "2\n", memory_id="mem_1"), a_file("B", "3\n"), a_file("a", "4\n")]
    plan = plan_files(files, library, mirror=True)
    assert reported(plan) == dict.fromkeys(["c/x", "b", "B", "a"], "path_collision")
    assert plan.operations == []


@pytest.mark.parametrize("mirror", [False, True])
def test_an_unknown_id_at_the_place_of_a_memory_that_no_file_names_is_taken_for_a_mistake(*, mirror: bool) -> None:
    library = a_library({"mem_1": a_state("A.md")})
    plan = plan_files([a_file("a.md", memory_id="mem_typo")], library, mirror=mirror)
    (report,) = plan.reports
    assert (report.code, plan.operations) == ("path_collision", [])
    assert report.detail == (
        "the id mem_typo in the file is unknown here, and a.md is the place of mem_1: correct or remove the id"
    )


def test_an_unknown_id_at_a_place_that_its_memory_leaves_is_a_new_memory() -> None:
    library = a_library({"mem_1": a_state("a.md")})
    plan = plan_files([a_file("a.md", memory_id="ctx_1"), a_file("b.md", memory_id="mem_1")], library)
    assert changed(plan) == [("create", "a.md", None, "ctx_1"), ("rename", "b.md", "a.md", "mem_1")]


def test_reports_say_what_to_do() -> None:
    library = a_library({"mem_1": a_state("a.md"), "mem_2": a_state("b.md")}, unselected=["mem_1"])
    files = [a_file("a.md", memory_id="mem_1"), a_file("x.md", memory_id="mem_2"), a_file("y.md", memory_id="mem_2")]
    details = [report.detail for report in plan_files(files, library).reports]
    assert details == [
        "mem_1 at a.md is not in the project's selection; select it first (PUT /v1/api/projects/{id}/org-selections).",
        "mem_2 is the id of more than one file; remove the `id:` line from the copy.",
        "mem_2 is the id of more than one file; remove the `id:` line from the copy.",
    ]
