"""Every row of one organization, for checks that look at the database and at nothing else."""

from collections.abc import Mapping
from functools import cached_property

from sqlalchemy import Connection, RowMapping, text

from models.identifiers import OrganizationId

Row = RowMapping

TABLES: Mapping[str, str] = {
    "organizations": "org_id",
    "organization_refs": "org_id",
    "users": "user_id",
    "projects": "project_id",
    "project_members": "project_id, user_id",
    "project_refs": "project_id",
    "commits": "coalesce(project_id, ''), version",
    "blobs": "blob_id",
    "memories": "memory_id",
    "memory_versions": "memory_id, from_version",
    "projection_versions": "project_id, memory_id, from_version",
    "tree_buckets": "owner_id, bucket",
    "org_selections": "project_id, memory_id",
    "drafts": "draft_id",
    "draft_operations": "draft_id, index",
    "reviews": "review_id",
    "review_submissions": "review_id, number",
    "review_submission_drafts": "review_id, number, position",
    "review_submission_states": "review_id, number, memory_id",
    "review_approvals": "approval_id",
    "review_timeline": "review_id, position",
    "operations": "operation_id",
    "audit_events": "event_id",
    "events": "id",
}
"""Tables that belong to organizations, with the order to read them in."""


class OrganizationRows:
    """The rows by table, and the few ways in which checks walk through them."""

    def __init__(self, rows: Mapping[str, list[Row]]) -> None:
        self._rows = rows

    def __getitem__(self, table: str) -> list[Row]:
        return self._rows[table]

    def refs(self) -> dict[str, Row]:
        """The refs by owner; the organization's own is `""`."""
        return {"": self["organization_refs"][0]} | {row["project_id"]: row for row in self["project_refs"]}

    def chain(self, owner: str) -> list[Row]:
        """An owner's commits by version."""
        return self._chains.get(owner, [])

    def entries(self, owner: str) -> list[Row]:
        """An owner's interval rows."""
        if owner == "":
            return self["memory_versions"]
        return [row for row in self["projection_versions"] if row["project_id"] == owner]

    def versions_of(self, memory_id: str) -> list[Row]:
        """A Memory's interval rows, in order."""
        return self._versions.get(memory_id, [])

    def version_at(self, memory_id: str, version: int) -> Row | None:
        """What a Memory said at a version of the organization; None where it was not active."""
        for row in self.versions_of(memory_id):
            if row["from_version"] <= version and (row["to_version"] is None or row["to_version"] > version):
                return row
        return None

    def review(self, review_id: str) -> Row:
        return self._reviews[review_id]

    def members(self, review_id: str, number: int) -> list[Row]:
        """The Drafts of a submission, in order."""
        return self._members.get((review_id, number), [])

    def latest_members(self, review_id: str) -> list[Row]:
        return self.members(review_id, self.review(review_id)["submission"])

    def submission_states(self, review_id: str, number: int) -> list[Row]:
        """What a submission fixed of every touched Memory."""
        return self._states.get((review_id, number), [])

    @cached_property
    def _chains(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self["commits"]:
            found.setdefault(row["project_id"] or "", []).append(row)
        return found

    @cached_property
    def _versions(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self["memory_versions"]:
            found.setdefault(row["memory_id"], []).append(row)
        return found

    @cached_property
    def _reviews(self) -> dict[str, Row]:
        return {row["review_id"]: row for row in self["reviews"]}

    @cached_property
    def _members(self) -> dict[tuple[str, int], list[Row]]:
        return _by_submission(self["review_submission_drafts"])

    @cached_property
    def _states(self) -> dict[tuple[str, int], list[Row]]:
        return _by_submission(self["review_submission_states"])


def _by_submission(rows: list[Row]) -> dict[tuple[str, int], list[Row]]:
    found: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row["review_id"], row["number"]), []).append(row)
    return found


def read_rows(connection: Connection, org_id: OrganizationId) -> OrganizationRows:
    """Every row of an organization."""
    return OrganizationRows(
        {
            table: list(
                connection.execute(
                    text(f"select * from {table} where org_id = :org_id order by {order}"),  # noqa: S608
                    {"org_id": org_id},
                ).mappings()
            )
            for table, order in TABLES.items()
        }
    )
