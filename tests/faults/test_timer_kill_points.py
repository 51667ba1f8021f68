"""A Review's timers, and the end of a merge that they made, stopped after every statement: each happens once."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from models.identifiers import ReviewId
from tests.commands import a_review, attempted, decided, operation_now
from tests.databases import an_unserved_database
from tests.fuse import COMMIT, Fuse, over
from tests.invariants import check_invariants
from tests.organization_rows import everything
from tests.policies import expires_after, from_now, happened, reminds_after, scheduled, scheduled_merges, timers_run
from tests.rows import Somewhere, a_draft, a_user, an_organization, creates, with_role
from tests.stack import Stack

LATER = timedelta(days=1)


@pytest.fixture(scope="module")
def engine(stack: Stack) -> Iterator[Engine]:
    with an_unserved_database(stack.database_url) as pool:
        yield pool


def one_that_is_reminded_of(place: Somewhere) -> ReviewId:
    reminds_after(place, 60)
    return a_review(place, a_draft(place, creates("a.md")))


def one_that_expires(place: Somewhere) -> ReviewId:
    expires_after(place, 60)
    return a_review(place, a_draft(place, creates("a.md")), a_draft(place, creates("b.md")))


def one_that_is_published(place: Somewhere) -> ReviewId:
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "approved", actor=a_user(place, "admin"))
    scheduled(place, review_id, from_now(60))
    return review_id


def one_that_is_skipped(place: Somewhere) -> ReviewId:
    review_id = a_review(place, a_draft(place, creates("a.md")))
    scheduled(place, review_id, from_now(60))
    return review_id


@pytest.mark.parametrize(
    "make", [one_that_is_reminded_of, one_that_expires, one_that_is_published, one_that_is_skipped]
)
def test_timers_stopped_anywhere_do_once_what_is_due(
    engine: Engine, line: tuple[Engine, Fuse], subtests: pytest.Subtests, make: Callable[[Somewhere], ReviewId]
) -> None:
    pool, fuse = line
    whole = an_organization(engine)
    review_id = make(whole)
    with fuse.arm(pool):
        timers_run(over(pool, whole), review_id, at=from_now(LATER.total_seconds()))
    statements = fuse.statements
    assert statements.count(COMMIT) == 1
    place = an_organization(engine)
    review_id = make(place)
    before = everything(place)
    for number, statement in enumerate(["BEGIN", *statements[:-1]]):
        with subtests.test(after=number, statement=statement[:60]):
            with fuse.arm(pool, number), pytest.raises(DBAPIError):
                timers_run(over(pool, place), review_id, at=from_now(LATER.total_seconds()))
            assert everything(place) == before
    with fuse.arm(pool, len(statements)), pytest.raises(DBAPIError):
        timers_run(over(pool, place), review_id, at=from_now(LATER.total_seconds()))
    after = everything(place)
    timers_run(place, review_id, at=from_now(LATER.total_seconds()))
    assert everything(place) == after != before
    assert len(scheduled_merges(place, review_id)) == (make is one_that_is_published)
    check_invariants(engine, place.org_id)


def test_a_merge_that_is_refused_when_it_comes_is_skipped_once_wherever_it_is_stopped(
    engine: Engine, line: tuple[Engine, Fuse], subtests: pytest.Subtests
) -> None:
    pool, fuse = line

    def refused(place: Somewhere) -> ReviewId:
        review_id = a_review(place, a_draft(place, creates("a.md")))
        admin = a_user(place, "admin")
        decided(place, review_id, "approved", actor=admin)
        scheduled(place, review_id, from_now(60))
        timers_run(place, review_id, at=from_now(61))
        with_role(place, admin, "member")
        return review_id

    whole = an_organization(engine)
    (merge,) = scheduled_merges(whole, refused(whole))
    with fuse.arm(pool):
        assert not attempted(over(pool, whole), merge).succeeded
    statements = fuse.statements
    place = an_organization(engine)
    review_id = refused(place)
    (merge,) = scheduled_merges(place, review_id)
    before = everything(place)
    for number, statement in enumerate(["BEGIN", *statements[:-1]]):
        with subtests.test(after=number, statement=statement[:60]):
            with fuse.arm(pool, number):
                assert not attempted(over(pool, place), merge).finished
            assert everything(place) == before
    assert attempted(over(pool, place), merge).finished
    assert operation_now(place, merge).status == "failed"
    assert [event for event, _, _ in happened(place, review_id)].count("publish_skipped") == 1
    check_invariants(engine, place.org_id)
