from datetime import timedelta

from sqlalchemy import Engine

from models.identifiers import ReviewId
from models.store.operations import reviews_to_refresh
from tests.commands import a_review, merged
from tests.rows import Somewhere, a_draft, an_organization, creates, execute

LANE_TELLS_WITHIN_S = 20


def are_due(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        due = reviews_to_refresh(connection, limit=10_000, merged_for_s=LANE_TELLS_WITHIN_S)
    return {review.review_id for review in due}


def changed_before(place: Somewhere, review_id: ReviewId, seconds: float) -> None:
    execute(
        place,
        "update reviews set updated_at = clock_timestamp() - :ago where org_id = :o and review_id = :r",
        r=review_id,
        ago=timedelta(seconds=seconds),
    )


def test_a_changed_review_is_due_at_once(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    execute(place, "update reviews set refresh_pending = true where org_id = :o and review_id = :r", r=review_id)
    assert review_id in are_due(engine)


def test_a_merged_review_is_left_to_its_lane_for_a_while(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    assert merged(place, review_id).status == "succeeded"
    assert review_id not in are_due(engine)
    changed_before(place, review_id, LANE_TELLS_WITHIN_S + 1)
    assert review_id in are_due(engine)
