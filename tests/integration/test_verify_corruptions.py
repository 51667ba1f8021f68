"""That verification finds what is wrong: rows are changed behind the product's back, and the check by name says so.

Each corruption is planted in a transaction that is rolled back, without foreign keys, as a broken disk would do it.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, create_engine, text

import models.store.verification
from models.store.verification.organization import verify
from tests.corruptions.breaking import APPROVED, BODY, MERGED, Corruption, draft_of
from tests.corruptions.of_proposals import OF_PROPOSALS
from tests.corruptions.of_publication import OF_PUBLICATION
from tests.corruptions.of_reconciliation import OF_RECONCILIATION
from tests.corruptions.of_structured import OF_STRUCTURED
from tests.corruptions.of_the_installation import OF_THE_INSTALLATION
from tests.corruptions.of_the_schema import OF_THE_SCHEMA
from tests.lives import a_lived_in_organization
from tests.rows import Somewhere, an_organization
from tests.structured import a_connection, a_memory, saved

CORRUPTIONS = [*OF_PUBLICATION, *OF_PROPOSALS, *OF_RECONCILIATION, *OF_STRUCTURED]


@pytest.fixture(scope="module")
def place(engine: Engine) -> Somewhere:
    return a_lived_in_organization(engine)


@pytest.fixture(scope="module")
def superuser(engine: Engine) -> Iterator[Engine]:
    pool = create_engine(engine.url.set(username="postgres"))
    yield pool
    pool.dispose()


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda corruption: corruption.what)
def test_a_corruption_is_found_and_named(place: Somewhere, superuser: Engine, corruption: Corruption) -> None:
    with superuser.connect() as connection:
        connection.execute(text("set local session_replication_role = replica"))
        named = connection.execute(text(corruption.named), {"o": place.org_id}).scalar_one()
        for statement in corruption.plant:
            assert _changed(connection, place, statement), statement
        findings = verify(connection, place.org_id)
        connection.rollback()
    assert {finding.check for finding in findings} == {corruption.check} | corruption.also, "\n".join(
        map(str, findings)
    )
    assert any(finding.check == corruption.check and str(named) in finding.where for finding in findings), named


def _changed(connection: Connection, place: Somewhere, statement: str) -> bool:
    """Run a statement that is no mere question; whether it changed a row, or the schema."""
    names = {"o": place.org_id} if ":o" in statement else {}
    done = connection.execute(text(statement), names)
    return not done.returns_rows and done.rowcount != 0


GONE = {
    "organizations": "true",
    "organization_refs": "true",
    "projects": "true",
    "project_refs": "version > 0",
    "commits": "true",
    "blobs": f"blob_id = {BODY}",
    "memories": "true",
    "memory_versions": "true",
    "projection_versions": "true",
    "tree_buckets": "true",
    "org_selections": "true",
    "drafts": "status = 'merged'",
    "draft_revisions": "true",
    "draft_base_states": "true",
    "reconciliation_candidates": "candidate_id in (select candidate_id from draft_revisions)",
    "draft_operations": f"draft_id = {draft_of('a/approved.md')}",
    "reviews": "true",
    "review_submissions": "true",
    "review_submission_drafts": f"review_id = {APPROVED}",
    "review_submission_states": "true",
    "review_approvals": f"review_id = {MERGED}",
    "review_timeline": "true",
    "review_comments": "true",
    "operations": "kind = 'review.merge' and status = 'succeeded'",
    "imports": "true",
    "structured_memories": "true",
    "structured_memory_revisions": "true",
    "workstreams": "true",
    "events": "kind in ('commit.published', 'projection.moved', 'review.merged')",
    "audit_events": "action in ('review.submit', 'review.merge', 'draft.discard', 'selection.replace', 'memory.save')",
}
"""Rows by table whose loss nothing else explains: a user, or an open Draft's last operation, may go."""


@pytest.mark.parametrize("table", GONE)
def test_a_row_that_is_gone_is_found(place: Somewhere, superuser: Engine, table: str) -> None:
    one = f"select ctid from {table} where org_id = :o and {GONE[table]} limit 1"  # noqa: S608
    with superuser.connect() as connection:
        connection.execute(text("set local session_replication_role = replica"))
        assert _changed(connection, place, f"delete from {table} where ctid = ({one})")  # noqa: S608
        assert verify(connection, place.org_id)
        connection.rollback()


def test_an_organization_that_only_the_product_touched_has_none(place: Somewhere) -> None:
    with place.engine.connect() as connection:
        assert verify(connection, place.org_id) == []


def test_versions_of_a_memory_that_have_one_moment_are_no_corruption(engine: Engine, superuser: Engine) -> None:
    place = an_organization(engine)
    with a_connection(place) as writes:
        for content in ("One.", "Two.", "Three."):
            saved(writes, place, memory=a_memory(content=content))
    with superuser.connect() as connection:
        connection.execute(text("set local session_replication_role = replica"))
        for statement in (
            "update structured_memories set created = now(), updated = now() where org_id = :o",
            "update structured_memory_revisions set at = now() where org_id = :o",
            "update audit_events set at = now() where org_id = :o and resource_type = 'structured_memory'",
        ):
            assert _changed(connection, place, statement)
        findings = verify(connection, place.org_id)
        connection.rollback()
    assert findings == []


def test_every_check_finds_something() -> None:
    folder = Path(models.store.verification.__path__[0])
    checks = {
        name for file in folder.glob("*.py") for name in re.findall(r'"([a-z]+\.[a-z_]+)"', file.read_text("utf-8"))
    }
    assert checks == {corruption.check for corruption in (*CORRUPTIONS, *OF_THE_SCHEMA, *OF_THE_INSTALLATION)}
