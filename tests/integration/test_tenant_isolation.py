"""Organizations whose people, projects, Drafts, Reviews and Memories have the same ids see nothing of each other."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Engine, text
from sqlmodel import SQLModel

import models.tables  # noqa: F401  (registers the schema)
from activities.batches import BatchedOperation, append_batch
from activities.catching_up import after_publication
from activities.drafting import append, create_draft, retitle
from models.identifiers import ReviewId
from models.store.access import READABLE_PROJECTS
from models.store.candidate_views import candidate_body
from models.store.candidates import live_candidates
from models.store.commits import organization_version_of, read_commit
from models.store.draft_views import draft_body, draft_result
from models.store.drafts import read_draft
from models.store.import_plans import plan_of
from models.store.import_views import import_body, list_files
from models.store.imports import end_import, insert_import, read_import, stage_files
from models.store.locks import lock_import
from models.store.operations import StoredOperation
from models.store.org_memories import read_memory
from models.store.review_views import review_body, submission_body
from models.store.revisions import revisions
from tests.commands import (
    a_decision,
    a_merge,
    a_resubmit,
    a_review,
    a_selection,
    a_submit,
    a_withdrawal,
    attempted,
    operation_now,
    published,
    review,
)
from tests.imports import a_file, an_import, drafted, imported, planned, row_of_import
from tests.invariants import check_invariants
from tests.organization_rows import TABLES, everything
from tests.policies import from_now, next_timer_at, reminds_after, scheduled, timers_run
from tests.rebasing import a_candidate, a_rebase, a_reconciliation, offered
from tests.rows import (
    Somewhere,
    a_draft,
    acting,
    an_organization,
    appended,
    creates,
    current,
    deletes,
    discarded,
    execute,
    refused,
    restores,
    tree,
    updates,
    with_state,
)

# In an order that foreign keys allow.
COPIED = (
    "drafts",
    "draft_operations",
    "draft_revisions",
    "draft_operation_receipts",
    "reconciliation_candidates",
    "blobs",
    "draft_base_states",
    "memories",
    "memory_versions",
    "tree_buckets",
    "org_selections",
    "projection_versions",
    "reviews",
    "review_submissions",
    "review_submission_drafts",
    "review_submission_states",
    "operations",
    "imports",
    "import_files",
    "import_reports",
    "import_operations",
    "import_drafts",
)


class Twins:
    """The same rows in two organizations: an open Draft, a submitted one in a Review, two published Memories, an import
    that is planned; of a third Memory a Draft that fell behind, with a candidate, and one that was rebased.

    The owner of the one is a mere member of the other.
    """

    def __init__(self, engine: Engine) -> None:
        self.here = an_organization(engine)
        self.there = an_organization(engine, named=self.here)
        self.memories = published(self.here, creates("1.md", "same\n"), creates("2.md"))
        self.open = a_draft(self.here, updates(self.memories[0], "proposed\n"))
        self.member = a_draft(self.here, creates("3.md"), deletes(self.memories[1]))
        (self.contested,) = published(self.here, creates("contested.md", "base\n"))
        self.behind = a_draft(self.here, updates(self.contested, "behind\n"))
        self.rebased = a_draft(self.here, updates(self.contested, "rebased\n"))
        published(self.here, updates(self.contested, "theirs\n"))
        self.candidate = a_candidate(self.here, self.behind)
        self._rebase()
        self.review_id = a_review(self.here, self.member)
        self.importing = an_import(self.here, a_file("2.md", "imported\n"), a_file("7.md"), mirror=True)
        planned(self.here, self.importing)
        self._copy()
        execute(self.there, "update users set role = 'member' where org_id = :o")

    def _rebase(self) -> None:
        candidate = a_candidate(self.here, self.rebased)
        succeeds(self.here, a_rebase(self.here, self.rebased, candidate, *offered(candidate, "keep_draft")))
        with acting(self.here) as tx:
            version = current(self.here, self.rebased).version
            append_batch(tx, [BatchedOperation(0, "local", self.rebased.draft_id, version, creates("batched.md"))])

    def _copy(self) -> None:
        with self.here.engine.begin() as connection:
            for table in COPIED:
                columns = ", ".join(
                    connection.execute(
                        text("""
                            select column_name from information_schema.columns
                            where table_name = :table and column_name <> 'org_id'
                        """),
                        {"table": table},
                    ).scalars()
                )
                columns = columns.replace("index", '"index"')
                copy = f"insert into {table} (org_id, {columns}) select :there, {columns} from {table}"  # noqa: S608
                connection.execute(
                    text(f"{copy} where org_id = :here"), {"here": self.here.org_id, "there": self.there.org_id}
                )


@pytest.fixture
def twins(engine: Engine) -> Twins:
    return Twins(engine)


@pytest.fixture
def untouched(twins: Twins) -> Iterator[None]:
    """Whatever is done here changes no row there."""
    before = everything(twins.there)
    yield
    assert everything(twins.there) == before


def succeeds(place: Somewhere, operation: StoredOperation) -> None:
    attempted(place, operation)
    assert operation_now(place, operation).status == "succeeded", operation_now(place, operation).problem


@pytest.mark.usefixtures("untouched")
def test_every_command_changes_its_own_organization_only(twins: Twins) -> None:
    place = twins.here
    other = a_draft(place, creates("4.md"))
    succeeds(place, a_submit(place, twins.open))
    succeeds(place, a_decision(place, twins.review_id, "approved"))
    succeeds(place, a_resubmit(place, twins.review_id, current(place, twins.member), other))
    succeeds(place, a_merge(place, twins.review_id))
    discarded(place, twins.open)
    again = a_review(place, a_draft(place, creates("5.md")))
    succeeds(place, a_decision(place, again, "rejected"))
    last = a_review(place, a_draft(place, creates("6.md")))
    succeeds(place, a_withdrawal(place, last))
    succeeds(place, a_selection(place, place.project_id, [twins.memories[0], twins.contested]))
    assert tree(place)[twins.memories[0]][2] == "same\n"
    check_invariants(place.engine, place.org_id)


@pytest.mark.usefixtures("untouched")
def test_bringing_up_to_date_changes_its_own_organization_only(twins: Twins) -> None:
    place = twins.here
    succeeds(place, a_rebase(place, twins.behind, twins.candidate, *offered(twins.candidate, "both_draft_first")))
    first, second = (a_draft(place, updates(twins.contested, f"{text}\ntheirs\n")) for text in ("one", "two"))
    a_review(place, current(place, twins.behind))
    published(place, updates(twins.contested, "theirs again\n"))
    for draft in (first, second, twins.rebased, twins.behind):
        after_publication(place.engine, place.org_id, draft.draft_id)
    succeeds(place, a_reconciliation(place, second))
    behind = current(place, twins.behind)
    candidate = a_candidate(place, behind)
    succeeds(place, a_rebase(place, behind, candidate, *offered(candidate, "keep_draft")))
    check_invariants(place.engine, place.org_id)


@pytest.mark.usefixtures("untouched")
def test_a_batch_and_a_restore_change_their_own_organization_only(twins: Twins) -> None:
    place = twins.here
    published(place, deletes(twins.memories[1]))
    published(place, restores(twins.memories[1]))
    with acting(place) as tx:
        more = BatchedOperation(0, "more", twins.open.draft_id, twins.open.version, creates("more.md"))
        append_batch(tx, [more])
    check_invariants(place.engine, place.org_id)


@pytest.mark.usefixtures("untouched")
def test_a_reviews_timers_change_their_own_organization_only(twins: Twins) -> None:
    place = twins.here
    reminds_after(place, 60)
    timers_run(place, twins.review_id, at=next_timer_at(place, twins.review_id))
    scheduled(place, twins.review_id, from_now(60))
    timers_run(place, twins.review_id, at=from_now(60))
    check_invariants(place.engine, place.org_id)


@pytest.mark.usefixtures("untouched")
def test_an_import_changes_its_own_organization_only(twins: Twins) -> None:
    place = twins.here
    with acting(place) as tx:
        row = insert_import(tx, project_id=place.project_id, title="T", mirror=False, prefix="", source="s")
        assert row is not None
        stage_files(tx, row.import_id, [a_file("8.md")])
        end_import(tx, row.import_id)
    published(place, updates(twins.memories[1], "theirs\n"))
    assert imported(place, twins.importing).status == "succeeded"
    assert row_of_import(place, twins.importing).attempt == 2


@pytest.mark.usefixtures("untouched")
def test_an_import_that_fails_changes_its_own_organization_only(twins: Twins) -> None:
    drafted(twins.here, twins.importing)
    with_state(twins.here, twins.here.project_id, "archived")
    assert imported(twins.here, twins.importing).status == "failed"
    with_state(twins.here, twins.here.project_id, "active")


def test_an_import_is_planned_from_its_own_organization_only(twins: Twins) -> None:
    """There, the same import of the same files meets nothing that is selected, and one file is another."""
    execute(twins.there, "delete from org_selections where org_id = :o")
    execute(twins.there, "update import_files set path = 'there.md' where org_id = :o and path = '7.md'")
    row = row_of_import(twins.there, twins.importing)
    with twins.there.engine.connect() as connection:
        plan = plan_of(connection, row)
        shown = import_body(connection, row)
        files = list_files(connection, row, after=None, limit=9)
    assert [(change.action, change.path) for change in plan.changes] == [("create", "there.md")]
    assert [report.code for report in plan.reports] == ["path_collision"]
    assert (shown.staged, [file.path for file in files]) == (2, ["2.md", "there.md"])


@pytest.mark.usefixtures("untouched")
def test_appends_and_titles_change_their_own_organization_only(twins: Twins) -> None:
    place = twins.here
    draft = appended(place, twins.open, creates("4.md"))
    with acting(place) as tx:
        retitle(tx, draft.draft_id, expected_version=draft.version, title="Other")


def test_a_role_counts_in_its_own_organization_only(twins: Twins) -> None:
    place = twins.there
    for operation in (
        a_decision(place, twins.review_id, "approved"),
        a_merge(place, twins.review_id),
        a_selection(place, place.project_id, [], revision=0),
    ):
        attempted(place, operation)
        problem = operation_now(place, operation).problem
        assert problem is not None
        assert problem["code"] == "not_found"  # a member of the organization, but not of the project
    with place.engine.connect() as connection:
        readable = text(READABLE_PROJECTS)
        assert connection.execute(readable, {"org_id": place.org_id, "user_id": place.owner}).all() == []
        here = {"org_id": twins.here.org_id, "user_id": place.owner}
        assert len(connection.execute(readable, here).all()) == 1


def test_an_operation_is_known_in_its_own_organization_only(engine: Engine) -> None:
    place, elsewhere = an_organization(engine), an_organization(engine)
    operation = a_merge(place, a_review(place, a_draft(place, creates("a.md"))))
    stolen = replace(operation, org_id=elsewhere.org_id)
    assert attempted(elsewhere, stolen).finished
    assert operation_now(place, operation).status == "pending"


def test_ids_of_another_organization_are_not_found(engine: Engine) -> None:
    place, elsewhere = an_organization(engine), an_organization(engine)
    (memory_id,) = published(elsewhere, creates("a.md"))
    draft = a_draft(elsewhere, creates("b.md"))
    review_id = a_review(elsewhere, draft)
    import_id = row_of_import(elsewhere, an_import(elsewhere, a_file("b.md"))).import_id
    commit_id = current(elsewhere, draft).base_commit_id
    assert commit_id is not None
    with acting(place) as tx:
        connection = tx.connection
        assert read_draft(connection, place.org_id, draft.draft_id) is None
        assert read_commit(connection, place.org_id, commit_id) is None
        assert read_import(connection, place.org_id, import_id) is None
        assert organization_version_of(connection, place.org_id, place.project_id, commit_id) is None
        for ask in (
            lambda: review_body(connection, place.org_id, review_id),
            lambda: submission_body(connection, place.org_id, review_id, 1),
            lambda: read_memory(connection, place.org_id, memory_id),
            lambda: lock_import(connection, place.org_id, import_id),
            lambda: append(tx, draft.draft_id, expected_version=1, operations=[]),
            lambda: create_draft(tx, project_id=elsewhere.project_id, title="", base_commit_id=None, operations=[]),
            lambda: create_draft(tx, project_id=place.project_id, title="", base_commit_id=commit_id, operations=[]),
        ):
            assert refused(ask).code == "not_found"
    missing = refused(lambda: a_draft(place, updates(memory_id, "mine\n")))
    assert missing.code == "target_missing"
    for operation in (
        a_merge_of(place, review_id),
        a_submit(place, draft, author=place.owner, project_id=place.project_id),
        a_selection(place, place.project_id, [memory_id]),
    ):
        attempted(place, operation)
        problem = operation_now(place, operation).problem
        assert problem is not None
        assert problem["code"] == "not_found"
    assert review(elsewhere, review_id).status == "open"


def a_merge_of(place: Somewhere, review_id: ReviewId) -> StoredOperation:
    """A merge of a Review that the organization may not have."""
    draft = a_draft(place, creates("own.md"))
    operation = a_merge(place, a_review(place, draft))
    execute(
        place,
        "update operations set review_id = :r where org_id = :o and operation_id = :id",
        r=review_id,
        id=operation.operation_id,
    )
    return operation


def test_every_table_of_organizations_is_looked_at() -> None:
    assert {table.name for table in SQLModel.metadata.sorted_tables if "org_id" in table.c} == TABLES.keys()


def test_what_is_shown_is_the_organizations_own(twins: Twins) -> None:
    other = "different\n"
    execute(twins.there, "update draft_operations set content = :c where org_id = :o and content is not null", c=other)
    execute(twins.there, "update blobs set content = :c where org_id = :o", c=other)
    for table, column in (("reconciliation_candidates", "memories"), ("draft_revisions", "operations")):
        change = f"{column} = cast(replace(cast({column} as text), 'contested.md', 'different.md') as jsonb)"
        execute(twins.there, f"update {table} set {change} where org_id = :o")  # noqa: S608  (ours)
    execute(twins.there, "update drafts set version = version + 1 where org_id = :o")
    with twins.here.engine.connect() as connection:
        org_id = twins.here.org_id
        shown = repr(
            [
                draft_body(connection, twins.open),
                draft_result(connection, twins.open),
                review_body(connection, twins.here.org_id, twins.review_id),
                submission_body(connection, twins.here.org_id, twins.review_id, 1),
                read_memory(connection, twins.here.org_id, twins.memories[0]),
                candidate_body(connection, org_id, twins.behind.draft_id, twins.candidate["candidate_id"]),
                revisions(connection, org_id, twins.rebased.draft_id, before=None, limit=9),
                live_candidates(connection, org_id, [twins.behind.draft_id, twins.rebased.draft_id]),
            ]
        )
    assert "different" not in shown
    assert "proposed" in shown
    assert twins.candidate["candidate_id"] in shown
