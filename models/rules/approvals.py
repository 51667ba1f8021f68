"""Approvals: which of them count for what would be published now, and whether they suffice (publication.md §4)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from models.errors import ApprovalsMissing, Forbidden, JsonValue, SelfApproval
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

    def entitles(self, user_id: UserId) -> bool:
        """Whether the user is owner, admin or path owner of the Review now."""
        return user_id in self.administrators or any(user_id in entry.users for entry in self.touched)

    def admits(self, user_id: UserId) -> bool:
        """Whether the user's approval counts now: an entitled one, and not of own work if the policy says so."""
        return self.entitles(user_id) and (self.policy.allow_self_approval or user_id != self.author_id)

    def counted(self, approvals: Iterable[Approval], *, result_hash: str) -> tuple[UserId, ...]:
        """The distinct actors whose approval is of this result and counts now, in the order given."""
        actors = (approval.actor_id for approval in approvals if approval.result_hash == result_hash)
        return tuple(dict.fromkeys(actor_id for actor_id in actors if self.admits(actor_id)))

    def suffices(self, counted: Collection[UserId]) -> bool:
        """Whether so many make a Review `approved`: the policy's number, at least one."""
        return len(counted) >= max(1, self.policy.required_approvals)


def require_approver(electorate: Electorate, actor_id: UserId) -> None:
    """Refuse who may not approve.

    Raises:
        Forbidden: neither owner, admin nor owner of a path that the Review touches.
        SelfApproval: the author, and the policy asks for somebody else.
    """
    if not electorate.entitles(actor_id):
        raise Forbidden("Only owners, admins and owners of touched paths approve.")
    if not electorate.admits(actor_id):
        raise SelfApproval("The policy asks for somebody else's approval.")


def require_merger(electorate: Electorate, actor_id: UserId, counted: Collection[UserId]) -> None:
    """Refuse an author who merges what nobody else approves.

    Raises:
        SelfApproval: the policy asks for somebody else.
    """
    if not counted and actor_id == electorate.author_id and not electorate.policy.allow_self_approval:
        raise SelfApproval("The policy asks for somebody else's approval.")


def approvals_missing(
    electorate: Electorate, counted: Collection[UserId], *, unattended: bool = False
) -> ApprovalsMissing | None:
    """What approvals a merge lacks: `required` and `given`, and the `globs` that none of their users approved.

    Args:
        electorate: who may approve the Review.
        counted: whose approvals count.
        unattended: whether the clock merges, which needs an approved Review; whoever merges is one approval otherwise.
    """
    least = 1 if unattended else 0
    required, given = max(least, electorate.policy.required_approvals), len(counted)
    globs = uncovered(electorate.touched, counted)
    if max(given, 1 - least) >= required and not globs:
        return None
    context: dict[str, JsonValue] = {"required": required, "given": given}
    if globs:
        context["globs"] = [*globs]
    return ApprovalsMissing("More people have to approve.", **context)
