"""Reads of everything that the model tells of an organization."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.api_held import LIVE, UNDECIDED, HeldDraft, HeldReview, present
from tests.api_model import ApiModel
from tests.api_sides import doc_of, same, state_of, world_of
from tests.client import Client, Json, Organization, items, ok
from tests.hash_reference import verify
from tests.proposals import all_items, inside, listed, texts
from tests.publication_model import Model

LONGEST_PASS_S = 60
PAGE = 100


@dataclass
class Comparing:
    """One organization, its people and projects, and what the model says of it; authors are in all projects."""

    organization: Organization
    people: Mapping[str, Client]
    authors: list[str]
    admins: list[str]
    projects: list[str]
    model: ApiModel

    def compare(self) -> None:
        """Drafts and Reviews, as lists show them."""
        self.take_moved_bases()
        version = self.model.model.version
        for draft in self.model.drafts.values():
            draft.kept = draft.status in LIVE and self._keeps_result(draft, version)
            if draft.compared != draft.version:
                draft.compared, draft.changed_at = draft.version, version
        for project in self.projects:
            for body in items(self.organization.owner.get("/reviews", project_id=project, limit=PAGE)):
                self._compare_review(body)

    def _compare_review(self, body: Json) -> None:
        review = self.model.reviews[str(body["review_id"])]
        shown = [body[name] for name in ("status", "version", "result_hash")]
        same(shown, [review.status, review.version, review.result_hash], review)
        same(
            [(each["draft_id"], each["status"]) for each in listed(body, "drafts")],
            [(each.draft_id, each.status) for each in review.members],
            review,
        )
        same(sorted(str(each["actor_id"]) for each in listed(body, "approvals")), sorted(review.approvals), review)

    def take_moved_bases(self) -> None:
        """Compare Drafts; a base that moved by itself did so where the result stays equal."""
        for draft, body in self._drafts():
            same(
                (body["status"], body["version"], body["review_id"]), (draft.status, draft.version, draft.review), draft
            )
            base = self.model.commits.index(None if body["base_commit_id"] is None else str(body["base_commit_id"]))
            if draft.status in LIVE and base != draft.base:
                assert base > draft.base, draft
                assert draft.kept or self._keeps_result(draft, base), draft
                draft.base = base

    def _drafts(self) -> list[tuple[HeldDraft, Json]]:
        return [
            (self.model.drafts[str(body["draft_id"])], body)
            for author in self.authors
            for body in items(self.people[author].get("/drafts", limit=PAGE))
        ]

    def _keeps_result(self, draft: HeldDraft, base: int) -> bool:
        """Whether the pass after the publication of a version brings a Draft up to date."""
        then = replace(self.model, model=Model(self.model.model.versions[: base + 1]))
        proposal, number = then.proposal_of(draft)
        return number not in proposal.verdict.asking | proposal.verdict.broken

    def compare_published(self, commit_id: str) -> None:
        """Memories, active and archived, and the commit, whose hashes are as documented."""
        owner, current = self.organization.owner, self.model.model.current
        document = ok(owner.get(f"/commits/{commit_id}"))
        verify(document)
        same(world_of(document), current)
        same(inside(document, "commit")["version"], self.model.model.version)
        active = all_items(owner, "/org/memories", limit=PAGE)
        same(
            {str(each["memory_id"]): (each["path"], each["description"], each["status"]) for each in active},
            {memory: (doc.path, doc.description, "active") for memory, doc in current.items()},
        )
        archived = items(owner.get("/org/memories", status="archived", limit=PAGE))
        gone = {memory for world in self.model.model.versions for memory in world} - current.keys()
        same({str(each["memory_id"]) for each in archived}, gone)

    def compare_projects(self) -> None:
        """What every project selects and has installed, and what its authors read there."""
        for project in self.projects:
            selected = self.model.selected[project]
            owner = self.organization.owner
            same({*texts(ok(owner.get(f"/projects/{project}/org-selections")), "resource_ids")}, selected)
            ref = inside(ok(owner.get(f"/projects/{project}/commit-state")), "ref")
            if ref["commit_id"] is not None:
                document = ok(owner.get(f"/commits/{ref['commit_id']}"))
                verify(document)
                same(world_of(document), self.model.installed(project))
                same({*texts(inside(document, "project_org_selection"), "resource_ids")}, selected)
            for author in self.authors:
                self._compare_effective(author, project)

    def _compare_effective(self, author: str, project: str) -> None:
        path = f"/projects/{project}/effective-memories"
        shown = items(self.people[author].get(path, content="true", limit=PAGE))
        read = {str(each["memory_id"]): doc_of(each) for each in shown}
        if read != self.model.effective(author, project):
            self.take_moved_bases()
        same(read, self.model.effective(author, project), (shown, self.model.of(author, project)))

    def compare_details(self) -> None:
        """Results of live Drafts, and whether Reviews can be merged."""
        for draft in self.model.drafts.values():
            if draft.status in LIVE:
                self._compare_result(draft)
        for review in self.model.reviews.values():
            self._compare_mergeability(review)

    def _compare_result(self, draft: HeldDraft) -> None:
        result = ok(self.people[draft.author].get(f"/drafts/{draft.draft_id}/result"))
        shown = {str(each["memory_id"]): state_of(each["result"]) for each in listed(result, "memories")}
        if present(shown) != present(self.model.states(draft)):
            self.take_moved_bases()
        same(present(shown), present(self.model.states(draft)), draft)

    def _compare_mergeability(self, review: HeldReview) -> None:
        now = ok(self.organization.owner.get(f"/reviews/{review.review_id}/mergeability"))
        if review.status not in UNDECIDED:
            same(now["state"], "closed", review)
            return
        code = self.model.merge_code(self.model.propose(review.members), review, None)
        if (code is None) != (now["state"] == "mergeable"):
            self.take_moved_bases()
            code = self.model.merge_code(self.model.propose(review.members), review, None)
        same(now["state"], "mergeable" if code is None else "blocked", (code, now, review))
        assert code is None or code in {blocker["code"] for blocker in listed(now, "blockers")}, (code, now)

    def settle(self) -> None:
        """Wait until every Draft that a publication left behind is brought up to date or has a candidate."""
        deadline = time.monotonic() + LONGEST_PASS_S
        while waiting := [draft for draft, body in self._drafts() if self._is_to_be_settled(draft, body)]:
            assert time.monotonic() < deadline, waiting
            time.sleep(0.1)
        self.take_moved_bases()

    def _is_to_be_settled(self, draft: HeldDraft, body: Json) -> bool:
        """One that has changed since, or that builds on another Draft, waits for the next publication."""
        if draft.status not in LIVE or inside(body, "coordination")["reconciliation"] != "unknown":
            return False
        proposal, number = self.model.proposal_of(draft)
        builds_on_others = any(
            step.memory.startswith("prv_") for step in draft.steps if step.memory not in draft.creates
        )
        is_judged = number not in proposal.verdict.broken and not builds_on_others
        return is_judged and draft.changed_at < self.model.model.version
