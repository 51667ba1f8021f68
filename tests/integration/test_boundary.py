"""The border of every command: outcomes, failures that are counted, and those that pass by themselves."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg import errors as sqlstate_errors
from sqlalchemy import Engine, Row, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from activities.boundary import carry_out, is_transient
from activities.lane import PublicationActivities
from activities.messages import Command, PublishBatch
from activities.publication import publish_review
from models.store.operations import MAX_FAILURES, StoredOperation
from tests.commands import (
    a_decision,
    a_merge,
    a_review,
    a_selection,
    a_submit,
    attempted,
    carried_out,
    operation_now,
    problem_of,
    published,
)
from tests.invariants import check_invariants
from tests.rows import Somewhere, a_draft, an_organization, creates, execute, fetch, ref_of, updates


def poisoned(place: Somewhere, operation: StoredOperation, change: str) -> StoredOperation:
    execute(
        place,
        f"update operations set {change} where org_id = :o and operation_id = :id",  # noqa: S608
        id=operation.operation_id,
    )
    return operation


POISONS = {
    "a request that is no request": "request = '{}'",
    "a kind that nobody knows": "kind = 'review.transmogrify'",
    "no Review": "review_id = null, request = '{\"drafts\": 7}'",
}


@pytest.mark.parametrize("poison", POISONS)
def test_a_poisoned_operation_ends_as_internal_error_after_the_fifth_failure(engine: Engine, poison: str) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    operation = poisoned(place, a_submit(place, draft), POISONS[poison])
    for _ in range(MAX_FAILURES - 1):
        assert not attempted(place, operation).finished
    assert attempted(place, operation).finished
    (row,) = _outcome(place, operation)
    assert (row.status, row.failures, row.problem["code"], row.problem["status"]) == (
        "failed",
        MAX_FAILURES,
        "internal_error",
        500,
    )
    assert row.problem["request_id"] == "test"
    assert attempted(place, operation).finished
    assert _outcome(place, operation) == [row]
    check_invariants(engine, place.org_id)


def _outcome(place: Somewhere, operation: StoredOperation) -> list[Row[tuple[Any, ...]]]:
    return fetch(place, "select * from operations where org_id = :o and operation_id = :id", id=operation.operation_id)


def test_a_poisoned_merge_leaves_nothing_behind_and_stops_nobody(engine: Engine) -> None:
    place = an_organization(engine)
    reviews = [a_review(place, a_draft(place, creates(f"{number}.md"))) for number in range(3)]
    operations = [a_merge(place, review_id) for review_id in reviews]
    poisoned(place, operations[1], "request = request - 'expected_review_version'")
    for operation in operations:
        attempted(place, operation)
    assert [operation_now(place, operation).status for operation in operations] == [
        "succeeded",
        "pending",
        "succeeded",
    ]
    for _ in range(MAX_FAILURES - 1):
        attempted(place, operations[1])
    assert problem_of(operation_now(place, operations[1]))["code"] == "internal_error"
    assert ref_of(place)[1] == 2
    check_invariants(engine, place.org_id)


def test_an_unknown_operation_is_done_with(engine: Engine) -> None:
    place = an_organization(engine)
    operation = a_submit(place, a_draft(place, creates("a.md")))
    execute(place, "delete from operations where org_id = :o")
    assert attempted(place, operation).finished


def test_a_refusal_is_an_outcome_and_is_not_tried_again(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place)
    operation = carried_out(place, a_submit(place, draft))
    problem = problem_of(operation)
    execute(place, "update drafts set title = 'other' where org_id = :o")
    assert problem_of(carried_out(place, operation)) == problem
    assert operation_now(place, operation).updated_at == operation.updated_at


@contextmanager
def coordination_held(place: Somewhere) -> Iterator[None]:
    with place.engine.begin() as connection:
        connection.execute(
            text("select 1 from organization_refs where org_id = :o for no key update"), {"o": place.org_id}
        )
        yield


def _commands(place: Somewhere) -> list[StoredOperation]:
    (one,) = published(place, creates("a.md"))
    review_id = a_review(place, a_draft(place, updates(one, "b\n")))
    return [
        a_submit(place, a_draft(place, creates("c.md"))),
        a_decision(place, review_id, "approved"),
        a_selection(place, place.project_id, [one]),
        a_merge(place, review_id),
    ]


@contextmanager
def impatient(place: Somewhere, timeout: str) -> Iterator[Somewhere]:
    """The same place through connections that give up sooner."""
    pool = create_engine(place.engine.url, connect_args={"options": f"-c {timeout}"})
    try:
        yield Somewhere(pool, place.org_id, place.owner, place.project_id)
    finally:
        pool.dispose()


def test_a_lock_time_out_is_not_counted_and_the_retry_succeeds(engine: Engine) -> None:
    place = an_organization(engine)
    operations = _commands(place)
    with impatient(place, "lock_timeout=20") as hasty:
        with coordination_held(place):
            for operation in operations:
                assert not attempted(hasty, operation).finished
        assert {operation_now(place, operation).failures for operation in operations} == {0}
        for operation in operations[:3]:
            assert carried_out(hasty, operation).status == "succeeded"
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize("timeout", ["statement_timeout", "transaction_timeout"])
def test_a_command_that_takes_too_long_is_counted(engine: Engine, timeout: str) -> None:
    place = an_organization(engine)
    operation = _commands(place)[0]
    with impatient(place, f"{timeout}=30") as hasty, coordination_held(place):
        assert not attempted(hasty, operation).finished
    assert operation_now(place, operation).failures == 1


def test_a_terminated_backend_is_not_counted_and_the_retry_succeeds(engine: Engine) -> None:
    place = an_organization(engine)
    for operation in _commands(place):
        with coordination_held(place):
            worker = threading.Thread(target=attempted, args=(place, operation))
            worker.start()
            _terminate_a_waiter(place)
            worker.join()
        assert (operation_now(place, operation).status, operation_now(place, operation).failures) == ("pending", 0)
        assert attempted(place, operation).finished
    check_invariants(engine, place.org_id)


def _terminate_a_waiter(place: Somewhere) -> None:
    while True:
        with place.engine.begin() as connection:
            ended = connection.execute(
                text("""
                    select pg_terminate_backend(pid) from pg_stat_activity
                    where wait_event_type = 'Lock' and query like '%organization_refs%' and pid <> pg_backend_pid()
                """)
            ).all()
        if ended:
            return


def test_a_batch_returns_what_is_left_and_the_reviews_that_changed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = an_organization(engine)
    reviews = [a_review(place, a_draft(place, creates(f"{number}.md"))) for number in range(4)]
    operations = [a_merge(place, review_id) for review_id in reviews]
    poisoned(place, operations[2], "request = '{}'")
    monkeypatch.setattr("activities.lane._start_to_close_s", lambda: 30.0)
    batch = PublishBatch(org_id=place.org_id, operation_ids=tuple(op.operation_id for op in operations))
    published_batch = PublicationActivities(engine).publish(batch)
    assert published_batch.remaining == (operations[2].operation_id,)
    assert published_batch.review_ids == (reviews[0], reviews[1], reviews[3])
    check_invariants(engine, place.org_id)


def test_a_batch_that_has_no_time_left_returns_all_of_it(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    place = an_organization(engine)
    operation = a_merge(place, a_review(place, a_draft(place, creates("a.md"))))
    monkeypatch.setattr("activities.lane._start_to_close_s", lambda: 0.0)
    batch = PublishBatch(org_id=place.org_id, operation_ids=(operation.operation_id,))
    assert PublicationActivities(engine).publish(batch).remaining == batch.operation_ids
    assert operation_now(place, operation).status == "running"


def test_an_operation_of_another_organization_is_not_carried_out(engine: Engine) -> None:
    place, elsewhere = an_organization(engine), an_organization(engine)
    operation = a_merge(place, a_review(place, a_draft(place, creates("a.md"))))
    command = Command(org_id=elsewhere.org_id, operation_id=operation.operation_id)
    assert carry_out(engine, command, publish_review).finished
    assert operation_now(place, operation).status == "pending"


@pytest.mark.parametrize(
    ("state", "transient"),
    [
        ("40P01", True),  # deadlock
        ("40001", True),  # serialization failure
        ("55P03", True),  # lock time-out
        ("57P01", True),  # terminated by an administrator
        ("57P03", True),  # starting up
        ("08006", True),  # connection failure
        ("25P03", True),  # the process was frozen in a transaction
        ("57014", False),  # statement time-out
        ("25P04", False),  # transaction time-out
        ("23505", False),  # not unique: under the coordination row a defect
        ("53100", False),  # disk full
        ("22P02", False),  # malformed text
    ],
)
def test_what_passes_by_itself_is_told_from_what_does_not(state: str, *, transient: bool) -> None:
    error = DBAPIError("select 1", {}, sqlstate_errors.lookup(state)("refused"))
    assert is_transient(error) is transient


def test_a_defect_of_ours_does_not_pass_by_itself() -> None:
    assert not is_transient(ValueError("no"))
    assert is_transient(PoolTimeout("no connection was free"))
