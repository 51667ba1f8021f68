"""Comments on a submission, or on a line of what it proposes (publication.md §4)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.client import Client, Json, a_member, items, ok, problem
from tests.client import refused_fields as fields
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    all_items,
    append,
    creates,
    decide,
    deletes,
    merge,
    provisional,
    published,
    renames,
    reread,
    resubmit,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")


def comments(review: Json) -> str:
    return f"/reviews/{review['review_id']}/comments"


def test_a_comment_names_its_submission_and_author(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    commenter = a_member(organization, project_id)
    comment = ok(commenter.client.post(comments(review), {"body": "Why?\n"}), 201)
    assert comment == {
        "comment_id": comment["comment_id"],
        "submission": 1,
        "author_id": commenter.user_id,
        "body": "Why?\n",
        "anchor_path": None,
        "anchor_line": None,
        "current_line": None,
        "outdated": False,
        "resolved": False,
        "created_at": comment["created_at"],
    }
    assert items(organization.owner.get(comments(review))) == [comment]
    assert ok(organization.owner.get(f"/reviews/{review['review_id']}"))["version"] == 1


def test_a_comment_is_anchored_to_a_line_of_the_proposed_result(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("old.md", "one\ntwo\n"))
    draft = a_draft(organization.owner, project_id, renames(known, "caf\u00e9.md"), updates(known, "1\n2\n3"))
    review = a_review(organization.owner, draft)
    body: Json = {"body": "Here", "anchor_path": "cafe\u0301.md", "anchor_line": 3}
    comment = ok(organization.owner.post(comments(review), body), 201)
    assert (comment["anchor_path"], comment["anchor_line"], comment["current_line"]) == ("caf\u00e9.md", 3, 3)


@pytest.mark.parametrize(
    ("anchor", "field", "rule"),
    [
        ({"anchor_path": "new.md", "anchor_line": 3}, "anchor_line", "too_large"),
        ({"anchor_path": "gone.md", "anchor_line": 1}, "anchor_path", "deleted"),
        ({"anchor_path": "old.md", "anchor_line": 1}, "anchor_path", "unknown"),
        ({"anchor_path": "untouched.md", "anchor_line": 1}, "anchor_path", "unknown"),
        ({"anchor_path": "../new.md", "anchor_line": 1}, "anchor_path", "dot_segment"),
        ({"anchor_path": "a\0b", "anchor_line": 1}, "anchor_path", "nul"),
    ],
)
def test_an_anchor_that_is_no_line_of_the_result_is_invalid(api: Client, anchor: Json, field: str, rule: str) -> None:
    organization, project_id = a_place(api)
    moved, gone, _ = published(
        organization.owner, project_id, creates("old.md", "1\n2\n"), creates("gone.md"), creates("untouched.md")
    )
    draft = a_draft(organization.owner, project_id, renames(moved, "new.md"), deletes(gone))
    review = a_review(organization.owner, draft)
    document = problem(organization.owner.post(comments(review), {"body": "x", **anchor}), 422, "operation_invalid")
    assert (document["field"], document["rule"]) == (field, rule)
    assert items(organization.owner.get(comments(review))) == []


def test_what_a_schema_can_tell_of_a_comment_is_refused(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    refused: list[tuple[Json, tuple[str, str]]] = [
        ({}, ("body", "missing")),
        ({"body": ""}, ("body", "empty")),
        ({"body": "x" * 65_537}, ("body", "too_long")),
        ({"body": "x", "anchor_path": "a.md"}, ("anchor_line", "missing")),
        ({"body": "x", "anchor_line": 1}, ("anchor_path", "missing")),
        ({"body": "x", "anchor_path": "a.md", "anchor_line": 0}, ("anchor_line", "too_small")),
        ({"body": "x", "anchor_path": "a.md", "anchor_line": "1"}, ("anchor_line", "type")),
        ({"body": "x", "resolved": True}, ("resolved", "unknown")),
    ]
    for body, error in refused:
        assert fields(organization.owner.post(comments(review), body)) == {error}
    ok(organization.owner.post(comments(review), {"body": "x" * 65_536}), 201)


@pytest.mark.parametrize(("body", "rule"), [(" \n", "blank"), ("a\0b", "nul")])
def test_a_body_that_says_nothing_or_cannot_be_stored_is_invalid(api: Client, body: str, rule: str) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    document = problem(organization.owner.post(comments(review), {"body": body}), 422, "operation_invalid")
    assert (document["field"], document["rule"]) == ("body", rule)


def test_comments_are_listed_oldest_first(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    written = [ok(organization.owner.post(comments(review), {"body": text}), 201) for text in ("a", "b", "c")]
    assert all_items(organization.owner, comments(review), limit=2) == written


def test_a_comment_stays_with_its_submission(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md", "1\n2\n"))
    review = a_review(organization.owner, draft)
    body: Json = {"body": "x", "anchor_path": "a.md", "anchor_line": 2}
    ok(organization.owner.post(comments(review), body), 201)
    review = ok(decide(organization.owner, review, "rejected"))
    draft = ok(organization.owner.get(f"/drafts/{draft['draft_id']}"))
    draft = ok(append(organization.owner, draft, creates("b.md")))
    ok(resubmit(organization.owner, review, draft))
    ok(organization.owner.post(comments(review), {"body": "y"}), 201)
    shown = items(organization.owner.get(comments(review)))
    assert [(comment["submission"], comment["anchor_line"]) for comment in shown] == [(1, 2), (2, None)]


def test_a_comment_is_resolved_and_reopened(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    comment = ok(organization.owner.post(comments(review), {"body": "x"}), 201)
    path = f"{comments(review)}/{comment['comment_id']}"
    member = a_member(organization, project_id).client
    assert ok(member.patch(path, {"resolved": True})) == {**comment, "resolved": True}
    assert items(member.get(comments(review)))[0]["resolved"] is True
    assert ok(member.patch(path, {"resolved": False})) == comment
    assert fields(member.patch(path, {"resolved": "yes"})) == {("resolved", "type")}
    assert fields(member.patch(path, {"resolved": True, "body": "y"})) == {("body", "unknown")}


def test_a_comment_of_another_review_is_not_found(api: Client) -> None:
    organization, project_id = a_place(api)
    first, second = (
        a_review(organization.owner, a_draft(organization.owner, project_id, creates(f"{name}.md"))) for name in "ab"
    )
    comment = ok(organization.owner.post(comments(first), {"body": "x"}), 201)
    for path in (f"{comments(second)}/{comment['comment_id']}", f"{comments(first)}/cmt_unknown"):
        problem(organization.owner.patch(path, {"resolved": True}), 404, "not_found")


def test_viewers_read_comments_and_write_none(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    comment = ok(organization.owner.post(comments(review), {"body": "x"}), 201)
    viewer = a_member(organization, project_id, "viewer").client
    assert items(viewer.get(comments(review))) == [comment]
    problem(viewer.post(comments(review), {"body": "y"}), 403, "forbidden")
    problem(viewer.patch(f"{comments(review)}/{comment['comment_id']}", {"resolved": True}), 403, "forbidden")


def test_closed_reviews_are_still_discussed_but_not_in_an_archived_project(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md", "1\n")))
    ok(merge(organization.owner, review))
    body: Json = {"body": "Thanks", "anchor_path": "a.md", "anchor_line": 1}
    comment = ok(organization.owner.post(comments(review), body), 201)
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(organization.owner.post(comments(review), body), 409, "project_archived")
    path = f"{comments(review)}/{comment['comment_id']}"
    problem(organization.owner.patch(path, {"resolved": True}), 409, "project_archived")


def test_the_same_key_writes_one_comment(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    first = ok(organization.owner.post(comments(review), {"body": "x"}, key="k"), 201)
    assert ok(organization.owner.post(comments(review), {"body": "x"}, key="k"), 201) == first
    assert len(items(organization.owner.get(comments(review)))) == 1


def on_line(path: str, line: int) -> Json:
    return {"body": f"{path}:{line}", "anchor_path": path, "anchor_line": line}


def places(client: Client, review: Json) -> dict[str, tuple[object, object]]:
    """Where each comment is now, by its body: the line, and whether it is outdated."""
    shown = items(client.get(comments(review)))
    return {str(comment["body"]): (comment["current_line"], comment["outdated"]) for comment in shown}


def amended(author: Client, review: Json, draft: Json, *operations: Json) -> Json:
    """The Review, rejected and submitted again with more operations."""
    review = ok(decide(author, review, "rejected"))
    return ok(resubmit(author, review, ok(append(author, reread(author, draft), *operations))))


def test_a_comment_is_carried_to_the_same_line_of_later_submissions(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    draft = a_draft(owner, project_id, creates("a.md", "one\ntwo\nthree\n"), creates("b.md", "b\n"))
    review = a_review(owner, draft)
    for body in (on_line("a.md", 1), on_line("a.md", 2), on_line("a.md", 3), on_line("b.md", 1), {"body": "none"}):
        ok(owner.post(comments(review), body), 201)
    review = amended(owner, review, draft, updates(provisional(draft), "new\none\nTWO\nthree\n"))
    expected = {"a.md:1": (2, False), "a.md:2": (None, True), "a.md:3": (4, False), "b.md:1": (1, False)}
    assert places(owner, review) == {**expected, "none": (None, False)}
    review = amended(owner, review, draft, updates(provisional(draft), "one\ntwo\nthree\n"))
    expected = {"a.md:1": (1, False), "a.md:2": (2, False), "a.md:3": (3, False), "b.md:1": (1, False)}
    assert places(owner, review) == {**expected, "none": (None, False)}


def test_a_comment_follows_a_memory_that_moves_and_not_what_takes_its_path(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    draft = a_draft(owner, project_id, creates("a.md", "one\ntwo\n"))
    review = a_review(owner, draft)
    ok(owner.post(comments(review), on_line("a.md", 2)), 201)
    moved = [renames(provisional(draft), "b.md"), updates(provisional(draft), "zero\none\ntwo\n")]
    review = amended(owner, review, draft, *moved, creates("a.md", "one\ntwo\n"))
    assert places(owner, review) == {"a.md:2": (3, False)}


def test_a_comment_on_what_is_no_longer_proposed_is_outdated(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [known] = published(owner, project_id, creates("known.md", "1\n"))
    kept = a_draft(owner, project_id, creates("kept.md", "1\n"), updates(known, "2\n"))
    left_out = a_draft(owner, project_id, creates("left-out.md", "1\n"))
    review = a_review(owner, kept, left_out)
    for path in ("kept.md", "known.md", "left-out.md"):
        ok(owner.post(comments(review), on_line(path, 1)), 201)
    review = amended(owner, review, kept, deletes(known))
    assert places(owner, review) == {
        "kept.md:1": (1, False),
        "known.md:1": (None, True),
        "left-out.md:1": (None, True),
    }


def test_an_outdated_comment_keeps_its_anchor_and_is_still_resolved(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    draft = a_draft(owner, project_id, creates("a.md", "one\n"))
    review = a_review(owner, draft)
    comment = ok(owner.post(comments(review), on_line("a.md", 1)), 201)
    review = amended(owner, review, draft, updates(provisional(draft), "other\n"))
    resolved = ok(owner.patch(f"{comments(review)}/{comment['comment_id']}", {"resolved": True}))
    assert resolved == {**comment, "current_line": None, "outdated": True, "resolved": True}


def test_a_new_comment_is_on_the_latest_submission(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    draft = a_draft(owner, project_id, creates("a.md", "one\n"))
    review = amended(owner, a_review(owner, draft), draft, updates(provisional(draft), "one\ntwo\n"))
    comment = ok(owner.post(comments(review), on_line("a.md", 2)), 201)
    assert (comment["submission"], comment["current_line"], comment["outdated"]) == (2, 2, False)


def test_resolving_again_changes_nothing_and_is_recorded_once(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    review = a_review(owner, a_draft(owner, project_id, creates("a.md")))
    comment = ok(owner.post(comments(review), {"body": "x"}), 201)
    path = f"{comments(review)}/{comment['comment_id']}"
    with ThreadPoolExecutor(4) as threads:
        answers = [ok(answer) for answer in threads.map(lambda _: owner.patch(path, {"resolved": True}), range(8))]
    assert answers == [{**comment, "resolved": True}] * 8
    recorded = items(owner.get("/admin/audit-events", action="comment.resolve"))
    assert [entry["resource_id"] for entry in recorded] == [comment["comment_id"]]


def test_300_comments_page_completely_and_exactly_once_while_others_write(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    review = a_review(owner, a_draft(owner, project_id, creates("a.md", "1\n")))

    def write(_: int) -> str:
        return str(ok(owner.post(comments(review), on_line("a.md", 1)), 201)["comment_id"])

    with ThreadPoolExecutor(4) as threads:
        written = set(threads.map(write, range(300)))
        going_on = [threads.submit(write, number) for number in range(60)]
        seen = [str(comment["comment_id"]) for comment in all_items(owner, comments(review), limit=20)]
        written_since = {each.result() for each in going_on}
    in_order = [str(comment["comment_id"]) for comment in all_items(owner, comments(review), limit=100)]
    assert (len(in_order), set(in_order)) == (360, written | written_since)
    assert written <= set(seen)
    assert seen == in_order[: len(seen)]
