"""Approvals: which of them count for what would be published now (publication.md §4)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from models.identifiers import UserId


@dataclass(frozen=True, slots=True)
class Approval:
    """One actor's approval of one result."""

    actor_id: UserId
    result_hash: str


def counted(approvals: Iterable[Approval], *, result_hash: str, entitled: Collection[UserId]) -> tuple[UserId, ...]:
    """The distinct actors whose approval is of this result and who may approve now, in the order given."""
    actors = (approval.actor_id for approval in approvals if approval.result_hash == result_hash)
    return tuple(dict.fromkeys(actor_id for actor_id in actors if actor_id in entitled))


def needed(required_approvals: int) -> int:
    """How many distinct approvals make a Review `approved`: the policy's number, at least one."""
    return max(1, required_approvals)
