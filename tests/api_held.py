"""Drafts and Reviews as the API shows them, in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.publication_model import ModelDraft, State, World
from tests.publication_verdicts import Confirmed, Verdict

LIVE = ("open", "submitted")
UNDECIDED = ("open", "approved")


@dataclass(kw_only=True)
class HeldDraft(ModelDraft):
    """A Draft as the API shows it.

    `kept` is whether it kept its result when it was last compared; `compared` is its version then, and `changed_at` the
    organization's version when it was first compared as it is.
    """

    draft_id: str
    author: str
    project: str
    version: int = 1
    status: str = "open"
    review: str | None = None
    kept: bool = False
    compared: int = 0
    changed_at: int = 0

    def becomes(self, status: str, review: str | None = None) -> None:
        self.status, self.review, self.version = status, review, self.version + 1


@dataclass(kw_only=True)
class HeldReview:
    """A Review as the API shows it; `approvals` names whose stand."""

    review_id: str
    author: str
    project: str
    members: list[HeldDraft]
    result_hash: str
    status: str = "open"
    version: int = 1
    submission: int = 1
    approvals: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Proposal:
    """Drafts that are looked at together, what they come to, and whose candidate something earlier has outrun."""

    drafts: list[HeldDraft]
    verdict: Verdict
    confirmed: Confirmed = field(default_factory=dict)
    outrun: list[int] = field(default_factory=list)


def final(memory: str) -> str:
    """The id that a Memory has once it is published."""
    return memory.replace("prv_", "mem_")


def present(states: Mapping[str, State]) -> World:
    """Those of the Memories that exist."""
    return {memory: state for memory, state in states.items() if state is not None}
