"""No sequence of calls publishes what was not in a submission that its approval, or its direct merge, names.

Approvals are remembered with the texts that the approver could read then; every commit is compared with those of the
approvals that it was published on.
"""

import contextlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import pytest
from sqlalchemy import Engine

from activities.accepting import ProposedOperation
from models.errors import Problem
from models.identifiers import DraftId, MemoryId, ReviewId, UserId
from models.store.drafts import read_draft
from models.store.locks import DraftRow
from tests.commands import a_decision, a_merge, attempted, carried_out, published, resubmitted, review, submitted
from tests.invariants import check_invariants
from tests.policies import from_now, requires_approvals, scheduled, scheduled_merges, timers_run
from tests.rows import (
    Somewhere,
    a_draft,
    a_user,
    an_organization,
    appended,
    creates,
    deletes,
    discarded,
    fetch,
    renames,
    updates,
    with_role,
)

STEPS = 40
LINES = ("one", "two", "three", "four", "five")

Texts = Mapping[str, tuple[str, str, str] | None]
"""Path, description and body of each touched Memory, None of one that is gone."""


@dataclass
class Play:
    """Two colleagues who propose, approve, reject, publish and change their minds, in any order."""

    place: Somewhere
    chance: random.Random
    admins: list[UserId]
    memories: list[MemoryId]
    reviews: list[ReviewId] = field(default_factory=list)
    waiting: list[Callable[[], object]] = field(default_factory=list)
    seen: dict[tuple[ReviewId, int], Texts] = field(default_factory=dict)
    published: set[ReviewId] = field(default_factory=set)

    def step(self) -> None:
        """Do something; a refusal is an outcome like any other."""
        acts = (
            self.propose,
            self.propose,
            self.propose,
            self.accept_decision,
            self.accept_decision,
            self.accept_merge,
            self.accept_merge,
            self.reject_edit_and_resubmit,
            self.publish_beside,
            self.schedule,
            self.change_policy,
            self.discard,
            self.carry_out_one,
            self.carry_out_one,
            self.carry_out_one,
        )
        with contextlib.suppress(Problem):
            self.chance.choice(acts)()
        self.note_submissions()
        self.check_publications()

    def propose(self) -> None:
        drafts = [a_draft(self.place, self._operation(), author=self._admin())]
        if self.chance.random() < 0.5:
            drafts.append(a_draft(self.place, self._operation(), author=drafts[0].author_id))
        operation = submitted(self.place, *drafts)
        if operation.status == "succeeded" and operation.review_id is not None:
            self.reviews.append(operation.review_id)

    def accept_decision(self) -> None:
        """Approve what is read now; it may be carried out long after."""
        if self.reviews:
            operation = a_decision(self.place, self._review(), "approved", actor=self._admin())
            self.waiting.append(partial(attempted, self.place, operation))

    def accept_merge(self) -> None:
        if self.reviews:
            operation = a_merge(self.place, self._review(), actor=self._admin())
            self.waiting.append(partial(attempted, self.place, operation))

    def carry_out_one(self) -> None:
        if self.waiting:
            act = self.waiting.pop(self.chance.randrange(len(self.waiting)))
            act()
            if self.chance.random() < 0.2:
                act()

    def reject_edit_and_resubmit(self) -> None:
        if not self.reviews:
            return
        review_id = self._review()
        carried_out(self.place, a_decision(self.place, review_id, "rejected"))
        rows = fetch(
            self.place, "select draft_id from drafts where org_id = :o and review_id = :r order by 1", r=review_id
        ) or fetch(
            self.place,
            """
            select draft_id from review_submission_drafts
            where org_id = :o and review_id = :r and number = 1 order by position
            """,
            r=review_id,
        )
        drafts = [self._draft(row.draft_id) for row in rows]
        if self.chance.random() < 0.7:
            drafts[0] = appended(self.place, drafts[0], self._operation())
        resubmitted(self.place, review_id, *drafts)

    def publish_beside(self) -> None:
        """A colleague's change of the same Memories, approved and merged at once where the policy lets it."""
        operation = submitted(self.place, a_draft(self.place, self._operation()))
        if operation.status == "succeeded" and operation.review_id is not None:
            self.reviews.append(operation.review_id)
            carried_out(self.place, a_decision(self.place, operation.review_id, "approved", actor=self.admins[1]))
            carried_out(self.place, a_merge(self.place, operation.review_id))

    def schedule(self) -> None:
        if not self.reviews:
            return
        review_id, at = self._review(), from_now(60)
        scheduled(self.place, review_id, at)
        timers_run(self.place, review_id, at=at)
        self.waiting += [partial(attempted, self.place, merge) for merge in scheduled_merges(self.place, review_id)]

    def change_policy(self) -> None:
        if self.chance.random() < 0.5:
            requires_approvals(self.place, self.chance.choice((0, 0, 2)))
        else:
            with_role(self.place, self.admins[-1], self.chance.choice(("admin", "member")))

    def discard(self) -> None:
        if self.reviews:
            rows = fetch(
                self.place,
                "select draft_id from drafts where org_id = :o and review_id = :r and status = 'submitted'",
                r=self._review(),
            )
            if rows:
                discarded(self.place, self._draft(self.chance.choice(rows).draft_id))

    def note_submissions(self) -> None:
        """What each submission showed when it was made; it never changes afterwards."""
        for review_id in self.reviews:
            number = review(self.place, review_id).submission
            texts = self._submitted(review_id, number)
            assert self.seen.setdefault((review_id, number), texts) == texts

    def check_publications(self) -> None:
        """What was published is what the approvals that stand were given for, byte for byte."""
        for review_id in self.reviews:
            row = review(self.place, review_id)
            if row.status != "merged" or review_id in self.published:
                continue
            self.published.add(review_id)
            approvals = fetch(
                self.place,
                """
                select submission from review_approvals
                where org_id = :o and review_id = :r and dropped_at is null
                """,
                r=review_id,
            )
            assert approvals
            for approval in approvals:
                approved = self.seen[review_id, approval.submission]
                assert self._standing(list(approved)) == approved

    def _submitted(self, review_id: ReviewId, number: int) -> Texts:
        rows = fetch(
            self.place,
            """
            select s.memory_id, s.path, s.description, b.content from review_submission_states s
            left join blobs b on b.org_id = s.org_id and b.blob_id = s.blob_id
            where s.org_id = :o and s.review_id = :r and s.number = :n
            """,
            r=review_id,
            n=number,
        )
        return {row.memory_id: row.path and (row.path, row.description, row.content) for row in rows}

    def _standing(self, memory_ids: list[str]) -> Texts:
        rows = fetch(
            self.place,
            """
            select v.memory_id, v.path, v.description, b.content from memory_versions v
            join blobs b on b.org_id = v.org_id and b.blob_id = v.blob_id
            where v.org_id = :o and v.to_version is null and v.memory_id = any(:ids)
            """,
            ids=memory_ids,
        )
        found = {row.memory_id: (row.path, row.description, row.content) for row in rows}
        return {memory_id: found.get(memory_id) for memory_id in memory_ids}

    def _operation(self) -> ProposedOperation:
        memory, path = self.chance.choice(self.memories), f"{self.chance.choice('xyz')}.md"
        return self.chance.choice(
            (
                creates(path, self._body()),
                updates(memory, self._body()),
                updates(memory, self._body()),
                updates(memory, description=self.chance.choice(LINES)),
                renames(memory, path),
                deletes(memory),
            )
        )

    def _draft(self, draft_id: DraftId) -> DraftRow:
        with self.place.engine.connect() as connection:
            row = read_draft(connection, self.place.org_id, draft_id)
        assert row is not None
        return row

    def _body(self) -> str:
        lines = list(LINES)
        lines[self.chance.randrange(len(lines))] = f"changed {self.chance.randrange(10)}"
        return "\n\n".join(lines) + "\n"

    def _admin(self) -> UserId:
        return self.chance.choice(self.admins)

    def _review(self) -> ReviewId:
        return self.chance.choice(self.reviews[-4:])


def played(engine: Engine, seed: int) -> int:
    """Play from a seed; how many Reviews were published."""
    place = an_organization(engine)
    memories = published(place, creates("a.md", "one\n"), creates("b.md", "two\n"))
    admins = [place.owner, a_user(place, "admin"), a_user(place, "admin")]
    play = Play(place, random.Random(seed), admins, memories)  # noqa: S311  (repeatable)
    for _ in range(STEPS):
        play.step()
    check_invariants(engine, place.org_id)
    return len(play.published)


def test_what_is_published_is_what_each_of_its_approvals_was_given_for(engine: Engine) -> None:
    assert sum(played(engine, seed) for seed in range(2)) > 0


@pytest.mark.long
def test_what_is_published_is_so_in_a_hundred_plays(engine: Engine) -> None:
    assert sum(played(engine, seed) for seed in range(2, 102)) > 0
