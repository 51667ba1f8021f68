"""The end of an import against whoever acts at the same moment: real threads, real locks (publication.md §6)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import Engine

from activities.closing import close_project_work
from models.errors import Problem
from models.identifiers import UserId
from models.store.locks import lock_coordination, lock_project
from models.store.members import read_member, remove_member
from models.store.operations import StoredOperation
from models.store.projects import ProjectChange, change_project, delete_project, read_project
from tests.commands import a_merge, a_review, carried_out, merged, operation_now
from tests.imports import a_file, an_import, drafted, drafts_of, first_open_draft, imported, row_of_import
from tests.invariants import check_invariants
from tests.racing import together, without_deadlocks
from tests.rows import Somewhere, a_draft, a_member, acting, an_organization, creates, discarded, tree

ROUNDS = 4


@pytest.fixture
def pool(engine: Engine) -> Iterator[Engine]:
    with without_deadlocks(engine, connections=8) as racing:
        yield racing


def verdict_of_import(place: Somewhere, operation: StoredOperation) -> str:
    done = imported(place, operation)
    return "succeeded" if done.problem is None else str(done.problem["code"])


def verdict_of(place: Somewhere, operation: StoredOperation) -> str:
    return carried_out(place, operation).status


def answer_to(action: Callable[[], object]) -> str:
    """`succeeded`, or the code that an action is refused with."""
    try:
        action()
    except Problem as problem:
        return problem.code
    return "succeeded"


def require_ended(place: Somewhere, operation: StoredOperation) -> None:
    """Whatever won: the import has ended once, and no Draft of it is open."""
    assert operation_now(place, operation).finished
    assert row_of_import(place, operation).ended_at is not None
    assert drafts_of(place, "open") == []


def test_beside_the_merge_of_a_colliding_review_it_is_submitted_on_one_state_or_the_other(
    engine: Engine, pool: Engine
) -> None:
    place = an_organization(pool)
    for number in range(ROUNDS):
        merge = a_merge(place, a_review(place, a_draft(place, creates(f"{number}.md", "theirs\n"))))
        operation = an_import(place, a_file(f"{number}.md", "imported\n"))
        drafted(place, operation)
        verdicts = together(partial(verdict_of_import, place, operation), partial(verdict_of, place, merge))
        assert verdicts == ["succeeded", "succeeded"]
        require_ended(place, operation)
        review_id = row_of_import(place, operation).review_id
        assert review_id is not None
        outcome = merged(place, review_id)  # refused where the other one was first to merge, and last to submit
        assert outcome.status == "succeeded" or outcome.problem is not None
        bodies = [body for path, _, body in tree(place).values() if path == f"{number}.md"]
        assert bodies == ["imported\n" if outcome.status == "succeeded" else "theirs\n"]
    check_invariants(engine, place.org_id)


def test_two_imports_of_one_id_become_one_memory(engine: Engine, pool: Engine) -> None:
    place = an_organization(pool)
    for number in range(ROUNDS):
        first, second = (
            an_import(place, a_file(f"{number}/{name}.md", memory_id=f"mem_{number}"), title=name) for name in "ab"
        )
        assert together(*(partial(verdict_of_import, place, each) for each in (first, second))) == ["succeeded"] * 2
        reviews = [row_of_import(place, each).review_id for each in (first, second)]
        outcomes = together(
            *(partial(carried_out, place, a_merge(place, review_id)) for review_id in reviews if review_id)
        )
        assert sorted(outcome.status for outcome in outcomes) == ["failed", "succeeded"]
        refused = next(outcome.problem for outcome in outcomes if outcome.problem)
        assert (refused["code"], refused["memory_id"]) == ("duplicate_id", f"mem_{number}")
    check_invariants(engine, place.org_id)


def test_one_import_carried_out_by_three_workers_at_once_is_one_review(engine: Engine, pool: Engine, few: int) -> None:
    for _ in range(3):
        place = an_organization(pool)
        operation = an_import(place, *(a_file(f"{number}.md") for number in range(few + 1)))
        assert together(*[partial(verdict_of_import, place, operation)] * 3) == ["succeeded"] * 3
        assert [draft.status for draft in drafts_of(place)] == ["submitted"] * 2
        require_ended(place, operation)
        check_invariants(engine, place.org_id)


def test_beside_an_admin_who_discards_a_draft_it_ends_complete(engine: Engine, pool: Engine) -> None:
    place = an_organization(pool)
    for number in range(ROUNDS):
        operation = an_import(place, a_file(f"{number}.md"), author=a_member(place))
        drafted(place, operation)
        draft = first_open_draft(place)
        verdicts = together(
            partial(verdict_of_import, place, operation), partial(answer_to, partial(discarded, place, draft))
        )
        assert verdicts[0] == "succeeded"
        assert verdicts[1] in ("succeeded", "draft_closed")
        require_ended(place, operation)
    check_invariants(engine, place.org_id)


def archives(place: Somewhere, _author: UserId) -> None:
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        lock_project(tx.connection, tx.org_id, place.project_id)
        project = read_project(tx.connection, tx.org_id, place.project_id)
        change_project(tx, project, replace(ProjectChange.none(project), state="archived"))


def deletes_the_project(place: Somewhere, _author: UserId) -> None:
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        lock_project(tx.connection, tx.org_id, place.project_id)
        close_project_work(tx, place.project_id)
        delete_project(tx, place.project_id)


def shows_the_author_out(place: Somewhere, author: UserId) -> None:
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        remove_member(tx, read_member(tx.connection, tx.org_id, place.project_id, author))


@pytest.mark.parametrize(
    ("act", "code"),
    [(archives, "project_archived"), (shows_the_author_out, "not_found"), (deletes_the_project, "not_found")],
)
@pytest.mark.parametrize("before", [drafted, None], ids=["submitting", "planning"])
def test_beside_what_ends_the_right_to_propose_it_ends_one_way_or_the_other(
    engine: Engine,
    pool: Engine,
    act: Callable[[Somewhere, UserId], None],
    code: str,
    before: Callable[[Somewhere, StoredOperation], object] | None,
) -> None:
    for _ in range(ROUNDS):
        place = an_organization(pool)
        author = a_member(place)
        operation = an_import(place, a_file("a.md"), author=author)
        if before is not None:
            before(place, operation)
        verdict, done = together(
            partial(verdict_of_import, place, operation), partial(answer_to, partial(act, place, author))
        )
        assert done == "succeeded"
        assert verdict in ("succeeded", code)
        require_ended(place, operation)
