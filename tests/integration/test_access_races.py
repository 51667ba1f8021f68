"""A save in a project and what ends the access to it: one waits for the other, and then sees it (memory.md §2)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from models.errors import NotFound, ProjectArchived
from models.identifiers import UserId
from models.store.locks import lock_coordination, lock_project
from models.store.members import change_member, read_member, remove_member
from models.store.projects import ProjectChange, change_project, delete_project, read_project
from models.store.structured import driver_connection_of
from models.store.transaction import Transaction
from tests.rows import Somewhere, a_member, acting, an_organization, fetch, refused
from tests.structured import a_connection, a_memory, of_project, saved

# Long for a change that waits for nothing, which takes a few milliseconds.
WAITS_S = 0.3


def archive(tx: Transaction, place: Somewhere, _member: UserId) -> None:
    lock_project(tx.connection, tx.org_id, place.project_id)
    project = read_project(tx.connection, tx.org_id, place.project_id)
    change_project(tx, project, replace(ProjectChange.none(project), state="archived"))


def delete(tx: Transaction, place: Somewhere, _member: UserId) -> None:
    lock_project(tx.connection, tx.org_id, place.project_id)
    delete_project(tx, place.project_id)


def end_membership(tx: Transaction, place: Somewhere, member: UserId) -> None:
    remove_member(tx, read_member(tx.connection, tx.org_id, place.project_id, member))


def make_viewer(tx: Transaction, place: Somewhere, member: UserId) -> None:
    change_member(tx, read_member(tx.connection, tx.org_id, place.project_id, member), "viewer")


End = Callable[[Transaction, Somewhere, UserId], None]


def end(place: Somewhere, member: UserId, how: End) -> None:
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        how(tx, place, member)


@pytest.mark.parametrize("how", [archive, delete, end_membership, make_viewer])
def test_access_ends_after_the_saves_that_rely_on_it(engine: Engine, how: End) -> None:
    place = an_organization(engine)
    member = a_member(place)
    with ThreadPoolExecutor(1) as thread:
        with acting(place, member) as tx:
            saved(driver_connection_of(tx.connection), place, of_project(place.project_id), actor=member)
            ending = thread.submit(end, place, member, how)
            assert not wait([ending], timeout=WAITS_S).done
        ending.result()
    left = fetch(place, "select name from structured_memories where org_id = :o")
    assert len(left) == (0 if how is delete else 1)


@pytest.mark.parametrize(
    ("how", "refusal"), [(archive, ProjectArchived), (delete, NotFound), (end_membership, NotFound)]
)
def test_a_save_that_waited_for_the_end_of_access_is_refused(
    engine: Engine, how: End, refusal: type[NotFound | ProjectArchived]
) -> None:
    place = an_organization(engine)
    member = a_member(place)

    def save() -> None:
        with a_connection(place) as connection:
            saved(connection, place, of_project(place.project_id), a_memory(), actor=member)

    with ThreadPoolExecutor(1) as thread:
        with acting(place) as tx:
            lock_coordination(tx.connection, tx.org_id)
            how(tx, place, member)
            saving = thread.submit(refused, save)
            assert not wait([saving], timeout=WAITS_S).done
        assert isinstance(saving.result(), refusal)
    assert fetch(place, "select name from structured_memories where org_id = :o") == []


def test_saves_in_a_project_do_not_wait_for_each_other(engine: Engine) -> None:
    place = an_organization(engine)
    member = a_member(place)
    where = of_project(place.project_id)
    with acting(place, member) as tx, a_connection(place, lock_timeout_ms=2_000) as other:
        saved(driver_connection_of(tx.connection), place, where, a_memory("one"), actor=member)
        assert saved(other, place, where, a_memory("two"), actor=member).created
