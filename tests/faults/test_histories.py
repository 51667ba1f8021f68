"""What Temporal and the logs learn of a pipeline: ids, versions, hashes and titles of Reviews, never contents."""

import asyncio
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine

from models.identifiers import ReviewId
from models.settings import Settings
from models.store.operations import OperationKind, accept_operation
from tests.client import Client, a_project, an_organization, ok, problem
from tests.installation import until
from tests.load import a_review_in_rows, place_of
from tests.proposals import (
    a_draft,
    append,
    at_version,
    creates,
    decide,
    final,
    merge,
    provisional,
    resubmit,
    select,
    submit,
    updates,
    withdraw,
)
from tests.rows import Somewhere, acting, fetch
from tests.rows import creates as adds
from tests.stack import Stack
from workflows.ids import publication_workflow_id
from workflows.temporal_link import connect

pytestmark = pytest.mark.usefixtures("worker")

TITLE = "zvisible7title"
MARKER = "qmarker5content"
ANYWHERE = f"%{MARKER}%"

WRITTEN = {
    "blobs.content",
    "drafts.title",
    "memory_versions.description",
    "memory_versions.path",
    "operations.request",
    "review_comments.body",
    "review_timeline.reason",
    "reviews.description",
}
"""Where Postgres keeps what people wrote: a search that finds it there would find it elsewhere."""


def test_no_content_reaches_a_history_the_store_or_a_log(stack: Stack, engine: Engine, api: Client) -> None:
    began = datetime.now(UTC)
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    place = place_of(engine, organization, project_id)
    walk(organization.owner, project_id)
    fail_for_an_unforeseen_reason(place)

    assert columns_that_hold_the_marker(place) >= WRITTEN
    told = asyncio.run(all_that_temporal_was_told(stack, began))
    stored = b"".join(file.read_bytes() for file in stack.temporal.store.parent.iterdir())
    for seen in (told, stored):
        assert TITLE.encode() in seen
        assert organization.organization_id.encode() in seen
        assert MARKER.encode() not in seen.lower()
    for log in (stack.root / "logs").iterdir():
        assert MARKER not in log.read_text(errors="replace").lower(), log.name


def walk(owner: Client, project_id: str) -> None:
    """Every command, with the marker wherever a person writes, but for a Review's title, which operators see."""
    path, rival = f"{MARKER}/path.md", f"{MARKER.upper()}/Path.md"
    one, other = (a_draft(owner, project_id, creates(place, text(), text()), title=text()) for place in (path, rival))
    one = ok(append(owner, one, updates(provisional(one), content=text("appended"))))
    review = ok(submit(owner, one, title=TITLE, description=text()), 201)
    beaten = ok(submit(owner, other, title=TITLE), 201)
    remark = {"body": text(), "anchor_path": path, "anchor_line": 1}
    ok(owner.post(f"/reviews/{review['review_id']}/comments", remark), 201)
    review = ok(decide(owner, review, "rejected", body=text()))
    one = ok(owner.get(f"/drafts/{one['draft_id']}"))
    review = ok(resubmit(owner, review, one, description=text("resubmitted")))
    amended = {"description": text("amended")}
    review = ok(owner.patch(f"/reviews/{review['review_id']}", amended, headers=at_version(review)))
    review = ok(decide(owner, review, "approved", body=text()))
    ok(merge(owner, review))
    problem(merge(owner, beaten), 409, "reconciliation_required")
    ok(withdraw(owner, beaten, reason=text()))
    ok(select(owner, a_project(owner), [final(provisional(one))]))


def text(more: str = "text") -> str:
    return f"{MARKER} {more}"


def fail_for_an_unforeseen_reason(place: Somewhere) -> None:
    """A merge whose stored request is broken: what it holds is quoted by the exception."""
    review = a_review_in_rows(place, adds("other.md"))
    with acting(place) as tx:
        operation = accept_operation(
            tx,
            kind=OperationKind.MERGE,
            workflow_id=publication_workflow_id(place.org_id),
            project_id=place.project_id,
            review_id=ReviewId(review.review_id),
            request={"expected_review_version": MARKER},
            redeliver_after_s=0,
        )
    question = "select problem ->> 'code' as code from operations where org_id = :o and operation_id = :id"
    until(lambda: fetch(place, question, id=operation.operation_id)[0].code == "internal_error")


def columns_that_hold_the_marker(place: Somewhere) -> set[str]:
    """Where Postgres keeps it."""
    columns = fetch(
        place,
        """
        select c.table_name, c.column_name from information_schema.columns c
        join information_schema.columns o on o.table_name = c.table_name and o.column_name = 'org_id'
        where c.table_schema = 'public' and c.data_type in ('text', 'jsonb')
        """,
    )
    holding = set()
    for table, column in (tuple(row) for row in columns):
        question = f"select 1 from {table} where org_id = :o and {column}::text ilike :anywhere limit 1"  # noqa: S608
        if fetch(place, question, anywhere=ANYWHERE):
            holding.add(f"{table}.{column}")
    return holding


async def all_that_temporal_was_told(stack: Stack, since: datetime) -> bytes:
    """Every event of every run that began since then, and what lists show of it."""
    client = await connect(Settings(temporal_address=stack.temporal_address))
    told = []
    async for run in client.list_workflows(f"StartTime >= '{since.isoformat()}'"):
        history = await client.get_workflow_handle(run.id, run_id=run.run_id).fetch_history()
        told += [run.raw_info.SerializeToString(), *(event.SerializeToString() for event in history.events)]
    return b"".join(told)
