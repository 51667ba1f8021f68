"""Open Drafts that change what another open Draft creates: the other side, and candidates that move with it."""

from dataclasses import dataclass

from sqlalchemy import Engine

from activities.catching_up import after_publication
from models.identifiers import MemoryId
from models.store.candidate_views import candidate_body
from models.store.candidates import live_candidates
from models.store.locks import DraftRow
from tests.commands import a_review, problem_of, published, result_of, withdrawn
from tests.invariants import check_invariants
from tests.rebasing import Candidate, a_candidate, confirmed, is_to_be, rebased, submitted_with
from tests.rebasing import Confirmed as Named
from tests.rows import Somewhere, a_draft, an_organization, appended, creates, current, provisional_ids, updates

LINES = "one\ntwo\nthree\nfour\nfive\n"


@dataclass(frozen=True)
class _Pair:
    """Two open Drafts, of which the second changes what the first creates."""

    creator: DraftRow
    made: MemoryId
    builder: DraftRow


def a_pair(place: Somewhere) -> _Pair:
    """The second Draft is behind as well, and its result would change."""
    (memory_id,) = published(place, creates("a.md", LINES))
    creator = a_draft(place, creates("new.md", LINES))
    (made,) = provisional_ids(place, creator.draft_id)
    builder = a_draft(
        place, updates(made, LINES.replace("two", "second")), updates(memory_id, LINES.replace("one", "ours"))
    )
    published(place, updates(memory_id, LINES.replace("five", "theirs")))
    return _Pair(creator, made, builder)


def a_pair_that_was_a_review(place: Somewhere) -> _Pair:
    """The second Draft was rebased onto the first in their Review, and the first has changed the same line since."""
    creator = a_draft(place, creates("new.md", LINES))
    (made,) = provisional_ids(place, creator.draft_id)
    builder = a_draft(place, updates(made, LINES.replace("two", "second")))
    review_id = a_review(place, creator, builder)
    published(place, creates("other.md"))
    rebased(place, current(place, builder), a_candidate(place, current(place, builder)))
    withdrawn(place, review_id)
    creator = appended(place, current(place, creator), updates(made, LINES.replace("two", "first")))
    return _Pair(creator, made, current(place, builder))


def is_stale(place: Somewhere, candidate: Candidate) -> bool:
    with place.engine.connect() as connection:
        return candidate_body(connection, place.org_id, candidate["draft_id"], candidate["candidate_id"]).stale


def test_the_other_side_of_what_another_open_draft_creates_is_that_draft(engine: Engine) -> None:
    place = an_organization(engine)
    pair = a_pair_that_was_a_review(place)
    candidate = a_candidate(place, pair.builder)
    (conflict,) = candidate["conflicts"]
    assert (conflict["code"], conflict["current"]["content"]) == ("body.overlap", LINES.replace("two", "first"))
    other = {"draft_id": pair.creator.draft_id, "memory_id": pair.made, "author_id": place.owner}
    assert conflict["other"] == other
    assert rebased(place, pair.builder, candidate, is_to_be(pair.made, "new.md", LINES)).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_a_pass_keeps_the_candidate_of_a_conflict_with_another_open_draft(engine: Engine) -> None:
    place = an_organization(engine)
    pair = a_pair_that_was_a_review(place)
    published(place, creates("later.md"))
    after_publication(place.engine, place.org_id, pair.builder.draft_id)
    with place.engine.connect() as connection:
        live = live_candidates(connection, place.org_id, [pair.builder.draft_id])
    assert live[pair.builder.draft_id].reconciliation == "conflicts"
    check_invariants(engine, place.org_id)


def test_a_candidate_is_stale_once_the_draft_moves_whose_creation_it_changes(engine: Engine) -> None:
    place = an_organization(engine)
    pair = a_pair(place)
    candidate = a_candidate(place, pair.builder)
    assert not is_stale(place, candidate)
    appended(place, pair.creator, updates(pair.made, LINES.replace("four", "first")))
    assert is_stale(place, candidate)
    assert problem_of(rebased(place, pair.builder, candidate))["code"] == "candidate_stale"
    assert a_candidate(place, pair.builder)["candidate_id"] != candidate["candidate_id"]
    check_invariants(engine, place.org_id)


def test_a_draft_that_others_do_not_build_on_may_move(engine: Engine) -> None:
    place = an_organization(engine)
    pair = a_pair(place)
    beside = a_draft(place, creates("beside.md"))
    candidate = a_candidate(place, pair.builder)
    appended(place, beside, creates("more.md"))
    assert not is_stale(place, candidate)
    assert rebased(place, pair.builder, candidate).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_a_candidate_made_beside_an_open_draft_is_confirmed_when_both_are_submitted(engine: Engine) -> None:
    place = an_organization(engine)
    pair = a_pair(place)
    candidate = a_candidate(place, pair.builder)
    review = result_of(submitted_with(place, Named(pair.creator), confirmed(pair.builder, candidate)))
    assert review["status"] == "open"
    check_invariants(engine, place.org_id)
