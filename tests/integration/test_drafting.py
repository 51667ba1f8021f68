"""Drafts: what an append accepts, what hides them, and what discarding them does (publication.md §2)."""

import pytest
from sqlalchemy import Engine

from activities.accepting import ProposedOperation
from activities.drafting import append, discard, retitle
from models.errors import Problem
from models.identifiers import CommitId, MemoryId, final_id
from models.rules.folding import Action
from models.rules.limits import MAX_DRAFT_OPERATIONS
from models.schemas.drafts import StateBody
from models.store.draft_views import draft_body, draft_result
from models.store.locks import DraftRow
from tests.commands import a_review, decided, merged, published, selected
from tests.invariants import check_invariants
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
    discarded,
    execute,
    fetch,
    joins,
    leaves,
    provisional_ids,
    ref_of,
    refused,
    renames,
    updates,
    with_state,
)


def at(path: str, action: Action, **carries: str) -> ProposedOperation:
    return ProposedOperation(action, path=path, **carries)  # type: ignore[arg-type]


def targets(place: Somewhere, draft: DraftRow) -> list[str]:
    rows = fetch(
        place,
        "select memory_id from draft_operations where org_id = :o and draft_id = :d order by index",
        d=draft.draft_id,
    )
    return [row.memory_id for row in rows]


# --- targets


def test_a_path_is_resolved_once_against_the_draft_so_far_and_stored_as_the_id(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    draft = a_draft(
        place,
        at("1.md", Action.RENAME, new_path="x.md"),
        at("x.md", Action.UPDATE, content="more\n"),
        at("2.md", Action.RENAME, new_path="1.md"),
        at("1.md", Action.DELETE),
        creates("1.md"),
        at("1.md", Action.UPDATE, description="new"),
    )
    (made,) = provisional_ids(place, draft.draft_id)
    assert targets(place, draft) == [one, one, two, two, made, made]


def test_a_path_is_looked_up_in_nfc_and_at_the_drafts_base(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("caf\u00e9.md"))
    base = ref_of(place)[0]
    published(place, renames(one, "x.md"))
    draft = a_draft(place, at("cafe\u0301.md", Action.DELETE), base=base)
    assert targets(place, draft) == [one]
    now = refused(lambda: a_draft(place, at("caf\u00e9.md", Action.DELETE)))
    assert (now.code, now.context["index"]) == ("target_missing", 0)


@pytest.mark.parametrize("action", [Action.UPDATE, Action.RENAME, Action.DELETE])
def test_a_target_that_is_not_there_at_that_point_is_missing(engine: Engine, action: Action) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("1.md"))
    operation = ProposedOperation(action, one, new_path="x.md" if action is Action.RENAME else None)
    problem = refused(lambda: a_draft(place, creates("2.md"), deletes(one), operation))
    assert (problem.code, problem.context["index"], problem.context["memory_id"]) == ("target_missing", 2, one)


def test_one_invalid_operation_refuses_the_whole_append_and_stores_nothing(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("1.md"))
    problem = refused(lambda: appended(place, draft, creates("2.md"), creates("3.md", "\n \n")))
    assert (problem.code, problem.context) == (
        "operation_invalid",
        {"index": 1, "field": "content.content", "rule": "blank"},
    )
    assert current(place, draft) == draft
    assert len(targets(place, draft)) == 1


def test_a_draft_holds_so_many_operations_and_no_more(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, *(creates(f"{number}.md") for number in range(MAX_DRAFT_OPERATIONS - 1)))
    draft = appended(place, draft, creates("last.md"))
    problem = refused(lambda: appended(place, draft, creates("more.md")))
    assert (problem.code, problem.context["rule"], problem.context["index"]) == ("operation_invalid", "too_many", 0)


def test_an_existing_target_has_to_be_selected_unless_it_was_deleted_upstream(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    base = ref_of(place)[0]
    other = a_project(place)
    selected(place, other, [two])
    problem = refused(lambda: a_draft(place, updates(one, "x\n"), project_id=other))
    assert (problem.code, problem.context) == ("memory_not_selected", {"index": 0, "memory_id": one})
    published(place, deletes(one))
    assert a_draft(place, updates(one, "x\n"), project_id=other, base=base).base_version == 1


def test_a_provisional_id_of_another_open_draft_of_the_same_author_and_project_is_a_target(engine: Engine) -> None:
    place = an_organization(engine)
    author = a_member(place)
    (made,) = provisional_ids(place, a_draft(place, creates("a.md"), author=author).draft_id)
    assert a_draft(place, updates(made, "more\n"), author=author).version == 1
    assert refused(lambda: a_draft(place, updates(made, "more\n"))).code == "target_missing"
    elsewhere = a_project(place)
    joins(place, author, project_id=elsewhere)
    assert (
        refused(lambda: a_draft(place, updates(made, "more\n"), author=author, project_id=elsewhere)).code
        == "target_missing"
    )


def test_the_result_of_a_draft_shows_what_it_builds_on_before_and_after_submission(engine: Engine) -> None:
    place = an_organization(engine)
    first = a_draft(place, creates("a.md", "text\n"))
    (made,) = provisional_ids(place, first.draft_id)
    second = a_draft(place, renames(made, "b.md"))

    def shown() -> list[tuple[str, str | None, str | None]]:
        with engine.connect() as connection:
            result = draft_result(connection, current(place, second))
        return [(item.memory_id, _path(item.base), _path(item.result)) for item in result.memories]

    assert shown() == [(made, "a.md", "b.md")]
    a_review(place, first, second)
    assert shown() == [(made, "a.md", "b.md")]


def _path(state: StateBody | None) -> str | None:
    return None if state is None else state.path


# --- base


def test_a_base_is_the_current_ref_unless_a_commit_is_named(engine: Engine) -> None:
    place = an_organization(engine)
    assert (a_draft(place).base_commit_id, a_draft(place).base_version) == (None, 0)
    published(place, creates("1.md"))
    first, _ = ref_of(place)
    published(place, creates("2.md"))
    assert (a_draft(place).base_commit_id, a_draft(place).base_version) == ref_of(place)
    assert a_draft(place, base=first).base_version == 1


def test_a_project_commit_stands_for_its_organization_commit(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("1.md"))
    project_commit = fetch(place, "select commit_id from project_refs where org_id = :o")[0].commit_id
    draft = a_draft(place, base=project_commit)
    assert (draft.base_commit_id, draft.base_version) == ref_of(place)
    other = a_project(place)
    assert refused(lambda: a_draft(place, base=project_commit, project_id=other)).code == "not_found"
    assert refused(lambda: a_draft(place, base=CommitId("0" * 64))).code == "not_found"


def test_coordination_tells_freshness_and_whether_current_changed_what_the_draft_touches(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    draft = a_draft(place, updates(one, "x\n"))

    def shown() -> tuple[str, str, bool] | None:
        with engine.connect() as connection:
            seen = draft_body(connection, current(place, draft)).coordination
        return None if seen is None else (seen.freshness, seen.reconciliation, seen.has_upstream_changes)

    assert shown() == ("current", "clean", False)
    published(place, updates(two, "y\n"))
    assert shown() == ("behind", "unknown", False)
    published(place, updates(one, "z\n"))
    assert shown() == ("behind", "unknown", True)
    discarded(place, draft)
    assert shown() is None


# --- state, author and version


def _writes(place: Somewhere, draft: DraftRow) -> list[Problem]:
    """What its author is answered who appends to a Draft and retitles it."""
    with acting(place, draft.author_id) as tx:
        return [
            refused(lambda: append(tx, draft.draft_id, expected_version=draft.version, operations=[])),
            refused(lambda: retitle(tx, draft.draft_id, expected_version=draft.version, title="x")),
        ]


def test_a_submitted_draft_takes_no_operations_until_it_is_rejected_or_withdrawn(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    review_id = a_review(place, draft)
    problems = _writes(place, current(place, draft))
    assert {(problem.code, problem.context["review_id"]) for problem in problems} == {("draft_submitted", review_id)}
    decided(place, review_id, "rejected")
    assert appended(place, current(place, draft), creates("b.md")).version == 4


def test_a_merged_or_discarded_draft_takes_nothing(engine: Engine) -> None:
    place = an_organization(engine)
    done, gone = a_draft(place, creates("a.md")), a_draft(place, creates("b.md"))
    merged(place, a_review(place, done))
    discarded(place, gone)
    for draft in (current(place, done), current(place, gone)):
        assert {problem.code for problem in _writes(place, draft)} == {"draft_closed"}
        assert refused(lambda draft=draft: discarded(place, draft)).code == "draft_closed"  # type: ignore[misc]


def test_another_version_fails_its_precondition_before_anything_else(engine: Engine) -> None:
    place = an_organization(engine)
    gone = discarded(place, a_draft(place))
    with acting(place) as tx:
        for write in (
            lambda: append(tx, gone.draft_id, expected_version=9, operations=[]),
            lambda: retitle(tx, gone.draft_id, expected_version=9, title="x"),
            lambda: discard(tx, gone.draft_id, expected_version=9),
        ):
            problem = refused(write)
            assert (problem.code, problem.context) == ("precondition_failed", {"expected": 9, "actual": 2})


def test_an_archived_project_takes_no_writes(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    with_state(place, place.project_id, "archived")
    problems = [*_writes(place, draft), refused(lambda: a_draft(place)), refused(lambda: discarded(place, draft))]
    assert {problem.code for problem in problems} == {"project_archived"}


def test_an_open_draft_is_its_authors_alone_but_an_admin_may_discard_it_unseen(engine: Engine) -> None:
    place = an_organization(engine)
    author, colleague = a_member(place), a_member(place, "admin")
    draft = a_draft(place, creates("a.md"), author=author)
    with acting(place, colleague) as tx:
        assert refused(lambda: append(tx, draft.draft_id, expected_version=1, operations=[])).code == "not_found"
        assert refused(lambda: discard(tx, draft.draft_id, expected_version=1)).code == "not_found"
    assert discarded(place, draft, actor=a_user(place, "admin")).status == "discarded"
    (row,) = fetch(place, "select actor, detail from audit_events where org_id = :o and action = 'draft.discard'")
    assert row.detail["author_id"] == author
    check_invariants(engine, place.org_id)


def test_leaving_a_project_hides_the_drafts_there_until_return(engine: Engine) -> None:
    place = an_organization(engine)
    author = a_member(place)
    draft = a_draft(place, creates("a.md"), author=author)
    leaves(place, author)
    assert {problem.code for problem in _writes(place, draft)} == {"not_found"}
    assert refused(lambda: discarded(place, draft, actor=author)).code == "not_found"
    joins(place, author, "viewer")
    assert {problem.code for problem in _writes(place, draft)} == {"forbidden"}
    execute(place, "update project_members set role = 'member' where org_id = :o")
    assert discarded(place, draft, actor=author).status == "discarded"


def test_what_a_draft_creates_becomes_the_memory_of_the_same_number(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    (made,) = provisional_ids(place, draft.draft_id)
    merged(place, a_review(place, draft))
    assert final_id(made) == MemoryId(made.replace("prv_", "mem_"))
    assert [row.memory_id for row in fetch(place, "select memory_id from memories where org_id = :o")] == [
        final_id(made)
    ]


def test_every_change_of_a_draft_is_told_to_its_author_with_its_version(engine: Engine) -> None:
    place = an_organization(engine)
    draft = appended(place, a_draft(place, creates("a.md")), creates("b.md"))
    review_id = a_review(place, draft)
    decided(place, review_id, "rejected")
    merged(place, a_review(place, current(place, draft)))
    rows = fetch(
        place,
        "select kind, version, user_id from events where org_id = :o and resource_id = :d order by id",
        d=draft.draft_id,
    )
    assert [(row.kind, row.version) for row in rows] == [
        ("draft.created", 1),
        ("draft.appended", 2),
        ("draft.submitted", 3),
        ("draft.reopened", 4),
        ("draft.submitted", 5),
        ("draft.merged", 6),
    ]
    assert {row.user_id for row in rows} == {draft.author_id}
