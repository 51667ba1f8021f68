"""Policies: how many approve, whether authors do, and whose paths are touched (publication.md §4)."""

from datetime import datetime

import pytest
from sqlalchemy import Engine

from models.errors import NotFound
from models.identifiers import ReviewId, UserId
from models.store.access import require_review
from models.store.organizations import forget_path_owner
from models.store.review_lists import list_reviews
from models.store.users import read_user, remove_user
from tests.commands import (
    a_decision,
    a_review,
    carried_out,
    decided,
    merged,
    problem_of,
    published,
    resubmitted,
    result_of,
    review,
    withdrawn,
)
from tests.invariants import check_invariants
from tests.policies import forbids_self_approval, happened, has_path_owners, requires_approvals
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    a_project,
    a_user,
    acting,
    an_organization,
    appended,
    creates,
    current,
    deletes,
    execute,
    fetch,
    refused,
    renames,
    tree,
    updates,
    with_role,
    with_state,
)


def is_read_by(place: Somewhere, review_id: ReviewId, user_id: UserId) -> bool:
    """Whether a user finds a Review, by name and in the list alike."""
    with place.engine.connect() as connection:
        found = list_reviews(connection, place.org_id, user_id, project_id=None, status=None, before=None, limit=10)
        listed = review_id in {row.review_id for row in found.rows}
        try:
            require_review(connection, user_id, review(place, review_id))
        except NotFound:
            is_found = False
        else:
            is_found = True
    assert listed == is_found
    return is_found


def standing(place: Somewhere, review_id: ReviewId) -> list[str]:
    rows = fetch(
        place,
        """
        select actor_id from review_approvals
        where org_id = :o and review_id = :r and dropped_at is null order by created_at
        """,
        r=review_id,
    )
    return [row.actor_id for row in rows]


def test_a_review_is_approved_and_merged_at_the_number_of_the_policy(engine: Engine) -> None:
    place = an_organization(engine)
    requires_approvals(place, 3)
    first, second = a_user(place, "admin"), a_user(place, "admin")
    review_id = a_review(place, a_draft(place, creates("a.md")))
    assert result_of(decided(place, review_id, "approved", actor=first))["status"] == "open"
    problem = problem_of(merged(place, review_id))
    assert (problem["code"], problem["required"], problem["given"]) == ("approvals_missing", 3, 2)
    assert result_of(decided(place, review_id, "approved", actor=second))["status"] == "open"
    assert result_of(merged(place, review_id))["review"]["status"] == "merged"
    assert standing(place, review_id) == [first, second, place.owner]
    check_invariants(engine, place.org_id)


def test_a_policy_that_is_raised_leaves_the_status_and_lets_no_merge_through(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "approved")
    requires_approvals(place, 2)
    assert review(place, review_id).status == "approved"
    assert problem_of(merged(place, review_id))["code"] == "approvals_missing"
    assert merged(place, review_id, actor=a_user(place, "admin")).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_an_approval_is_repeated_to_approve_a_review_that_a_lowered_policy_left_open(engine: Engine) -> None:
    place = an_organization(engine)
    requires_approvals(place, 2)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    again = a_decision(place, review_id, "approved")
    before = result_of(decided(place, review_id, "approved"))
    requires_approvals(place, 1)
    assert (before["status"], review(place, review_id).status) == ("open", "open")
    after = result_of(carried_out(place, again))
    assert (after["status"], after["approvals"]) == ("approved", before["approvals"])
    assert after["version"] == before["version"] + 1
    assert [event for event, _, _ in happened(place, review_id)] == ["submitted", "approved", "approved"]
    assert result_of(decided(place, review_id, "approved")) == after
    assert standing(place, review_id) == [place.owner]
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize("reached", [True, False])
def test_an_approval_is_repeated_in_an_archived_project_without_effect(engine: Engine, *, reached: bool) -> None:
    place = an_organization(engine)
    requires_approvals(place, 2)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "approved")
    requires_approvals(place, 1 if reached else 2)
    with_state(place, place.project_id, "archived")
    before = review(place, review_id)
    again = decided(place, review_id, "approved")
    assert (again.problem or {}).get("code") == ("project_archived" if reached else None)
    assert review(place, review_id) == before
    check_invariants(engine, place.org_id)


def test_authors_neither_approve_nor_merge_alone_where_the_policy_asks_for_somebody_else(engine: Engine) -> None:
    place = an_organization(engine)
    forbids_self_approval(place)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    for refusal in (decided(place, review_id, "approved"), merged(place, review_id)):
        problem = problem_of(refusal)
        assert (problem["code"], problem["status"]) == ("self_approval", 403)
    admin = a_user(place, "admin")
    assert result_of(decided(place, review_id, "approved", actor=admin))["status"] == "approved"
    assert merged(place, review_id).status == "succeeded"
    assert standing(place, review_id) == [admin]
    check_invariants(engine, place.org_id)


def test_an_author_adds_nothing_to_the_approvals_of_others(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "approved")
    forbids_self_approval(place)
    requires_approvals(place, 2)
    decided(place, review_id, "approved", actor=a_user(place, "admin"))
    problem = problem_of(merged(place, review_id))
    assert (problem["code"], problem["required"], problem["given"]) == ("approvals_missing", 2, 1)
    check_invariants(engine, place.org_id)


def test_authors_who_approved_before_the_policy_are_refused_and_not_found_to_stand(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "approved")
    forbids_self_approval(place)
    assert problem_of(decided(place, review_id, "approved"))["code"] == "self_approval"
    assert problem_of(merged(place, review_id))["code"] == "self_approval"


def test_an_author_who_may_not_merge_at_all_is_forbidden_to(engine: Engine) -> None:
    place = an_organization(engine)
    forbids_self_approval(place)
    author = a_member(place)
    review_id = a_review(place, a_draft(place, creates("a.md"), author=author))
    assert problem_of(merged(place, review_id, actor=author))["code"] == "forbidden"
    assert problem_of(decided(place, review_id, "approved", actor=author))["code"] == "forbidden"


def test_a_direct_merge_of_somebody_elses_work_counts_as_its_actors_approval(engine: Engine) -> None:
    place = an_organization(engine)
    forbids_self_approval(place)
    requires_approvals(place, 1)
    review_id = a_review(place, a_draft(place, creates("a.md"), author=a_member(place)))
    assert merged(place, review_id).status == "succeeded"
    assert standing(place, review_id) == [place.owner]
    check_invariants(engine, place.org_id)


def test_a_touched_glob_needs_one_of_its_users_and_not_an_admin(engine: Engine) -> None:
    place = an_organization(engine)
    ann, ben = a_user(place), a_user(place)
    has_path_owners(place, {"docs/**": [ann, ben], "ops/*": [ben], "other/**": [ben]})
    review_id = a_review(place, a_draft(place, creates("docs/a/b.md"), creates("OPS/x.md")))
    problem = problem_of(merged(place, review_id))
    assert (problem["code"], problem["globs"]) == ("approvals_missing", ["docs/**", "ops/*"])
    decided(place, review_id, "approved", actor=ann)
    assert problem_of(merged(place, review_id))["globs"] == ["ops/*"]
    decided(place, review_id, "approved", actor=ben)
    assert merged(place, review_id).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_an_admin_who_owns_the_path_covers_it_by_a_direct_merge(engine: Engine) -> None:
    place = an_organization(engine)
    has_path_owners(place, {"docs/**": [place.owner]})
    review_id = a_review(place, a_draft(place, creates("docs/a.md"), author=a_member(place)))
    assert problem_of(merged(place, review_id, actor=a_user(place, "admin")))["globs"] == ["docs/**"]
    assert merged(place, review_id).status == "succeeded"


@pytest.mark.parametrize("change", ["edit", "out", "into", "delete", "restored path"])
def test_old_and_new_paths_of_every_touched_memory_count(engine: Engine, change: str) -> None:
    place = an_organization(engine)
    owner = a_user(place)
    inside, outside = published(place, creates("docs/a.md"), creates("x/b.md"))
    has_path_owners(place, {"docs/*": [owner]})
    operations = {
        "edit": [updates(inside, description="new")],
        "out": [renames(inside, "y/a.md")],
        "into": [renames(outside, "docs/b.md")],
        "delete": [deletes(inside)],
        "restored path": [renames(inside, "y/a.md"), renames(inside, "docs/a.md"), updates(outside, "new\n")],
    }[change]
    review_id = a_review(place, a_draft(place, *operations))
    assert is_read_by(place, review_id, owner)
    assert problem_of(merged(place, review_id))["globs"] == ["docs/*"]
    decided(place, review_id, "approved", actor=owner)
    assert merged(place, review_id).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_where_a_memory_stands_now_counts_beside_its_base(engine: Engine) -> None:
    place = an_organization(engine)
    owner = a_user(place)
    (moved,) = published(place, creates("x/a.md"))
    has_path_owners(place, {"docs/*": [owner]})
    review_id = a_review(place, a_draft(place, updates(moved, "new\n")))
    assert not is_read_by(place, review_id, owner)
    mover = a_review(place, a_draft(place, renames(moved, "docs/a.md")))
    decided(place, mover, "approved", actor=owner)
    assert merged(place, mover).status == "succeeded"
    assert is_read_by(place, review_id, owner)
    assert not is_read_by(place, review_id, a_user(place))


def test_a_path_owner_is_given_the_list_in_bounded_looks(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.store.review_lists.LOOKED_THROUGH", 3)
    place = an_organization(engine)
    owner = a_user(place)
    has_path_owners(place, {"docs/**": [owner]})
    names = ["docs/a.md", "b.md", "c.md", "d.md", "e.md", "f.md", "docs/g.md", "docs/h.md", "i.md"]
    reviews = {name: a_review(place, a_draft(place, creates(name))) for name in names}
    looks: list[list[ReviewId]] = []
    before: tuple[datetime, str] | None = None
    while not looks or before is not None:
        with place.engine.connect() as connection:
            found = list_reviews(connection, place.org_id, owner, project_id=None, status=None, before=before, limit=2)
        looks.append([row.review_id for row in found.rows])
        last = found.rows[-1] if len(found.rows) == 2 else None
        before = found.looked_up_to if last is None else (last.created_at, last.review_id)
    assert looks == [[reviews["docs/h.md"], reviews["docs/g.md"]], [], [reviews["docs/a.md"]], []]


def test_path_owners_read_and_approve_whatever_their_project_role_and_do_nothing_else(engine: Engine) -> None:
    place = an_organization(engine)
    stranger, viewer = a_user(place), a_member(place, "viewer")
    has_path_owners(place, {"docs/**": [stranger, viewer]})
    review_id = a_review(place, a_draft(place, creates("docs/a.md")))
    unowned = a_review(place, a_draft(place, creates("x/a.md")))
    assert [is_read_by(place, each, stranger) for each in (review_id, unowned)] == [True, False]
    assert [is_read_by(place, each, viewer) for each in (review_id, unowned)] == [True, True]
    for actor in (stranger, viewer):
        for refusal in (decided(place, review_id, "rejected", actor=actor), merged(place, review_id, actor=actor)):
            assert problem_of(refusal)["code"] == "forbidden"
        assert problem_of(withdrawn(place, review_id, actor=actor))["code"] == "forbidden"
        assert result_of(decided(place, review_id, "approved", actor=actor))["status"] == "approved"
    assert problem_of(decided(place, unowned, "approved", actor=stranger))["code"] == "not_found"
    assert problem_of(decided(place, unowned, "approved", actor=viewer))["code"] == "forbidden"
    assert standing(place, review_id) == [stranger, viewer]
    check_invariants(engine, place.org_id)


def test_an_approval_counts_while_its_actor_owns_a_touched_path(engine: Engine) -> None:
    place = an_organization(engine)
    requires_approvals(place, 2)
    owner = a_user(place)
    has_path_owners(place, {"docs/**": [owner]})
    review_id = a_review(place, a_draft(place, creates("docs/a.md")))
    decided(place, review_id, "approved", actor=owner)
    has_path_owners(place, {})
    assert (problem_of(merged(place, review_id))["given"], is_read_by(place, review_id, owner)) == (1, False)
    has_path_owners(place, {"docs/**": [owner]})
    assert merged(place, review_id).status == "succeeded"


def test_a_resubmission_that_leaves_the_path_takes_the_owners_reading_along(engine: Engine) -> None:
    place = an_organization(engine)
    owner = a_user(place)
    has_path_owners(place, {"docs/**": [owner]})
    draft = a_draft(place, creates("docs/a.md"))
    review_id = a_review(place, draft)
    assert is_read_by(place, review_id, owner)
    decided(place, review_id, "rejected")
    (made,) = fetch(place, "select memory_id from draft_operations where draft_id = :d", d=draft.draft_id)
    moved = appended(place, current(place, draft), renames(made.memory_id, "x/a.md"))
    resubmitted(place, review_id, moved)
    assert not is_read_by(place, review_id, owner)


def test_the_reviews_of_a_deleted_project_are_hidden_from_path_owners(engine: Engine) -> None:
    place = an_organization(engine)
    owner = a_user(place)
    has_path_owners(place, {"**": [owner]})
    project_id = a_project(place)
    review_id = a_review(place, a_draft(place, creates("a.md"), project_id=project_id))
    with_state(place, project_id, "archived")
    assert is_read_by(place, review_id, owner)
    with_state(place, project_id, "deleted")
    assert not is_read_by(place, review_id, owner)


def test_owners_of_another_organizations_paths_read_nothing_here(engine: Engine) -> None:
    place, elsewhere = an_organization(engine), an_organization(engine)
    has_path_owners(elsewhere, {"**": [elsewhere.owner]})
    review_id = a_review(place, a_draft(place, creates("a.md")))
    assert not is_read_by(place, review_id, elsewhere.owner)


def test_a_user_who_goes_leaves_the_policy_and_the_glob_keeps_asking(engine: Engine) -> None:
    place = an_organization(engine)
    owner, other = a_user(place), a_user(place)
    has_path_owners(place, {"docs/**": [owner], "x/**": [owner, other]})
    review_id = a_review(place, a_draft(place, creates("docs/a.md")))
    with acting(place) as tx:
        forget_path_owner(tx, owner)
        remove_user(tx, read_user(tx.connection, tx.org_id, owner))
    (row,) = fetch(place, "select path_owners from organizations where org_id = :o")
    assert row.path_owners == [{"glob": "docs/**", "users": []}, {"glob": "x/**", "users": [other]}]
    assert problem_of(merged(place, review_id))["globs"] == ["docs/**"]


def test_path_owners_are_users_of_the_organization(engine: Engine) -> None:
    place, elsewhere = an_organization(engine), an_organization(engine)
    assert isinstance(refused(lambda: has_path_owners(place, {"**": [elsewhere.owner]})), NotFound)


def test_submissions_older_than_their_path_keys_are_matched_without_regard_to_case(engine: Engine) -> None:
    place = an_organization(engine)
    owner = a_user(place)
    has_path_owners(place, {"docs/**": [owner]})
    review_id = a_review(place, a_draft(place, creates("Docs/A.md")))
    execute(place, "update review_submission_states set path_key = null, base_path_key = null where org_id = :o")
    assert is_read_by(place, review_id, owner)
    assert problem_of(merged(place, review_id))["globs"] == ["docs/**"]


def test_merging_against_a_lost_role_publishes_only_what_still_counts(engine: Engine) -> None:
    place = an_organization(engine)
    requires_approvals(place, 2)
    admin = a_user(place, "admin")
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "approved", actor=admin)
    with_role(place, admin, "member")
    assert problem_of(merged(place, review_id))["given"] == 1
    assert tree(place) == {}
