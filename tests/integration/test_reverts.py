"""Reverts: a Draft on a commit that takes back what it did (publication.md §5)."""

from functools import partial

import pytest
from sqlalchemy import Engine

from activities.reverts import revert
from models.errors import MemoryNotSelected, NotFound, OperationInvalid
from models.identifiers import CommitId, ProjectId, UserId
from models.store.draft_views import draft_body
from models.store.locks import DraftRow
from tests.commands import a_review, merged, problem_of, published, result_of, selected, submitted
from tests.contested import contested
from tests.fuse import fused, over
from tests.invariants import check_invariants
from tests.rows import (
    Somewhere,
    a_draft,
    a_project,
    a_user,
    acting,
    an_organization,
    creates,
    deletes,
    fetch,
    ref_of,
    refused,
    renames,
    restores,
    tree,
    updates,
    with_state,
)


def head(place: Somewhere) -> CommitId:
    commit_id, _ = ref_of(place)
    assert commit_id is not None
    return commit_id


def reverted(
    place: Somewhere, commit_id: CommitId, *, project_id: ProjectId | None = None, actor: UserId | None = None
) -> DraftRow:
    with acting(place, actor) as tx:
        return revert(tx, project_id=project_id or place.project_id, commit_id=commit_id)


def actions(place: Somewhere, draft: DraftRow) -> set[tuple[str, str]]:
    with place.engine.connect() as connection:
        return {(each.action, each.memory_id) for each in draft_body(connection, draft).operations}


def test_a_revert_deletes_restores_and_changes_back_what_its_commit_did(engine: Engine) -> None:
    place = an_organization(engine)
    edited, moved, gone = published(
        place, creates("edited.md", "one\n", "First"), creates("moved.md"), creates("gone.md", "gone\n", "Gone")
    )
    before = tree(place)
    (made,) = published(
        place,
        creates("made.md"),
        updates(edited, "two\n", "Second"),
        renames(moved, "elsewhere.md"),
        deletes(gone),
    )
    commit_id = head(place)
    draft = reverted(place, commit_id)
    assert (draft.base_commit_id, draft.title, draft.status) == (commit_id, 'Revert "A Review"', "open")
    assert actions(place, draft) == {("delete", made), ("update", edited), ("rename", moved), ("restore", gone)}
    merged(place, a_review(place, draft))
    assert tree(place) == before
    check_invariants(engine, place.org_id)


def test_a_revert_of_a_revert_brings_the_commit_back(engine: Engine) -> None:
    place = an_organization(engine)
    kept, gone = published(place, creates("kept.md", "one\n"), creates("gone.md"))
    published(place, updates(kept, "two\n"), deletes(gone), creates("made.md"))
    done = tree(place)
    for _ in range(2):
        merged(place, a_review(place, reverted(place, head(place))))
    assert tree(place) == done
    check_invariants(engine, place.org_id)


def test_the_first_commit_is_reverted_to_nothing(engine: Engine) -> None:
    place = an_organization(engine)
    memories = published(place, creates("a.md"), creates("b.md"))
    draft = reverted(place, head(place))
    assert actions(place, draft) == {("delete", memory_id) for memory_id in memories}


def test_a_swap_of_paths_is_swapped_back(engine: Engine) -> None:
    place = an_organization(engine)
    one, other = published(place, creates("a.md"), creates("b.md"))
    before = tree(place)
    published(place, renames(one, "b.md"), renames(other, "a.md"))
    merged(place, a_review(place, reverted(place, head(place))))
    assert tree(place) == before


def test_a_revert_keeps_what_was_published_since_where_it_does_not_contradict(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", "one\n", "First"))
    published(place, updates(memory_id, "two\n"))
    bad = head(place)
    published(place, creates("later.md"))
    merged(place, a_review(place, reverted(place, bad)))
    assert tree(place)[memory_id] == ("a.md", "First", "one\n")


def test_a_revert_of_what_was_changed_again_needs_reconciliation(engine: Engine) -> None:
    place = an_organization(engine)
    edited, gone = published(place, creates("a.md", "one\n"), creates("b.md"))
    published(place, updates(edited, "two\n"), deletes(gone))
    bad = head(place)
    published(place, updates(edited, "three\n"), restores(gone, content="other\n"))
    draft = reverted(place, bad)
    problem = problem_of(submitted(place, draft))
    assert problem["code"] == "reconciliation_required"
    assert sorted(contested(problem)[draft.draft_id]) == ["body.overlap", "body.overlap"]


def test_what_a_revert_changes_has_to_be_selected_and_what_it_restores_has_not(engine: Engine) -> None:
    place = an_organization(engine)
    other = a_project(place)
    edited, gone = published(place, creates("a.md"), creates("b.md"))
    published(place, deletes(gone))
    reverted(place, head(place), project_id=other)
    published(place, updates(edited, "new\n"))
    problem = refused(lambda: reverted(place, head(place), project_id=other))
    assert isinstance(problem, MemoryNotSelected)
    assert problem.context["memory_id"] == edited
    selected(place, other, [edited])
    reverted(place, head(place), project_id=other)


def test_only_a_commit_of_the_organization_is_reverted(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("a.md"))
    (row,) = fetch(place, "select commit_id from project_refs where org_id = :o")
    elsewhere = an_organization(engine)
    published(elsewhere, creates("a.md"))
    for commit_id in (row.commit_id, head(elsewhere), CommitId("0" * 64)):
        problem = refused(partial(reverted, place, commit_id))
        assert isinstance(problem, NotFound)
        assert problem.context["field"] == "commit_id"


@pytest.mark.parametrize("moves", [False, True])
def test_a_revert_that_no_draft_holds_is_refused(
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    moves: bool,  # noqa: FBT001  (a parameter)
) -> None:
    place = an_organization(engine)
    memories = published(place, *(creates(f"{number}.md") for number in range(3)))
    published(place, *(updates(memory_id, "new\n") for memory_id in memories))
    if moves:  # two operations each
        published(place, *(op for m in memories[:2] for op in (renames(m, f"to/{m}"), updates(m, "newer\n"))))
    monkeypatch.setattr("activities.reverts.MAX_DRAFT_OPERATIONS", 3 if moves else 2)
    problem = refused(lambda: reverted(place, head(place)))
    assert isinstance(problem, OperationInvalid)
    assert problem.context["rule"] == "too_many"


def test_whoever_may_not_propose_may_not_revert(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("a.md"))
    stranger = a_user(place)
    assert refused(lambda: reverted(place, head(place), actor=stranger)).code == "not_found"
    with_state(place, place.project_id, "archived")
    assert refused(lambda: reverted(place, head(place))).code == "project_archived"


def test_a_long_message_is_cut_in_the_title(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    operation = submitted(place, draft, title="x" * 200)
    assert operation.review_id is not None
    merged(place, operation.review_id)
    title = reverted(place, head(place)).title
    assert (len(title), title[:9], title[-2:]) == (200, 'Revert "x', 'x"')


def test_a_revert_cut_anywhere_makes_one_draft_or_none(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md", "one\n"))
    published(place, updates(memory_id, "two\n"))
    pool, fuse = fused(engine)
    here = over(pool, place)
    with fuse.arm(pool):
        reverted(here, head(place))
    made = 1
    for cut in range(len(fuse.statements) + 1):
        with fuse.arm(pool, cut), pytest.raises(Exception, match=r"cut|closed"):
            reverted(here, head(place))
        drafts = fetch(place, "select draft_id from drafts where org_id = :o and status = 'open'")
        assert len(drafts) in (made, made + 1)
        made = len(drafts)
    pool.dispose()
    rows = fetch(
        place,
        """
        select count(o.draft_id) as operations from drafts d
        left join draft_operations o on o.org_id = d.org_id and o.draft_id = d.draft_id
        where d.org_id = :o and d.status = 'open' group by d.draft_id
        """,
    )
    assert {row.operations for row in rows} == {1}
    check_invariants(engine, place.org_id)


def test_a_merged_revert_counts_what_it_takes_back(engine: Engine) -> None:
    place = an_organization(engine)
    edited, gone = published(place, creates("a.md", "one\n"), creates("b.md"))
    published(place, updates(edited, "two\n"), deletes(gone))
    result = result_of(merged(place, a_review(place, reverted(place, head(place)))))
    assert (result["applied_operation_count"], result["created"]) == (2, [])
