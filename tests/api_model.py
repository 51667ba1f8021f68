"""The API in memory: Drafts, Reviews, approvals, selections and versions, as the contract has them.

Nothing of the product's rules is imported. Memories go by the ids that requests name: `prv_…` until they are published.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.api_held import LIVE, HeldDraft, HeldReview, Proposal, final, present
from tests.publication_model import Doc, Model, State, Step, World, apply, fold
from tests.publication_verdicts import Confirmed, Verdict, judge


@dataclass(kw_only=True)
class ApiModel:
    """One organization; `commits` has the id of each of its versions, the first of which is empty."""

    required_approvals: int
    model: Model = field(default_factory=Model)
    commits: list[str | None] = field(default_factory=lambda: [None])
    drafts: dict[str, HeldDraft] = field(default_factory=dict)
    reviews: dict[str, HeldReview] = field(default_factory=dict)
    selected: dict[str, set[str]] = field(default_factory=dict)

    # Drafts

    def elsewhere(self, draft: HeldDraft) -> World:
        """What other Drafts of the same author and project create, while they are open or in the same Review."""
        others = [other for other in self.of(draft.author, draft.project) if other is not draft]
        return {
            memory: state
            for other in others
            if other.status == "open" or (other.review is not None and other.review == draft.review)
            for memory, state in fold(self.model, other.steps, {}).states.items()
            if memory in other.creates and state is not None
        }

    def of(self, author: str, project: str) -> list[HeldDraft]:
        """The live Drafts of somebody in a project, in the order in which they were made."""
        drafts = self.drafts.values()
        return [each for each in drafts if (each.author, each.project) == (author, project) and each.status in LIVE]

    def start(self, draft: HeldDraft) -> World:
        """What the operations of a Draft start from."""
        return present({**self.model.versions[draft.base], **self.elsewhere(draft), **draft.overlay})

    def states(self, draft: HeldDraft) -> dict[str, State]:
        """What a Draft says of what it names."""
        return fold(self.model, draft.steps, self.start(draft)).states

    def is_stranded(self, draft: HeldDraft) -> bool:
        """Whether it stands on what an earlier Draft made, which is neither before it now nor published."""
        members = self.reviews[draft.review].members if draft.status == "submitted" and draft.review else [draft]
        made = {step.memory for earlier in members[: members.index(draft)] for step in earlier.steps}
        current = self.model.current
        return any(current.get(memory) != state for memory, state in draft.overlay.items() if memory not in made)

    def view(self, draft: HeldDraft) -> World:
        """What is there for the author of a Draft."""
        return present({**self.start(draft), **self.states(draft)})

    def accept(self, draft: HeldDraft, steps: Sequence[Step]) -> tuple[str | None, list[Step]]:
        """What an append answers, and the steps that it stores: restores whole."""
        start, view = self.start(draft), self.view(draft)
        whole: list[Step] = []
        for step in steps:
            last = self._last(draft, [*draft.steps, *whole], step.memory)
            if step.action == "restore" and step.memory in view:
                return "operation_invalid", whole
            if step.action == "restore" and last is None:
                return "target_missing", whole
            if step.action not in ("create", "restore") and step.memory not in view:
                return "target_missing", whole
            whole.append(_whole(step, last) if step.action == "restore" and last is not None else step)
            apply(view, whole[-1])
        brought_back: set[str] = set(draft.restores)
        for step in whole:
            brought_back |= {step.memory} if step.action == "restore" else set()
            is_asked = step.memory in start and not step.memory.startswith("prv_") and step.memory not in brought_back
            if is_asked and step.memory in self.model.current.keys() - self.selected[draft.project]:
                return "memory_not_selected", whole
        return None, whole

    def _last(self, draft: HeldDraft, steps: Sequence[Step], memory: str) -> Doc | None:
        """A Memory as it was when it was deleted: by the Draft, or else in what was published by its base."""
        published = [world[memory] for world in self.model.versions[: draft.base + 1] if memory in world]
        world, last = self.start(draft), published[-1] if published else None
        for step in steps:
            if published and (step.action, step.memory) == ("delete", memory):
                last = world.get(memory) or last
            apply(world, step)
        return last

    def effective(self, author: str, project: str) -> World:
        """What somebody reads in a project: its projection, under the own Drafts in their order."""
        laid: dict[str, State] = {}
        for draft in self.of(author, project):
            made = {step.memory: laid.get(step.memory) for step in draft.steps if step.memory.startswith("prv_")}
            base = present({**self.model.versions[draft.base], **draft.overlay, **present(made)})
            states = fold(self.model, draft.steps, base).states
            laid |= {memory: state for memory, state in states.items() if state != base.get(memory)}
        return present({**self.installed(project), **laid})

    def installed(self, project: str) -> World:
        """A project's projection: what it selects, as it is now."""
        return {memory: doc for memory, doc in self.model.current.items() if memory in self.selected[project]}

    # Proposals

    def propose(self, drafts: Sequence[HeldDraft], confirmed: Confirmed | None = None) -> Proposal:
        """Drafts as a Review of them would come out; a candidate holds only while what it was made from stays."""
        plain, holding = self._judge(drafts), dict(confirmed or {})
        outrun: list[int] = []
        while True:
            verdict = self._judge(drafts, holding)
            late = [number for number in sorted(holding) if verdict.before[number] != plain.before[number]]
            if not late:
                return Proposal(drafts=[*drafts], verdict=verdict, confirmed=holding, outrun=outrun)
            outrun.append(late[0])
            del holding[late[0]]

    def propose_alone(
        self, draft: HeldDraft, before: Sequence[HeldDraft] = (), confirmed: Confirmed | None = None
    ) -> Proposal:
        """An open Draft as it stands by itself, perhaps after some others."""
        drafts = [*before, draft]
        elsewhere: World = {}
        for each in drafts:
            named = {step.memory for step in each.steps} - each.creates
            elsewhere |= {memory: state for memory, state in self.elsewhere(each).items() if memory in named}
        verdict = self._judge(drafts, confirmed, elsewhere)
        return Proposal(drafts=drafts, verdict=verdict, confirmed=confirmed or {})

    def proposal_of(self, draft: HeldDraft, confirmed: Mapping[str, State] | None = None) -> tuple[Proposal, int]:
        """A live Draft where it stands, in its Review or alone, and its place there."""
        if draft.status == "open":
            return self.propose_alone(draft, confirmed=None if confirmed is None else {0: confirmed}), 0
        members = self.reviews[draft.review or ""].members
        number = members.index(draft)
        return self.propose(members, None if confirmed is None else {number: confirmed}), number

    def _judge(
        self, drafts: Sequence[HeldDraft], confirmed: Confirmed | None = None, elsewhere: World | None = None
    ) -> Verdict:
        selected = self.selected[drafts[0].project]
        return judge(self.model, drafts, confirmed=confirmed, selected=selected, elsewhere=elsewhere)

    def result_hash(self, project: str, verdict: Verdict) -> str:
        """SHA-256 over the final states of what is touched (docs/reference/hashes.md)."""
        rows = [_row(memory, state, project, verdict) for memory, state in verdict.states.items()]
        canonical = json.dumps(sorted(rows, key=lambda row: str(row[0])), separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    # Reviews

    def submission_code(self, proposal: Proposal, review: HeldReview | None) -> str | None:
        """What a submission of Drafts answers."""
        if review is not None and review.status not in ("open", "approved", "rejected"):
            return "review_closed"
        if any(draft.status not in LIVE for draft in proposal.drafts):
            return "draft_closed"
        held = None if review is None else review.review_id
        if any(draft.status == "submitted" and draft.review != held for draft in proposal.drafts):
            return "draft_submitted"
        if proposal.outrun:
            proposal.verdict.codes.add("reconciliation_required")
        return proposal.verdict.first(submitting=True)

    def rebase(self, proposal: Proposal) -> None:
        """Confirmed Drafts stand on Current and on what the Drafts before them come to; their steps are to be read."""
        for number in proposal.confirmed:
            draft, before = proposal.drafts[number], proposal.verdict.before[number]
            made = {memory for results in proposal.verdict.results[:number] for memory in results}
            draft.overlay = {memory: state for memory, state in before.items() if memory in made}
            draft.base, draft.version = self.model.version, draft.version + 1

    def a_review(self, review_id: str, proposal: Proposal) -> HeldReview:
        """The Review that Drafts are submitted as."""
        first = proposal.drafts[0]
        return HeldReview(
            review_id=review_id,
            author=first.author,
            project=first.project,
            members=[],
            result_hash=self.result_hash(first.project, proposal.verdict),
        )

    def submit(self, proposal: Proposal, review: HeldReview) -> None:
        """Make Drafts the Review's, at the version after theirs; those left out reopen."""
        self.rebase(proposal)
        for draft in self.drafts.values():
            if draft.review == review.review_id and draft.status == "submitted" and draft not in proposal.drafts:
                draft.becomes("open")
        for draft in proposal.drafts:
            draft.base = self.model.version
            if draft.status == "open":
                draft.becomes("submitted", review.review_id)
        review.members = proposal.drafts
        self.reviews[review.review_id] = review

    def resubmit(self, proposal: Proposal, review: HeldReview) -> None:
        """A next submission of a Review: an equal result keeps the approvals."""
        new_hash = self.result_hash(review.project, proposal.verdict)
        if new_hash != review.result_hash:
            review.approvals.clear()
        keeps = review.status == "approved" and new_hash == review.result_hash
        review.status, review.result_hash = "approved" if keeps else "open", new_hash
        review.submission, review.version = review.submission + 1, review.version + 1

    def take_out(self, draft: HeldDraft, review: HeldReview) -> None:
        """What is left of a Review is its next submission; without its last Draft it is withdrawn."""
        review.members = [member for member in review.members if member is not draft]
        if review.members:
            self.resubmit(self.propose(review.members), review)
        else:
            review.members = [draft]
            self.close(review, "withdrawn")

    def close(self, review: HeldReview, status: str) -> None:
        """Reject or withdraw: the Drafts that are in it reopen."""
        review.approvals.clear()
        for draft in review.members:
            if draft.status == "submitted":
                draft.becomes("open")
        review.status, review.version = status, review.version + 1

    def approve(self, review: HeldReview, actor: str) -> None:
        if actor not in review.approvals:
            review.approvals.append(actor)
            reached = len(review.approvals) >= max(1, self.required_approvals)
            review.status, review.version = "approved" if reached else review.status, review.version + 1

    def merge_code(self, proposal: Proposal, review: HeldReview, actor: str | None) -> str | None:
        """What a merge answers; without an actor, what it would answer to one whose approval is none yet."""
        if code := proposal.verdict.first(submitting=False):
            return code
        if self.result_hash(review.project, proposal.verdict) != review.result_hash:
            return "approval_invalidated"
        given = len({*review.approvals, *([] if actor is None else [actor])})
        return "approvals_missing" if max(given, 1) < self.required_approvals else None

    def merge(self, proposal: Proposal, review: HeldReview, actor: str) -> bool:
        """Publish, select what was made, deselect what went; whether anything was published."""
        verdict, before = proposal.verdict, self.model.current
        world = {final(memory): doc for memory, doc in verdict.world.items()}
        self.model.publish(world)
        self.selected[review.project] |= {final(memory) for memory in verdict.made} & world.keys()
        for project in self.selected:
            self.selected[project] -= before.keys() - world.keys()
        for draft in review.members:
            draft.becomes("merged", review.review_id)
        review.approvals += [actor] if actor not in review.approvals else []
        review.status, review.version = "merged", review.version + 1
        return world != before


def _whole(step: Step, last: Doc) -> Step:
    given = {"path": step.path, "description": step.description, "body": step.body}
    was = {name: getattr(last, name) for name in given}
    return replace(step, **was | {name: value for name, value in given.items() if value is not None})


def _row(memory: str, state: State, project: str, verdict: Verdict) -> list[str | bool | None]:
    if state is None:
        return [final(memory), False, None, None, None, None]
    content_hash = "sha256:" + hashlib.sha256(state.body.encode()).hexdigest()
    made = project if memory in verdict.made else None
    return [final(memory), True, state.path, state.description, content_hash, made]
