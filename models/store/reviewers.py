"""Whose approval counts, and how many it takes (publication.md §4)."""

from sqlalchemy import Connection, text

from models.identifiers import OrganizationId, UserId


def administrators(connection: Connection, org_id: OrganizationId) -> set[UserId]:
    """The organization's owners and admins now; under the coordination row they cannot change before COMMIT."""
    rows = connection.execute(
        text("select user_id from users where org_id = :org_id and role in ('owner', 'admin')"), {"org_id": org_id}
    )
    return set(rows.scalars())


def required_approvals(connection: Connection, org_id: OrganizationId) -> int:
    """How many approvals the organization's policy asks for."""
    return int(
        connection.execute(
            text("select required_approvals from organizations where org_id = :org_id"), {"org_id": org_id}
        ).scalar_one()
    )
