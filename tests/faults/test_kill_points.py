"""Every command stopped before it begins, after every statement, and after COMMIT before it reports.

The line is cut under the command, so that the server rolls back what it has not committed. A killed attempt that has
not committed must leave every row of the organization as it was, so the next attempt is a retry of the first.
"""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from models.errors import DraftClosed
from models.store.locks import DraftRow
from models.store.operations import StoredOperation
from tests.commands import (
    a_merge,
    a_review,
    attempted,
    decided,
    operation_now,
    result_of,
)
from tests.databases import an_unserved_database
from tests.fuse import COMMIT, Fuse, every_stop, over, stops
from tests.invariants import check_invariants
from tests.organization_rows import everything
from tests.rows import (
    Somewhere,
    a_draft,
    an_organization,
    creates,
    discarded,
)
from tests.scenarios import COMMANDS
from tests.stack import Stack


@pytest.fixture(scope="module")
def engine(stack: Stack) -> Iterator[Engine]:
    with an_unserved_database(stack.database_url) as pool:
        yield pool


def statements_of(
    engine: Engine, line: tuple[Engine, Fuse], command: Callable[[Somewhere], StoredOperation]
) -> list[str]:
    """The statements of the command when nothing happens to it."""
    pool, fuse = line
    place = an_organization(engine)
    operation = command(place)
    with fuse.arm(pool):
        assert attempted(over(pool, place), operation).succeeded
        return fuse.statements


@every_stop
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_stopped_anywhere_ends_once_by_its_retry(
    engine: Engine,
    line: tuple[Engine, Fuse],
    subtests: pytest.Subtests,
    command: Callable[[Somewhere], StoredOperation],
    every: int,
) -> None:
    pool, fuse = line
    statements = statements_of(engine, line, command)
    assert statements.count(COMMIT) == 1
    place = an_organization(engine)
    operation = command(place)
    before = everything(place)
    for number in stops(statements, every)[:-1]:
        with subtests.test(after=number, statement=["BEGIN", *statements][number][:60]):
            with fuse.arm(pool, number):
                assert not attempted(over(pool, place), operation).finished
            assert everything(place) == before
    with fuse.arm(pool, len(statements)):
        assert not attempted(over(pool, place), operation).finished
    assert fuse.statements[-1] == COMMIT
    after = everything(place)
    outcome = attempted(over(pool, place), operation)
    assert (outcome.finished, outcome.succeeded) == (True, True)
    assert everything(place) == after
    assert operation_now(place, operation).failures == 0
    check_invariants(engine, place.org_id)


@every_stop
def test_a_publication_stopped_anywhere_is_published_once_by_its_retry(
    engine: Engine, line: tuple[Engine, Fuse], subtests: pytest.Subtests, every: int
) -> None:
    """The same of many publications in one organization, each retried to its end right after it was stopped."""
    pool, fuse = line
    place = an_organization(engine)
    first = a_merge(place, a_review(place, a_draft(place, creates("first.md"))))
    with fuse.arm(pool):
        attempted(over(pool, place), first)
    chosen = stops(fuse.statements, every)
    operations = [a_merge(place, a_review(place, a_draft(place, creates(f"{stop}.md")))) for stop in chosen]
    for stop, operation in zip(chosen, operations, strict=True):
        with subtests.test(stop=stop):
            with fuse.arm(pool, stop):
                assert not attempted(over(pool, place), operation).finished
            assert attempted(over(pool, place), operation).succeeded
            result = result_of(operation_now(place, operation))
            assert (result["applied_operation_count"], result["already_published"]) == (1, False)
    check_invariants(engine, place.org_id)


def test_a_discard_of_a_submitted_draft_stopped_anywhere_happens_once(
    engine: Engine, line: tuple[Engine, Fuse], subtests: pytest.Subtests
) -> None:
    pool, fuse = line

    def a_review_of_two(place: Somewhere) -> DraftRow:
        draft = a_draft(place, creates("1.md"))
        decided(place, a_review(place, draft, a_draft(place, creates("2.md"))), "approved")
        return draft

    whole = an_organization(engine)
    draft = a_review_of_two(whole)
    with fuse.arm(pool):
        discarded(over(pool, whole), draft)
    statements = fuse.statements
    place = an_organization(engine)
    draft = a_review_of_two(place)
    before = everything(place)
    for stop in range(len(statements)):
        with subtests.test(stop=stop):
            with fuse.arm(pool, stop), pytest.raises(DBAPIError):
                discarded(over(pool, place), draft)
            assert everything(place) == before
    with fuse.arm(pool, len(statements)), pytest.raises(DBAPIError):
        discarded(over(pool, place), draft)
    after = everything(place)
    with pytest.raises(DraftClosed):
        discarded(over(pool, place), draft)
    assert everything(place) == after
    check_invariants(engine, place.org_id)
