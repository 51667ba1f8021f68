"""Reverts on the wire (publication.md §5)."""

from models.schemas.common import Id, Input


class RevertCommit(Input):
    """Which commit of the organization to undo, by a Draft of which project."""

    commit_id: Id
    project_id: Id
