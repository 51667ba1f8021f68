"""An import whose operation is past retention has ended all the same."""

import pytest
from sqlalchemy import Engine, text

from models.store.retention import OPERATIONS
from tests.client import Client, a_name, items, ok, problem
from tests.imports_over_http import a_file, an_import, carried_out, path_of
from tests.proposals import a_place

pytestmark = pytest.mark.usefixtures("worker")


def forget_operations(engine: Engine, organization_id: str) -> None:
    """Let the organization's operations be past retention, and remove them."""
    with engine.begin() as connection:
        connection.execute(
            text("update operations set updated_at = '2001-01-01' where org_id = :o"), {"o": organization_id}
        )
        connection.execute(OPERATIONS, {"before": "2001-01-02", "limit": 1_000})


def test_an_import_whose_operation_is_gone_is_shown_listed_neither_started_nor_deleted_again(
    api: Client, engine: Engine
) -> None:
    organization, project_id = a_place(api)
    source = a_name("folder")
    made = an_import(organization.owner, project_id, a_file("a.md"), source=source)
    ended = carried_out(organization.owner, made)
    forget_operations(engine, organization.organization_id)
    shown = ok(organization.owner.get(path_of(made)))
    assert (shown["status"], shown["review_id"]) == ("succeeded", ended["review_id"])
    assert [each["import_id"] for each in items(organization.owner.get("/imports", status="succeeded"))] == [
        made["import_id"]
    ]
    for refused in (organization.owner.post(f"{path_of(made)}/start", {}), organization.owner.delete(path_of(made))):
        body = problem(refused, 409, "version_conflict")
        assert (body["expected"], body["actual"]) == ("staging", "succeeded")
    problem(
        organization.owner.post(f"{path_of(made)}/files", {"files": [a_file("b.md")]}), 409, "operation_in_progress"
    )
    problem(organization.owner.get(f"/operations/{ended['operation_id']}"), 404, "not_found")
    another = an_import(organization.owner, project_id, source=source)
    assert another["import_id"] != made["import_id"]
