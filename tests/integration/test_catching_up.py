"""After a publication: bases move where the result stays equal, else a fresh candidate is kept (publication.md §3)."""

from functools import partial

from sqlalchemy import Engine

from activities.catching_up import after_publication
from models.store.candidates import live_candidates
from models.store.coordination import coordinate
from models.store.locks import DraftRow
from tests.commands import a_review, decided, merged, problem_of, published, review, submitted
from tests.fuse import over
from tests.invariants import check_invariants
from tests.racing import together, without_deadlocks
from tests.rebasing import a_candidate, offered, rebased, reconciled
from tests.rows import (
    Somewhere,
    a_draft,
    an_organization,
    creates,
    current,
    deletes,
    discarded,
    fetch,
    ref_of,
    updates,
)

LINES = "one\ntwo\nthree\nfour\nfive\n"


def follow(place: Somewhere, draft: DraftRow) -> None:
    after_publication(place.engine, place.org_id, draft.draft_id)


def live(place: Somewhere, draft: DraftRow) -> str | None:
    """How the Draft's live candidate says that it stands; None without one."""
    with place.engine.connect() as connection:
        found = live_candidates(connection, place.org_id, [draft.draft_id]).get(draft.draft_id)
    return None if found is None else found.reconciliation


def coordination(place: Somewhere, draft: DraftRow) -> str:
    with place.engine.connect() as connection:
        found = coordinate(connection, place.org_id, [current(place, draft)])[draft.draft_id]
    assert found is not None
    return found.freshness


def told(place: Somewhere, draft: DraftRow) -> list[str]:
    rows = fetch(place, "select kind from events where org_id = :o and resource_id = :d order by id", d=draft.draft_id)
    return [row.kind for row in rows]


def compared_with(place: Somewhere, draft: DraftRow) -> int:
    (row,) = fetch(place, "select reconciled_version from drafts where org_id = :o and draft_id = :d", d=draft.draft_id)
    return int(row.reconciled_version)


def test_a_draft_whose_result_stays_equal_moves_its_base_and_nothing_else(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    follow(place, draft)
    after = current(place, draft)
    commit_id, version = ref_of(place)
    assert (after.base_commit_id, after.base_version) == (commit_id, version)
    assert (after.version, after.updated_at) == (draft.version, draft.updated_at)
    assert told(place, draft) == ["draft.created", "draft.base_moved"]
    assert live(place, draft) is None
    check_invariants(engine, place.org_id)


def test_a_draft_whose_result_would_change_gets_a_fresh_candidate_and_keeps_its_base(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", LINES))
    clean = a_draft(place, updates(one, LINES.replace("one", "ours")))
    contested = a_draft(place, updates(one, LINES.replace("five", "ours")))
    published(place, updates(one, LINES.replace("five", "theirs")))
    for draft in (clean, contested):
        follow(place, draft)
        assert current(place, draft) == draft
        assert compared_with(place, draft) == ref_of(place)[1]
    assert (live(place, clean), live(place, contested)) == ("clean", "conflicts")


def test_a_second_pass_finds_nothing_to_do(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", LINES))
    moving, asking = a_draft(place, creates("b.md")), a_draft(place, updates(one, LINES.replace("one", "ours")))
    published(place, updates(one, LINES.replace("five", "theirs")))
    for _ in range(2):
        for draft in (moving, asking):
            follow(place, draft)
    assert told(place, moving).count("draft.base_moved") == 1
    assert len(fetch(place, "select 1 from reconciliation_candidates where org_id = :o")) == 1


def test_the_candidate_of_a_pass_is_the_one_that_is_asked_for(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", LINES))
    draft = a_draft(place, updates(one, LINES.replace("one", "ours")))
    published(place, updates(one, LINES.replace("five", "theirs")))
    follow(place, draft)
    (kept,) = fetch(place, "select candidate_id from reconciliation_candidates where org_id = :o")
    assert a_candidate(place, draft)["candidate_id"] == kept.candidate_id


def test_the_drafts_of_a_review_are_judged_together_by_one_pass_and_the_approval_stays(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", LINES))
    first, second = a_draft(place, creates("b.md")), a_draft(place, updates(one, LINES.replace("one", "ours")))
    review_id = a_review(place, first, second)
    decided(place, review_id, "approved")
    before = review(place, review_id)
    published(place, creates("c.md"))
    follow(place, current(place, second))
    version = ref_of(place)[1]
    assert [current(place, draft).base_version for draft in (first, second)] == [version, version]
    assert review(place, review_id) == before
    assert merged(place, review_id).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_a_member_of_a_review_is_compared_after_the_drafts_before_it(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", LINES))
    first = a_draft(place, updates(one, LINES.replace("one", "first")))
    second = a_draft(place, updates(one, LINES.replace("three", "second")))
    a_review(place, first, second)
    published(place, updates(one, LINES.replace("five", "theirs")))
    follow(place, current(place, first))
    assert (live(place, first), live(place, second)) == ("clean", "clean")
    rows = fetch(place, "select draft_id, siblings from reconciliation_candidates where org_id = :o")
    siblings = {row.draft_id: row.siblings for row in rows}
    assert siblings[first.draft_id] == []
    assert siblings[second.draft_id] == [{"draft_id": first.draft_id, "draft_version": current(place, first).version}]


def test_a_draft_that_stands_on_one_which_is_not_before_it_gets_a_candidate_though_its_result_stays_equal(
    engine: Engine,
) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", LINES))
    first, second = a_draft(place, updates(one, "ours\n")), a_draft(place, deletes(one))
    (candidate,) = problem_of(submitted(place, first, second))["candidates"]
    rebased(place, second, candidate, *offered(candidate, "delete"))
    published(place, deletes(one))
    second = current(place, second)
    follow(place, second)
    assert (live(place, second), coordination(place, second)) == ("clean", "behind")
    rebased(place, second, a_candidate(place, second))
    assert coordination(place, second) == "current"
    assert problem_of(reconciled(place, current(place, second)))["code"] == "draft_already_current"
    check_invariants(engine, place.org_id)


def test_a_closed_draft_is_left_alone(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    gone = discarded(place, draft)
    follow(place, gone)
    assert current(place, gone) == gone


def test_passes_beside_publications_and_each_other_do_no_harm(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", LINES))
    draft = a_draft(place, updates(one, LINES.replace("one", "ours")), creates("b.md"))
    review_id = a_review(place, draft)
    published(place, creates("c.md"))
    other = a_review(place, a_draft(place, creates("d.md")))
    with without_deadlocks(engine, connections=8) as pool:
        there = over(pool, place)
        passes = [partial(follow, there, draft)] * 3
        together(*passes, partial(merged, there, other), partial(merged, there, review_id))
    assert review(place, review_id).status == "merged"
    check_invariants(engine, place.org_id)
