"""Changing what a project uses: one transaction with its projection, and what it refuses (publication.md §5)."""

from sqlalchemy import Engine

from models.identifiers import new_project_id
from tests.commands import a_review, a_selection, carried_out, merged, problem_of, published, result_of, selected
from tests.invariants import check_invariants
from tests.rows import (
    a_draft,
    a_member,
    a_project,
    a_user,
    an_organization,
    creates,
    deletes,
    fetch,
    joins,
    leaves,
    ref_of,
    updates,
    with_state,
)


def test_a_selection_moves_the_projection_in_one_commit(engine: Engine) -> None:
    place = an_organization(engine)
    one, two, three = published(place, creates("b.md"), creates("a.md"), creates("c.md"))
    other = a_project(place)
    body = result_of(selected(place, other, [one, two]))
    assert (body["resource_ids"], body["revision"]) == (sorted([one, two]), 1)
    assert [memory["path"] for memory in body["memories"]] == ["a.md", "b.md"]
    assert result_of(selected(place, other, [three]))["revision"] == 2
    (commit,) = fetch(place, "select * from commits where org_id = :o and project_id = :p and version = 2", p=other)
    assert (commit.message, commit.review_id, commit.selection_revision) == ("", None, 2)
    assert commit.org_commit_id == ref_of(place)[0]
    check_invariants(engine, place.org_id)


def test_the_same_set_changes_nothing(engine: Engine) -> None:
    place = an_organization(engine)
    ids = published(place, creates("a.md"), creates("b.md"))
    body = result_of(selected(place, place.project_id, list(reversed(ids))))
    assert body["revision"] == 1
    assert len(fetch(place, "select 1 from commits where org_id = :o and scope = 'project'")) == 1
    check_invariants(engine, place.org_id)


def test_a_project_may_select_nothing(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("a.md"))
    body = result_of(selected(place, place.project_id, []))
    assert (body["resource_ids"], body["memories"], body["revision"]) == ([], [], 2)
    assert result_of(selected(place, a_project(place), []))["revision"] == 0
    check_invariants(engine, place.org_id)


def test_only_those_who_manage_the_project_select(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    other = a_project(place)
    member, viewer, manager = (a_member(place, role, project_id=other) for role in ("member", "viewer", "admin"))
    for actor in (member, viewer):
        assert problem_of(selected(place, other, [one], actor=actor))["code"] == "forbidden"
    assert problem_of(selected(place, other, [one], actor=a_user(place)))["code"] == "not_found"
    assert selected(place, other, [one], actor=manager).status == "succeeded"
    assert selected(place, other, [], actor=a_user(place, "admin")).status == "succeeded"


def test_an_unknown_project_or_memory_is_not_found(engine: Engine) -> None:
    place, elsewhere = an_organization(engine), an_organization(engine)
    (one,) = published(place, creates("a.md"))
    (foreign,) = published(elsewhere, creates("a.md"))
    published(place, deletes(one))
    for memory_id in ("mem_unknown", one, foreign):
        problem = problem_of(selected(place, place.project_id, [memory_id]))
        assert (problem["code"], problem["status"], problem["memory_id"]) == ("not_found", 404, memory_id)
    assert problem_of(selected(place, new_project_id(), [], revision=0))["code"] == "not_found"


def test_another_revision_is_a_conflict(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("a.md"))
    stale = a_selection(place, place.project_id, [])
    published(place, creates("b.md"))
    problem = problem_of(carried_out(place, stale))
    assert (problem["code"], problem["expected"], problem["actual"]) == ("version_conflict", 1, 2)


def test_an_id_named_twice_is_a_duplicate(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    problem = problem_of(selected(place, place.project_id, [one, one]))
    assert (problem["code"], problem["status"], problem["memory_id"]) == ("duplicate_id", 422, one)


def test_a_memory_that_an_open_or_submitted_draft_targets_stays_selected(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("a.md"), creates("b.md"))
    author = a_member(place)
    draft = a_draft(place, updates(one, "mine\n"), author=author)
    held = problem_of(selected(place, place.project_id, [two]))
    assert (held["code"], held["status"]) == ("selection_in_use", 409)
    assert {name: held[name] for name in ("memory_id", "draft_id", "author_id")} == {
        "memory_id": one,
        "draft_id": draft.draft_id,
        "author_id": author,
    }
    review_id = a_review(place, draft)
    assert problem_of(selected(place, place.project_id, []))["code"] == "selection_in_use"
    merged(place, review_id)
    assert selected(place, place.project_id, [two]).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_an_open_draft_of_an_author_who_left_holds_nothing_until_return(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    author = a_member(place)
    a_draft(place, updates(one, "mine\n"), author=author)
    leaves(place, author)
    assert selected(place, place.project_id, []).status == "succeeded"
    selected(place, place.project_id, [one])
    joins(place, author)
    assert problem_of(selected(place, place.project_id, []))["code"] == "selection_in_use"


def test_a_draft_of_another_project_holds_nothing(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md"))
    other = a_project(place)
    selected(place, other, [one])
    a_draft(place, updates(one, "mine\n"))
    assert selected(place, other, []).status == "succeeded"


def test_of_several_problems_the_first_in_precedence_is_the_answer(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("a.md"), creates("b.md"))
    a_draft(place, updates(one, "mine\n"))
    faulty: dict[str, tuple[list[str], int]] = {
        "not_found": (["mem_unknown", two, two], 9),
        "version_conflict": ([two, two], 9),
        "duplicate_id": ([two, two], 1),
        "selection_in_use": ([two], 1),
    }
    for code, (memory_ids, revision) in faulty.items():
        assert problem_of(selected(place, place.project_id, memory_ids, revision=revision))["code"] == code
    with_state(place, place.project_id, "archived")
    assert problem_of(selected(place, place.project_id, [two, two], revision=9))["code"] == "project_archived"
    assert problem_of(selected(place, place.project_id, ["mem_unknown"], revision=9))["code"] == "not_found"
    check_invariants(engine, place.org_id)


def test_what_a_merge_creates_is_selected_for_its_project_alone(engine: Engine) -> None:
    place = an_organization(engine)
    other = a_project(place)
    (one,) = published(place, creates("a.md"), project_id=other)
    rows = fetch(place, "select project_id, memory_id from org_selections where org_id = :o")
    assert [(row.project_id, row.memory_id) for row in rows] == [(other, one)]
    check_invariants(engine, place.org_id)
