"""Texts are kept in one order: whoever keeps equal ones at the same time waits, and nobody in a circle."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from models.identifiers import BlobId
from models.rules.hashes import body_of
from models.store.drafts import keep_texts
from models.store.locks import DraftRow
from models.store.memories import write_blobs
from models.store.transaction import Transaction
from tests.fuse import over
from tests.racing import without_deadlocks
from tests.rows import Somewhere, a_draft, acting, an_organization, creates, fetch

FIRST, LAST = sorted(("one\n", "another\n"), key=lambda content: body_of(content).blob_id)
LONGEST_WAIT_S = 10.0

Keep = Callable[[Transaction, DraftRow], None]


def of(*contents: str) -> Mapping[BlobId, str]:
    return {body_of(content).blob_id: content for content in contents}


def keeps_carried_and_made(tx: Transaction, draft: DraftRow) -> None:
    keep_texts(tx, {*of(FIRST, LAST)}, [draft.draft_id], of(FIRST))


def writes_them_the_other_way_round(tx: Transaction, _draft: DraftRow) -> None:
    write_blobs(tx, {body_of(content): content for content in (LAST, FIRST)})


@pytest.mark.parametrize("keep", [keeps_carried_and_made, writes_them_the_other_way_round])
def test_two_that_keep_equal_texts_wait_in_one_order(engine: Engine, keep: Keep) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md", LAST))
    with without_deadlocks(engine, connections=3) as pool, ThreadPoolExecutor(1) as threads:
        there = over(pool, place)
        with acting(there) as tx:
            write_blobs(tx, {body_of(FIRST): FIRST})
            other = threads.submit(_keep, there, draft, keep)
            _wait_until_something_waits_for(tx, place)
            write_blobs(tx, {body_of(LAST): LAST})
        other.result()
    kept = {row.content for row in fetch(place, "select content from blobs where org_id = :o")}
    assert kept >= {FIRST, LAST}


def _keep(place: Somewhere, draft: DraftRow, keep: Keep) -> None:
    with acting(place) as tx:
        keep(tx, draft)


def _wait_until_something_waits_for(tx: Transaction, place: Somewhere) -> None:
    pid = tx.connection.execute(text("select pg_backend_pid()")).scalar_one()
    until = time.monotonic() + LONGEST_WAIT_S
    while not fetch(
        place,
        "select 1 from pg_stat_activity where :o <> '' and cast(:pid as integer) = any(pg_blocking_pids(pid))",
        pid=pid,
    ):
        assert time.monotonic() < until
        time.sleep(0.01)
