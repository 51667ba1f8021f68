"""What a Review command locks, always in the written order, and what every one of them asks first."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from models.errors import NotFound, Problem, ProjectArchived, ReviewClosed, VersionConflict, first_by_precedence
from models.identifiers import DraftId, ReviewId
from models.store.access import ProjectAccess, require_review
from models.store.locks import (
    DraftRow,
    OrganizationRefRow,
    ProjectRow,
    ReviewRow,
    lock_coordination,
    lock_drafts,
    lock_project,
    lock_review,
)
from models.store.operations import StoredOperation
from models.store.reviews import read_review
from models.store.submissions import Member, latest_members
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Scene:
    """A Review and all that its commands meet, locked; `access` is the actor's role now."""

    ref: OrganizationRefRow
    project: ProjectRow
    access: ProjectAccess
    review: ReviewRow
    members: Sequence[Member]
    drafts: dict[DraftId, DraftRow]

    @property
    def member_drafts(self) -> list[DraftRow]:
        """The Drafts of the latest submission, in the Review's order."""
        return [self.drafts[member.draft_id] for member in self.members]


def named_review(operation: StoredOperation) -> ReviewId:
    """The Review that a Review command was accepted for."""
    if operation.review_id is None:
        raise ValueError("the operation names no Review")
    return operation.review_id


def lock_scene(tx: Transaction, review_id: ReviewId, *, others: Collection[DraftId] = ()) -> Scene:
    """Lock coordination row, project, Review, its Drafts and `others`.

    Raises:
        NotFound: no such Review, or the actor may not know of it.
    """
    ref = lock_coordination(tx.connection, tx.org_id)
    known = read_review(tx.connection, tx.org_id, review_id)
    if known is None:
        raise NotFound("There is no such Review.")
    project = lock_project(tx.connection, tx.org_id, known.project_id)
    access = require_review(tx.connection, tx.actor_id, known)
    review = lock_review(tx.connection, tx.org_id, review_id)
    members = latest_members(tx.connection, review)
    drafts = lock_drafts(tx.connection, tx.org_id, {*others, *(member.draft_id for member in members)})
    return Scene(ref, project, access, review, members, drafts)


def refuse(problems: Sequence[Problem]) -> None:
    """Raise the one of several problems that goes first; do nothing when there is none."""
    problem = first_by_precedence(problems)
    if problem is not None:
        raise problem


def review_problems(scene: Scene, *, expected_version: int, admits: Collection[str]) -> list[Problem]:
    """What a command on a Review may meet before anything else: closed, archived, another version."""
    review = scene.review
    problems: list[Problem] = []
    if review.status not in admits:
        problems.append(
            ReviewClosed(
                f"The Review is {review.status}.", review_status=review.status, commit_id=review.merged_commit_id
            )
        )
    problems.extend(archived(scene.project))
    if review.version != expected_version:
        problems.append(VersionConflict("The Review has changed.", expected=expected_version, actual=review.version))
    return problems


def archived(project: ProjectRow) -> list[Problem]:
    """That the project takes no writes, if so."""
    if project.state == "active":
        return []
    return [ProjectArchived(f"The project is {project.state}.", project_id=project.project_id)]
