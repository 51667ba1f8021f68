"""The written lock order (architecture.md §3), as the statements of every command take the locks."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from activities.amendments import amend_review
from activities.batches import BatchedOperation, append_batch
from activities.closing import close_project_work, close_user_work
from activities.imports import ImportActivities
from activities.messages import ImportBatch
from models.rules.roles import ProjectState
from models.store.imports import insert_import, stage_files, unfinished_import
from models.store.locks import lock_coordination, lock_import, lock_project
from models.store.members import add_member, change_member, read_member, remove_member
from models.store.operations import StoredOperation
from models.store.projects import ProjectChange, change_project, delete_project, read_project
from models.store.users import read_user, remove_user
from tests.commands import a_review, attempted, decided, published, review
from tests.imports import a_file, an_import, command_of, drafted, finished, planned
from tests.invariants import check_invariants
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    a_project,
    a_user,
    acting,
    an_organization,
    appended,
    creates,
    discarded,
    joins,
    updates,
)
from tests.scenarios import COMMANDS
from tests.workstreams import a_workstream_of

ACCESS = "access"
ORDER = (
    *("organization_refs", "operations", "imports", "projects", "reviews", "drafts"),
    *(ACCESS, "users", "workstreams"),
)
ALL_OF_A_REVIEW = ["organization_refs", "projects", "reviews", "drafts"]

LOCKS = re.compile(r"from (\w+) .*for (?:no key )?update$")
LOCKS_ACCESS = re.compile(r"pg_advisory_xact_lock\(hashtextextended\(.* \|\| project_id, 5\)\)")
MAKES = re.compile(r"^insert into (\w+)")
CHANGES = re.compile(r"(?:^|\) |finished as \( )(?:update|delete from) (\w+)")


@dataclass
class Trail:
    """The tables whose rows a transaction locked, in the order of the first lock of each, and what it changed.

    What it has made is locked for others as it is.
    """

    locked: list[str] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    keys: list[tuple[str, ...]] = field(default_factory=list)
    changed_unlocked: list[str] = field(default_factory=list)

    def see(self, statement: str, parameters: Any) -> None:
        sql = " ".join(statement.lower().split())
        if found := LOCKS.search(sql):
            self._lock(found[1], parameters)
        if LOCKS_ACCESS.search(sql):
            self._lock(ACCESS, parameters)
        self.made.update(MAKES.findall(sql))
        for table in CHANGES.findall(sql):
            if table in ORDER and table not in {*self.locked, *self.made}:
                self.changed_unlocked.append(table)

    def _lock(self, table: str, parameters: Any) -> None:
        if table not in self.locked:
            self.locked.append(table)
        keys = [value for name, value in parameters.items() if name != "org_id"]
        self.keys += [(table, key) for value in keys for key in (value if isinstance(value, list) else [value])]


@contextmanager
def followed(engine: Engine) -> Iterator[Trail]:
    trail = Trail()

    def see(_c: Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:  # noqa: FBT001
        trail.see(statement, parameters)

    event.listen(engine, "before_cursor_execute", see)
    try:
        yield trail
    finally:
        event.remove(engine, "before_cursor_execute", see)


def assert_in_order(trail: Trail) -> None:
    assert trail.locked == sorted(trail.locked, key=ORDER.index)
    assert trail.changed_unlocked == []
    for table in ("projects", "reviews", "drafts", ACCESS, "workstreams"):
        keys = list(dict.fromkeys(key for name, *rest in trail.keys if name == table for key in rest))
        assert keys == sorted(keys), table


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_locks_in_the_written_order_and_changes_only_what_it_locked(
    engine: Engine, command: Callable[[Somewhere], StoredOperation]
) -> None:
    place = an_organization(engine)
    operation = command(place)
    with followed(engine) as trail:
        assert attempted(place, operation).succeeded
    assert trail.locked[:3] == ["organization_refs", "operations", "projects"]
    assert_in_order(trail)


def test_discarding_a_submitted_draft_locks_in_the_written_order(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    a_review(place, draft, a_draft(place, creates("b.md")))
    with followed(engine) as trail:
        discarded(place, draft)
    assert trail.locked == ALL_OF_A_REVIEW
    assert_in_order(trail)


def test_amending_a_review_locks_in_the_written_order(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    with followed(engine) as trail, acting(place) as tx:
        amend_review(tx, review_id, expected_version=1, title="Other", description=None)
    assert trail.locked[:3] == ["organization_refs", "projects", "reviews"]
    assert_in_order(trail)


@pytest.mark.parametrize("ends", ["user", "project"])
def test_ending_the_work_of_a_user_or_project_locks_in_the_written_order(engine: Engine, ends: str) -> None:
    place = an_organization(engine)
    author, elsewhere = a_member(place), a_project(place)
    for number in range(4):
        a_review(place, *(a_draft(place, creates(f"{number}{part}.md"), author=author) for part in "ab"))
    a_draft(place, creates("open.md"), author=author)
    other = a_review(place, a_draft(place, creates("kept.md"), project_id=elsewhere))
    with followed(engine) as trail, acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        if ends == "user":
            close_user_work(tx, author)
        else:
            lock_project(tx.connection, tx.org_id, place.project_id)
            close_project_work(tx, place.project_id)
    assert trail.locked == ALL_OF_A_REVIEW
    assert_in_order(trail)
    assert review(place, other).status == "open"
    check_invariants(engine, place.org_id)


def test_a_user_who_goes_is_locked_after_the_access_to_the_projects_and_before_the_workstreams(engine: Engine) -> None:
    place = an_organization(engine)
    user = a_member(place)
    joins(place, user, project_id=a_project(place))
    for _ in range(3):
        a_workstream_of(place, user)
    a_draft(place, creates("open.md"), author=user)
    with followed(engine) as trail, acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        close_user_work(tx, user)
        remove_user(tx, read_user(tx.connection, tx.org_id, user))
    assert trail.locked == ["organization_refs", "drafts", ACCESS, "users", "workstreams"]
    assert len([key for table, key in trail.keys if table == ACCESS]) == 2
    assert_in_order(trail)


def test_a_project_that_goes_locks_its_access_last(engine: Engine) -> None:
    place = an_organization(engine)
    a_draft(place, creates("open.md"))
    with followed(engine) as trail, acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        lock_project(tx.connection, tx.org_id, place.project_id)
        close_project_work(tx, place.project_id)
        delete_project(tx, place.project_id)
    assert trail.locked == ["organization_refs", "projects", "drafts", ACCESS]
    assert_in_order(trail)


@pytest.mark.parametrize("state", ["archived", "active"])
def test_a_change_of_a_projects_state_locks_its_access(engine: Engine, state: ProjectState) -> None:
    place = an_organization(engine)
    with followed(engine) as trail, acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        lock_project(tx.connection, tx.org_id, place.project_id)
        project = read_project(tx.connection, tx.org_id, place.project_id)
        change_project(tx, project, replace(ProjectChange.none(project), name="Other", state=state))
    assert trail.locked == ["organization_refs", "projects", *([ACCESS] if state == "archived" else [])]
    assert_in_order(trail)


def test_every_change_of_members_locks_the_access_to_their_project(engine: Engine) -> None:
    place = an_organization(engine)
    user = a_user(place)
    for change in (
        lambda tx: add_member(tx, place.project_id, user, "viewer"),
        lambda tx: change_member(tx, read_member(tx.connection, tx.org_id, place.project_id, user), "admin"),
        lambda tx: remove_member(tx, read_member(tx.connection, tx.org_id, place.project_id, user)),
    ):
        with followed(engine) as trail, acting(place) as tx:
            lock_coordination(tx.connection, tx.org_id)
            change(tx)
        assert trail.locked == ["organization_refs", ACCESS]
        assert_in_order(trail)


def test_an_import_locks_in_the_written_order_in_each_of_its_steps(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("a.md"), creates("b.md"))
    operation = an_import(place, a_file("a.md", "new\n"), a_file("c.md"), mirror=True)
    planned(place, operation)
    batch = ImportBatch(command=command_of(operation), batch=0)
    with followed(engine) as trail:
        ImportActivities(engine).draft_import_batch(batch)
    assert trail.locked == ["operations", "imports"]
    assert_in_order(trail)
    with followed(engine) as trail:
        assert finished(place, operation)
    assert trail.locked == ["organization_refs", "operations", "imports", "projects", "drafts"]
    assert_in_order(trail)


def test_an_import_that_plans_anew_locks_in_the_written_order(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md"))
    operation = an_import(place, a_file("a.md", "new\n"))
    drafted(place, operation)
    published(place, updates(memory_id, "theirs\n"))
    with followed(engine) as trail:
        assert not finished(place, operation)
    assert trail.locked == ["organization_refs", "operations", "imports", "projects", "drafts"]
    assert_in_order(trail)


def test_staging_locks_its_import_only(engine: Engine) -> None:
    place = an_organization(engine)
    with acting(place) as tx:
        row = insert_import(tx, project_id=place.project_id, title="T", mirror=False, prefix="", source="s")
    assert row is not None
    with followed(engine) as trail, acting(place) as tx:
        assert unfinished_import(tx, place.project_id, "s") is not None
        lock_import(tx.connection, tx.org_id, row.import_id)
        stage_files(tx, row.import_id, [a_file("a.md")])
    assert trail.locked == ["imports"]
    assert trail.changed_unlocked == []


def test_an_append_locks_its_draft_only(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    with followed(engine) as trail:
        appended(place, draft, creates("b.md"))
    assert trail.locked == ["drafts"]
    assert trail.keys == [("drafts", draft.draft_id)]
    assert trail.changed_unlocked == []


def test_a_batch_locks_its_drafts_only_and_by_id(engine: Engine) -> None:
    place = an_organization(engine)
    drafts = [a_draft(place) for _ in range(3)]
    batch = [
        BatchedOperation(index, f"op {index}", draft.draft_id, 1, creates("a.md"))
        for index, draft in enumerate(reversed(drafts))
    ]
    with followed(engine) as trail, acting(place) as tx:
        append_batch(tx, batch)
    assert trail.locked == ["drafts"]
    assert trail.keys == [("drafts", draft.draft_id) for draft in drafts]
    assert_in_order(trail)


def test_an_append_does_not_wait_for_a_command_on_its_organization(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("r.md")))
    draft = a_draft(place, creates("a.md"))
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        lock_project(tx.connection, tx.org_id, place.project_id)
        assert appended(place, draft, creates("b.md")).version == 2
        assert a_draft(place, creates("c.md")).version == 1
    assert decided(place, review_id, "approved").status == "succeeded"


def test_a_lock_out_of_order_would_be_seen() -> None:
    trail = Trail()
    trail.see("select * from reviews where x = :x for no key update", {"review_id": "rev_2"})
    trail.see("select * from projects where x = :x\n for no key update", {"project_id": "prj_1"})
    with pytest.raises(AssertionError):
        assert_in_order(trail)
    unlocked = Trail()
    unlocked.see("update drafts set title = 'x'", {})
    with pytest.raises(AssertionError):
        assert_in_order(unlocked)
