"""A lane that is held up from outside."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, text

from tests.client import Organization


@contextmanager
def a_held_lane(engine: Engine, organization: Organization) -> Iterator[Connection]:
    """Commands of the organization are accepted and none is carried out, as if somebody held its coordination row."""
    with engine.begin() as connection:
        connection.execute(
            text("select 1 from organization_refs where org_id = :org_id for no key update"),
            {"org_id": organization.organization_id},
        )
        yield connection
