"""Requests about Drafts, and the model beside them: every answer is the one that the model gives.

A publication's pass over Drafts that fell behind comes when it comes: bases that moved meanwhile are taken over, and
what was foretold before that is foretold anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import httpx

from tests.api_comparing import Comparing
from tests.api_held import LIVE, HeldDraft, Proposal
from tests.api_sides import chosen, in_nfc, same, sent, state_of, steps_of
from tests.client import Client, Json, ok
from tests.proposals import WAIT, listed
from tests.publication_model import Step

T = TypeVar("T")


@dataclass
class Outcome(Generic[T]):
    """How a request ended, as the model foretold it: its answer, or else its refusal, and what else was told."""

    answer: Json | None
    refusal: Json | None
    told: T


class DraftPlay(Comparing):
    """What authors do with Drafts."""

    def open_draft(self, author: str, project: str, behind: int, steps: Sequence[Step]) -> HeldDraft | None:
        """Open a Draft on Current, or on a version that is older by so many."""
        draft = self.blank(author, project, behind)
        body: Json = {"project_id": project, "operations": [*map(sent, steps)]}
        if draft.base < self.model.model.version:
            body["base_commit_id"] = self.model.commits[draft.base]
        outcome = self.expect(
            lambda: self.model.accept(draft, steps), lambda: self.people[author].post("/drafts", body), 201
        )
        if outcome.answer is None:
            return None
        self._take_draft(draft, outcome.answer)
        self._compare_steps(draft, outcome.told)
        return draft

    def blank(self, author: str, project: str, behind: int) -> HeldDraft:
        """A Draft that nobody has made yet; nothing names the empty organization as a base once there is a commit."""
        version = self.model.model.version
        base = max(min(1, version), version - behind)
        return HeldDraft(draft_id="", author=author, project=project, base=base)

    def append(self, draft: HeldDraft, steps: Sequence[Step]) -> None:
        path, before = f"/drafts/{draft.draft_id}/operations", draft.steps

        def foretell() -> tuple[str | None, list[Step]]:
            if draft.status != "open":
                return "draft_submitted" if draft.status == "submitted" else "draft_closed", []
            return self.model.accept(draft, steps)

        body: Json = {"operations": [*map(sent, steps)]}
        headers = {"If-Match": f'"{draft.version}"'}
        outcome = self.expect(foretell, lambda: self.people[draft.author].post(path, body, headers=headers))
        if outcome.answer is not None:
            draft.version, draft.steps = draft.version + 1, steps_of(outcome.answer)
            self._compare_steps(draft, [*before, *outcome.told])

    def discard(self, draft: HeldDraft, actor: str) -> None:
        """Discard; a submitted one leaves its Review, which goes on without it or ends."""
        path = f"/drafts/{draft.draft_id}"
        outcome = self.expect(
            lambda: (None if draft.status in LIVE else "draft_closed", None),
            lambda: self.people[actor].delete(path, version=draft.version),
        )
        if outcome.answer is not None:
            review = self.model.reviews.get(draft.review or "") if draft.status == "submitted" else None
            draft.becomes("discarded")
            if review is not None:
                self.model.take_out(draft, review)

    def revert(self, author: str, project: str, version: int) -> None:
        """Take back what a version did; what was published since has to be reconciled like any change."""
        draft = replace(self.blank(author, project, 0), base=version)
        before, after = self.model.model.versions[version - 1 : version + 1]
        changed = {memory for memory in before.keys() | after.keys() if before.get(memory) != after.get(memory)}
        lacking = changed & after.keys() & self.model.model.current.keys() - self.model.selected[project]
        body: Json = {"commit_id": self.model.commits[version], "project_id": project}
        told = "memory_not_selected" if lacking else None
        client = self.people[author]
        self.tried(lambda: (told, None), client, "/org/reverts", body)
        outcome = self.expect(lambda: (told, None), lambda: client.post("/org/reverts", body), 201)
        if outcome.answer is not None:
            self._take_draft(draft, outcome.answer)
            same(self.model.states(draft), {memory: before.get(memory) for memory in changed})

    def rebase(self, draft: HeldDraft, choice: int) -> None:
        """Make a Draft's candidate, and apply it, with what it offers where it has conflicts."""
        path, body = f"/drafts/{draft.draft_id}", {"expected_draft_version": draft.version}
        client = self.people[draft.author]
        asked = self.expect(
            lambda: self._foretell_candidate(draft),
            lambda: client.post(f"{path}/reconciliation-candidates", body, headers=WAIT),
        )
        if asked.answer is None or asked.told is None:
            return
        self._compare_candidate(asked.answer, *asked.told)
        made_for, (states, resolved) = draft.base, chosen(asked.answer, choice)
        confirming: Json = {**body, "candidate_id": asked.answer["candidate_id"]}
        confirming |= {"resolved_state": [*states]} if states else {}

        def foretell() -> tuple[str | None, tuple[Proposal, int]]:
            proposal, number = self.model.proposal_of(draft, resolved)
            if draft.base != made_for:
                return "candidate_stale", (proposal, number)
            crowded = draft.status == "submitted" and number in proposal.verdict.crowded
            return "path_collision" if crowded else None, (proposal, number)

        outcome = self.expect(foretell, lambda: client.post(f"{path}/rebases", confirming, headers=WAIT))
        if outcome.answer is not None:
            proposal, number = outcome.told
            self.model.rebase(proposal)
            self.take_rebased(draft, outcome.answer, proposal, number)
            if draft.status == "submitted":
                review = self.model.reviews[draft.review or ""]
                self.model.resubmit(self.model.propose(review.members), review)

    def _foretell_candidate(self, draft: HeldDraft) -> tuple[str | None, tuple[Proposal, int] | None]:
        if draft.status not in LIVE:
            return "draft_closed", None
        proposal, number = self.model.proposal_of(draft)
        behind = draft.base != self.model.model.version or self.model.is_stranded(draft)
        is_current = not behind and number not in proposal.verdict.asking
        return "draft_already_current" if is_current else None, (proposal, number)

    def _compare_candidate(self, candidate: Json, proposal: Proposal, number: int) -> None:
        verdict = proposal.verdict
        shown = {str(each["memory_id"]): each for each in listed(candidate, "memories")}
        for name, told in (("draft", verdict.drafts), ("current", verdict.before)):
            same({memory: state_of(each[name]) for memory, each in shown.items()}, told[number], name)
        agreed = verdict.results[number].keys() - verdict.contested[number]
        same(
            {memory: state_of(shown[memory]["proposed"]) for memory in agreed},
            {memory: verdict.results[number][memory] for memory in agreed},
        )
        contested = {str(each["memory_id"]) for each in listed(candidate, "conflicts")}
        assert verdict.contested[number] <= contested, candidate
        same(candidate["reconciliation"], "conflicts" if contested else "clean")

    def take_rebased(self, draft: HeldDraft, body: Json, proposal: Proposal, number: int) -> None:
        """The operations are told anew: they come to what was confirmed, and name what they named."""
        draft.steps = steps_of(body)
        results, states = proposal.verdict.results[number], self.model.states(draft)
        kept = {memory: state for memory, state in results.items() if state or not memory.startswith("prv_")}
        same({memory: states.get(memory) for memory in kept}, kept, draft)
        assert kept.keys() <= states.keys() <= results.keys(), draft

    def _take_draft(self, draft: HeldDraft, body: Json) -> None:
        draft.draft_id, draft.steps = str(body["draft_id"]), steps_of(body)
        self.model.drafts[draft.draft_id] = draft

    def _compare_steps(self, draft: HeldDraft, told: Sequence[Step]) -> None:
        """The operations are those that were sent, with the ids of what they create."""
        named = [
            replace(one, memory=step.memory) if one.action == "create" else one
            for one, step in zip(told, draft.steps, strict=True)
        ]
        same(draft.steps, [in_nfc(step) for step in named])

    def tried(self, foretell: Callable[[], tuple[str | None, T]], client: Client, path: str, body: Json) -> Json | None:
        """Try a request first: what it says is foretold alike, and nothing comes of it."""
        answer = self.expect(foretell, lambda: client.post(f"{path}?dry_run=true", body)).answer
        assert answer is None or answer["dry_run"] is True, answer
        return answer

    def expect(
        self, foretell: Callable[[], tuple[str | None, T]], call: Callable[[], httpx.Response], status: int = 200
    ) -> Outcome[T]:
        """Send a request, which has to answer or to be refused as the model says."""
        code, told = foretell()
        response = call()
        actual = str(response.json()["code"]) if response.is_error else None
        if actual != code:
            self.take_moved_bases()
            code, told = foretell()
        same(actual, code, response.text)
        if actual is None:
            return Outcome(ok(response, status), None, told)
        refusal: Json = response.json()
        return Outcome(None, refusal, told)
