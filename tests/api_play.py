"""Requests about Reviews and selections, and the model beside them."""

from collections.abc import Sequence

from tests.api_draft_play import DraftPlay, Outcome
from tests.api_held import LIVE, UNDECIDED, HeldDraft, HeldReview, Proposal
from tests.api_model import ApiModel
from tests.api_sides import chosen, same
from tests.client import Client, Json, Person, a_member, a_person, a_project, an_organization, ok
from tests.proposals import WAIT, listed, select
from tests.publication_model import State
from tests.publication_verdicts import Confirmed

UNCONFIRMED: Confirmed = {}


class Play(DraftPlay):
    """What authors and admins do."""

    def submit(self, drafts: Sequence[HeldDraft], choice: int, review: HeldReview | None = None) -> None:
        """Submit Drafts; where candidates have to be confirmed, those of the refusal are, as the choice resolves them.

        Args:
            drafts: of one author and project.
            choice: which of the resolutions of each conflict.
            review: the Review whose next submission it is; None: a new one.
        """
        refused = self._submit(drafts, UNCONFIRMED, [{} for _ in drafts], review)
        if refused.refusal is None or refused.refusal["code"] != "reconciliation_required":
            return
        asking = sorted(refused.told.verdict.asking)
        candidates = listed(refused.refusal, "candidates")
        same([each["draft_id"] for each in candidates], [drafts[number].draft_id for number in asking])
        resolved: dict[int, dict[str, State]] = {}
        confirming: list[Json] = [{} for _ in drafts]
        for number, candidate in zip(asking, candidates, strict=True):
            states, resolved[number] = chosen(candidate, choice)
            confirming[number] = {"candidate_id": candidate["candidate_id"]}
            confirming[number] |= {"resolved_state": [*states]} if states else {}
        self._submit(drafts, resolved, confirming, review)

    def _submit(
        self, drafts: Sequence[HeldDraft], confirmed: Confirmed, confirming: Sequence[Json], review: HeldReview | None
    ) -> Outcome[Proposal]:
        named: list[Json] = [
            {"draft_id": draft.draft_id, "expected_draft_version": draft.version, **members}
            for draft, members in zip(drafts, confirming, strict=True)
        ]
        path, body = "/reviews", Json({"drafts": [*named]})
        if review is None:
            body |= {"project_id": drafts[0].project, "title": "A Review"}
        else:
            path = f"/reviews/{review.review_id}/submissions"
            body["expected_review_version"] = review.version
        client = self.people[drafts[0].author if review is None else review.author]
        made_for = {number: drafts[number].base for number in confirmed}

        def foretell() -> tuple[str | None, Proposal]:
            fresh = {number: confirmed[number] for number, base in made_for.items() if drafts[number].base == base}
            proposal = self.model.propose(drafts, fresh)
            proposal.verdict.codes |= set() if fresh == confirmed else {"candidate_stale"}
            return self.model.submission_code(proposal, review), proposal

        tried = self.tried(foretell, client, path, body)
        outcome = self.expect(foretell, lambda: client.post(path, body, headers=WAIT), 201 if review is None else 200)
        if outcome.answer is not None:
            same(None if tried is None else tried["result_hash"], outcome.answer["result_hash"])
            self._take_submission(outcome.answer, outcome.told, review)
        return outcome

    def _take_submission(self, body: Json, proposal: Proposal, review: HeldReview | None) -> None:
        if review is None:
            review = self.model.a_review(str(body["review_id"]), proposal)
        else:
            self.model.resubmit(proposal, review)
        self.model.submit(proposal, review)
        same(body["result_hash"], review.result_hash)
        for number in proposal.confirmed:
            draft = proposal.drafts[number]
            now = ok(self.people[draft.author].get(f"/drafts/{draft.draft_id}"))
            self.take_rebased(draft, now, proposal, number)

    def decide(self, review: HeldReview, actor: str, decision: str) -> None:
        """Approve or reject; the same approval twice changes nothing."""
        body: Json = {"decision": decision, "expected_review_version": review.version}
        if self._command(review, actor, "decisions", body).answer is None:
            return
        if decision == "approved":
            self.model.approve(review, actor)
        else:
            self.model.close(review, "rejected")

    def withdraw(self, review: HeldReview, actor: str) -> None:
        if self._command(review, actor, "withdrawals", {"expected_review_version": review.version}).answer is not None:
            self.model.close(review, "withdrawn")

    def merge(self, review: HeldReview, actor: str, *, names_hash: bool) -> None:
        """Publish, with or without saying which result."""
        body: Json = {"expected_review_version": review.version}
        body |= {"expected_result_hash": review.result_hash} if names_hash else {}
        outcome = self._command(review, actor, "merges", body)
        if outcome.answer is None or outcome.told is None:
            return
        published = self.model.merge(outcome.told, review, actor)
        same(outcome.answer["already_published"], not published)
        if published:
            self.model.commits.append(str(outcome.answer["commit_id"]))
            self.compare_published(str(outcome.answer["commit_id"]))
        same(outcome.answer["commit_id"], self.model.commits[-1])

    def _command(self, review: HeldReview, actor: str, kind: str, body: Json) -> Outcome[Proposal | None]:
        path, client = f"/reviews/{review.review_id}/{kind}", self.people[actor]

        def foretell() -> tuple[str | None, Proposal | None]:
            if review.status not in UNDECIDED:
                return "review_closed", None
            if kind != "merges":
                return None, None
            proposal = self.model.propose(review.members)
            return self.model.merge_code(proposal, review, actor), proposal

        if kind == "merges":
            self.tried(foretell, client, path, body)
        return self.expect(foretell, lambda: client.post(path, body, headers=WAIT))

    def comment(self, review: HeldReview, actor: str) -> None:
        """Comment on any Review, whatever has become of it; nothing of it changes."""
        path = f"/reviews/{review.review_id}/comments"
        self.expect(lambda: (None, None), lambda: self.people[actor].post(path, {"body": "Is it so?"}), 201)

    def select(self, actor: str, project: str, wanted: set[str]) -> None:
        """Replace a selection, but for what live Drafts of the project target."""
        in_use = {
            step.memory
            for draft in self.model.drafts.values()
            if draft.project == project and draft.status in LIVE
            for step in draft.steps
        }
        removed = self.model.selected[project] - wanted
        outcome = self.expect(
            lambda: ("selection_in_use" if in_use & removed else None, None),
            lambda: select(self.people[actor], project, sorted(wanted)),
        )
        if outcome.answer is not None:
            self.model.selected[project] = set(wanted)


def a_play(api: Client, *, projects: int, required_approvals: int) -> Play:
    """A new organization: its owner, an admin, and two authors in all of its projects."""
    organization = an_organization(api)
    owner = organization.owner
    version = ok(owner.get("/admin/organization"))["version"]
    assert isinstance(version, int)
    ok(owner.patch("/admin/organization", {"required_approvals": required_approvals}, version=version))
    first, *others = [a_project(owner) for _ in range(projects)]
    authors: list[Person] = [a_member(organization, first) for _ in range(2)]
    for project in others:
        for person in authors:
            ok(owner.post(f"/projects/{project}/members", {"user_id": person.user_id, "role": "member"}), 201)
    admin = a_person(organization, "admin")
    clients = {organization.owner_id: owner} | {person.user_id: person.client for person in (admin, *authors)}
    return Play(
        organization=organization,
        people=clients,
        authors=[person.user_id for person in authors],
        admins=[organization.owner_id, admin.user_id],
        projects=[first, *others],
        model=ApiModel(
            required_approvals=required_approvals, selected={project: set() for project in (first, *others)}
        ),
    )
