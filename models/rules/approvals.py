"""Approvals: which of them count for what would be published now, and whether they suffice (publication.md §4)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from models.errors import ApprovalsMissing, JsonValue, SelfApproval
from models.identifiers import UserId
from models.rules.path_owners import PathOwners, uncovered


@dataclass(frozen=True, slots=True)
class Approval:
    """One actor's approval of one result."""

    actor_id: UserId
    result_hash: str


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """What an organization asks for before it publishes."""

    required_approvals: int = 0
    allow_self_approval: bool = True
    path_owners: tuple[PathOwners, ...] = ()


@dataclass(frozen=True, slots=True)
class Electorate:
    """Who may approve one Review now.

    Args:
        policy: the organization's.
        author_id: whose work it is.
        administrators: the organization's owners and admins.
        touched: the entries of the policy whose globs the Review touches, with those users who are still there.
    """

    policy: ApprovalPolicy
    author_id: UserId
    administrators: Collection[UserId]
    touched: Sequence[PathOwners] = ()

    def admits(self, user_id: UserId) -> bool:
        """Whether the user's approval counts: owner, admin or path owner now, and not of own work if the policy says so."""
        if user_id == self.author_id and not self.policy.allow_self_approval:
            return False
        return user_id in self.administrators or any(user_id in entry.users for entry in self.touched)

    def counted(self, approvals: Iterable[Approval], *, result_hash: str) -> tuple[UserId, ...]:
        """The distinct actors whose approval is of this result and counts now, in the order given."""
        actors = (approval.actor_id for approval in approvals if approval.result_hash == result_hash)
        return tuple(dict.fromkeys(actor_id for actor_id in actors if self.admits(actor_id)))

    def suffices(self, counted: Collection[UserId]) -> bool:
        """Whether so many make a Review `approved`: the policy's number, at least one."""
        return len(counted) >= max(1, self.policy.required_approvals)


def self_approval(electorate: Electorate, actor_id: UserId, counted: Collection[UserId] = ()) -> SelfApproval | None:
    """Why the author may not approve the Review, or not merge it while nobody else (`counted`) approves it."""
    if electorate.policy.allow_self_approval or actor_id != electorate.author_id or counted:
        return None
    return SelfApproval("The policy asks for somebody else's approval.")


def approvals_missing(
    electorate: Electorate, counted: Collection[UserId], *, at_least: int = 0
) -> ApprovalsMissing | None:
    """What approvals a merge lacks: `required` and `given`, and the `globs` that none of their users approved.

    Args:
        electorate: who may approve the Review.
        counted: whose approvals count.
        at_least: how many more there are certain to be, of whoever merges.
    """
    required, globs = electorate.policy.required_approvals, uncovered(electorate.touched, counted)
    if max(len(counted), at_least) >= required and not globs:
        return None
    context: dict[str, JsonValue] = {"required": required, "given": len(counted)}
    if globs:
        context["globs"] = [*globs]
    return ApprovalsMissing("More people have to approve.", **context)
