import re
from collections.abc import Sequence
from functools import partial

from sqlalchemy import Engine, text

from activities.catching_up import after_publication
from models.identifiers import DraftId
from models.store.locks import lock_drafts
from models.store.unreconciled import CLAIM_BEHIND, claim_behind, record_reconciled, release
from tests.commands import a_review, published, withdrawn
from tests.racing import together
from tests.rows import Somewhere, a_draft, acting, an_organization, creates, current, discarded, execute, ref_of


def claimed(
    engine: Engine,
    *places: Somewhere,
    limit: int = 1_000,
    under_way: int = 1_000_000,
    again_after_s: float = 60.0,
    published_within_s: float | None = None,
    rested_s: float = 0,
) -> list[DraftId]:
    """What one claim brings of these organizations; other tests' Drafts wait for the next."""
    org_ids: set[str] = {place.org_id for place in places}
    with engine.begin() as connection:
        claim = claim_behind(
            connection,
            limit=limit,
            under_way=under_way,
            again_after_s=again_after_s,
            published_within_s=published_within_s,
            rested_s=rested_s,
        )
    return [DraftId(each.draft_id) for each in claim.due if each.org_id in org_ids]


def reconciled(place: Somewhere, draft_ids: Sequence[DraftId]) -> None:
    """As the pass over each Draft does."""
    _, version = ref_of(place)
    with acting(place) as tx:
        for draft_id in draft_ids:
            record_reconciled(tx.connection, place.org_id, [draft_id], version)


def test_what_a_publication_left_behind_is_claimed_submitted_ones_first(engine: Engine) -> None:
    place = an_organization(engine)
    first, second = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    a_review(place, second)
    assert claimed(engine, place) == []
    published(place, creates("c.md"))
    assert claimed(engine, place) == [second.draft_id, first.draft_id]


def test_of_the_drafts_of_a_review_one_is_told_and_all_are_claimed(engine: Engine) -> None:
    place = an_organization(engine)
    alone, *members = (a_draft(place, creates(f"{name}.md")) for name in "abcd")
    a_review(place, *members)
    published(place, creates("z.md"))
    told, last = claimed(engine, place, again_after_s=0)
    assert (told in {member.draft_id for member in members}, last) == (True, alone.draft_id)
    assert claimed(engine, place) == [told, last]
    assert claimed(engine, place) == []
    after_publication(engine, place.org_id, told)
    with acting(place) as tx:
        release(tx.connection, place.org_id, alone.draft_id)
    assert claimed(engine, place) == [alone.draft_id]


def test_a_draft_that_left_its_review_is_claimed_by_itself(engine: Engine) -> None:
    place = an_organization(engine)
    drafts = [a_draft(place, creates(f"{name}.md")) for name in "ab"]
    withdrawn(place, a_review(place, *drafts))
    published(place, creates("z.md"))
    assert sorted(claimed(engine, place)) == sorted(draft.draft_id for draft in drafts)


def test_a_claimed_draft_is_claimed_again_when_its_time_is_up_and_not_before(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    assert claimed(engine, place, again_after_s=0) == [draft.draft_id]
    assert claimed(engine, place) == [draft.draft_id]
    assert claimed(engine, place) == []


def test_a_claim_that_is_given_back_is_claimed_at_once(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    assert claimed(engine, place) == [draft.draft_id]
    with acting(place) as tx:
        release(tx.connection, place.org_id, draft.draft_id)
    assert claimed(engine, place) == [draft.draft_id]


def test_a_compared_draft_is_claimed_again_only_after_the_next_publication_and_then_at_once(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    reconciled(place, claimed(engine, place))
    assert claimed(engine, place) == []
    published(place, creates("c.md"))
    published(place, creates("d.md"))
    assert claimed(engine, place) == [draft.draft_id]


def test_a_comparison_that_ends_after_a_later_one_does_not_take_it_back(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    reconciled(place, [draft.draft_id])
    with acting(place) as tx:
        record_reconciled(tx.connection, place.org_id, [draft.draft_id], 0)
    assert claimed(engine, place) == []


def test_a_claim_may_look_only_where_something_was_published_lately_and_has_come_to_rest(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    assert claimed(engine, place, rested_s=60.0) == []
    execute(place, "update organization_refs set updated_at = updated_at - interval '1 hour' where org_id = :o")
    execute(place, "update drafts set created_at = created_at - interval '1 hour' where org_id = :o")
    assert claimed(engine, place, published_within_s=60.0) == []
    assert claimed(engine, place, published_within_s=7_200.0, rested_s=60.0) == [draft.draft_id]


def test_a_look_at_many_drafts_that_are_not_behind_reads_none_of_them(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("b.md"))
    execute(
        place,
        """
        insert into drafts (org_id, draft_id, project_id, author_id, title, status, version, base_commit_id,
                            base_version, reconciled_version, created_at, updated_at)
        select :o, 'drf_many_' || n, :p, :u, '', 'open', 1, r.commit_id, 1, 1, now(), now()
        from generate_series(1, 2000) n cross join organization_refs r where r.org_id = :o
        """,
        p=place.project_id,
        u=place.owner,
    )
    names = {"limit": 25, "under_way": 1_000_000, "again_after_s": 60.0, "published_within_s": 600.0, "rested_s": 0.0}
    with engine.connect() as connection:
        connection.execute(text("analyze drafts"))
        plan = "\n".join(connection.execute(text(f"explain (analyze) {CLAIM_BEHIND.text}"), names).scalars())
        connection.rollback()
    assert "using ix_drafts_unfinished" in plan
    assert "ix_drafts_reconcile" in plan
    removed = [int(rows) for rows in re.findall(r"Rows Removed by Filter: (\d+)", plan)]
    assert sum(removed) < 2_000


def test_finished_drafts_and_those_made_on_an_older_base_are_left_alone(engine: Engine) -> None:
    place = an_organization(engine)
    gone = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    first, _ = ref_of(place)
    published(place, creates("c.md"))
    discarded(place, gone)
    late = a_draft(place, creates("d.md"), base=first)
    assert claimed(engine, place) == []
    published(place, creates("e.md"))
    assert claimed(engine, place) == [late.draft_id]


def test_a_claim_changes_nothing_that_is_seen_of_a_draft(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    before = current(place, draft)
    reconciled(place, claimed(engine, place))
    assert current(place, draft) == before


def test_a_draft_that_somebody_has_locked_holds_no_claim_up(engine: Engine) -> None:
    place = an_organization(engine)
    locked, free = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    published(place, creates("c.md"))
    with acting(place) as tx:
        lock_drafts(tx.connection, place.org_id, [locked.draft_id])
        assert claimed(engine, place) == [free.draft_id]
    assert claimed(engine, place) == [locked.draft_id]


def test_two_processes_claim_each_draft_once(engine: Engine) -> None:
    _set_the_others_aside(engine)
    place = an_organization(engine)
    drafts = [a_draft(place, creates(f"{number}.md")) for number in range(12)]
    published(place, creates("z.md"))
    found: list[DraftId] = []

    def process() -> None:
        for _ in range(6):
            found.extend(claimed(engine, place, limit=4))

    together(process, process)
    assert sorted(found) == sorted(draft.draft_id for draft in drafts)


def test_one_organization_with_many_drafts_does_not_keep_another_waiting(engine: Engine) -> None:
    _set_the_others_aside(engine)
    busy, quiet = an_organization(engine), an_organization(engine)
    many = {a_draft(busy, creates(f"{number}.md")).draft_id for number in range(6)}
    waiting = a_draft(quiet, creates("a.md"))
    published(busy, creates("z.md"))
    published(quiet, creates("z.md"))
    found = claimed(engine, busy, quiet, limit=2)
    assert waiting.draft_id in found
    assert many.intersection(found)


def test_no_more_are_claimed_than_may_be_under_way_and_a_pass_that_ended_frees_its_place(engine: Engine) -> None:
    _leave_none_behind(engine)
    place, other = an_organization(engine), an_organization(engine)
    for where in (place, other):
        for number in range(4):
            a_draft(where, creates(f"{number}.md"))
        published(where, creates("z.md"))
    first = claimed(engine, place, other, under_way=3)
    assert len(first) == 3
    assert claimed(engine, place, other, under_way=3) == []
    for where in (place, other):  # of which each has some of them
        reconciled(where, first[:1])
    (second,) = claimed(engine, place, other, under_way=3)
    for where in (place, other):
        with acting(where) as tx:
            release(tx.connection, where.org_id, second)
    assert len(claimed(engine, place, other, under_way=3)) == 1
    assert len(claimed(engine, place, other, under_way=5)) == 2
    assert claimed(engine, place, other, under_way=2) == []


def test_the_drafts_of_a_review_take_one_place_and_free_it_together(engine: Engine) -> None:
    _leave_none_behind(engine)
    place = an_organization(engine)
    a_review(place, *(a_draft(place, creates(f"{name}.md")) for name in "abc"))
    a_draft(place, creates("d.md"))
    published(place, creates("z.md"))
    told, alone = claimed(engine, place, under_way=2)
    for draft_id in (alone, told):
        with acting(place) as tx:
            release(tx.connection, place.org_id, draft_id)
    assert claimed(engine, place, under_way=1) == [told]


def test_what_was_asked_for_in_vain_leaves_its_place_to_others(engine: Engine) -> None:
    _leave_none_behind(engine)
    place = an_organization(engine)
    failing, fine = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    published(place, creates("z.md"))
    found = [claimed(engine, place, under_way=1, again_after_s=0) for _ in range(2)]
    assert sorted(found) == sorted([[failing.draft_id], [fine.draft_id]])


def test_several_processes_that_claim_at_once_keep_to_the_places_there_are(engine: Engine) -> None:
    _leave_none_behind(engine)
    place = an_organization(engine)
    for number in range(12):
        a_draft(place, creates(f"{number}.md"))
    published(place, creates("z.md"))
    found = together(*(partial(claimed, engine, place, under_way=4) for _ in range(4)))
    assert sum(map(len, found)) == 4


def _leave_none_behind(engine: Engine) -> None:
    """Have the Drafts of other tests neither hold a place nor ask for one."""
    with engine.begin() as connection:
        connection.execute(text("update drafts set reconcile_at = null, reconciled_version = 1000000"))


def _set_the_others_aside(engine: Engine) -> None:
    """Let a claim of few bring this test's Drafts."""
    claimed(engine, limit=100_000, again_after_s=3_600)
