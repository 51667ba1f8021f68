"""Whose approval counts for a Review, and whose do (publication.md §4).

Under the coordination row neither roles nor policies change before COMMIT.
"""

from dataclasses import replace

from sqlalchemy import Connection, text

from models.identifiers import OrganizationId, UserId
from models.rules.approvals import Approval, ApprovalPolicy, Electorate
from models.store.approvals import approvals_of
from models.store.locks import ReviewRow
from models.store.owned_paths import path_owners_in, touched_entries

POLICY = text("select required_approvals, allow_self_approval, path_owners from organizations where org_id = :org_id")
ADMINISTRATORS = text("select user_id from users where org_id = :org_id and role in ('owner', 'admin')")
PRESENT = text("select user_id from users where org_id = :org_id and user_id = any(:user_ids)")


def electorate_of(connection: Connection, review: ReviewRow) -> Electorate:
    """Who may approve a Review now, and what the organization's policy asks for."""
    org_id = review.org_id
    row = connection.execute(POLICY, {"org_id": org_id}).one()
    policy = ApprovalPolicy(row.required_approvals, row.allow_self_approval, path_owners_in(row.path_owners))
    touched = touched_entries(connection, org_id, review.review_id, policy.path_owners)
    present = _present(connection, org_id, {user_id for entry in touched for user_id in entry.users})
    return Electorate(
        policy=policy,
        author_id=review.author_id,
        administrators=set(connection.execute(ADMINISTRATORS, {"org_id": org_id}).scalars()),
        touched=[replace(entry, users=tuple(filter(present.__contains__, entry.users))) for entry in touched],
    )


def counted_approvers(connection: Connection, review: ReviewRow, electorate: Electorate) -> tuple[UserId, ...]:
    """The people whose approval of the Review's present result counts now, the latest last."""
    standing = approvals_of(connection, review.org_id, [review.review_id]).get(review.review_id, [])
    approvals = [Approval(approval.actor_id, approval.result_hash) for approval in standing]
    return electorate.counted(approvals, result_hash=review.result_hash)


def _present(connection: Connection, org_id: OrganizationId, user_ids: set[UserId]) -> set[UserId]:
    if not user_ids:
        return set()
    return set(connection.execute(PRESENT, {"org_id": org_id, "user_ids": sorted(user_ids)}).scalars())
