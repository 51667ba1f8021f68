"""Operations on several Drafts: all or nothing, each by its local name once (publication.md §6)."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from pydantic import JsonValue

from tests.client import Client, Json, a_member, items, ok, problem, refused_fields
from tests.feed import every_event
from tests.proposals import a_draft, a_place, a_review, creates, deletes, listed, operations_of, reread

BATCHES = "/draft-operation-batches"


def an_item(name: str, draft: Json, operation: Mapping[str, JsonValue], *, version: object = None) -> Json:
    expected = draft["version"] if version is None else version
    return {
        "local_operation_id": name,
        "draft_id": draft["draft_id"],
        "expected_draft_version": int(str(expected)),
        "operation": {**operation},
    }


def send(client: Client, *batch: Json, key: str | None = None) -> httpx.Response:
    return client.post(BATCHES, {"operations": [*batch]}, key=key)


def accepted(client: Client, *batch: Json) -> list[Json]:
    return listed(ok(send(client, *batch)), "accepted")


def paths(client: Client, draft: Json) -> list[str]:
    return [str(operation["path"]) for operation in operations_of(reread(client, draft))]


def test_a_batch_adds_to_several_drafts_and_names_each_operation_and_the_version_after_it(api: Client) -> None:
    organization, project_id = a_place(api)
    one, two = (a_draft(organization.owner, project_id) for _ in range(2))
    made = accepted(
        organization.owner,
        an_item("a", one, creates("a.md")),
        an_item("b", two, creates("b.md")),
        an_item("c", one, creates("c.md")),
    )
    assert [(each["local_operation_id"], each["draft_id"], each["version"]) for each in made] == [
        ("a", one["draft_id"], 2),
        ("b", two["draft_id"], 2),
        ("c", one["draft_id"], 2),
    ]
    stored = operations_of(reread(organization.owner, one))
    assert [operation["operation_id"] for operation in stored] == [made[0]["operation_id"], made[2]["operation_id"]]
    assert paths(organization.owner, one) == ["a.md", "c.md"]
    assert reread(organization.owner, two)["version"] == 2
    told = [event["draft_id"] for event in every_event(organization.owner, "/draft-events")]
    assert told.count(one["draft_id"]) == 2


def test_one_invalid_operation_refuses_the_whole_batch_naming_its_place(api: Client) -> None:
    organization, project_id = a_place(api)
    one, two = (a_draft(organization.owner, project_id) for _ in range(2))
    refused = send(
        organization.owner,
        an_item("a", one, creates("a.md")),
        an_item("b", two, creates("b.md")),
        an_item("c", one, creates("../c.md")),
        an_item("d", two, deletes("mem_nowhere")),
    )
    body = problem(refused, 422, "operation_invalid")
    assert (body["index"], body["field"]) == (2, "path")
    assert problem(send(organization.owner, an_item("d", two, deletes("mem_x"))), 422, "target_missing")["index"] == 0
    for draft in (one, two):
        assert (reread(organization.owner, draft)["version"], paths(organization.owner, draft)) == (1, [])
    ok(send(organization.owner, an_item("a", one, creates("a.md"))))


def test_a_known_operation_is_answered_as_the_first_time_and_adds_nothing(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    batch = [an_item("a", draft, creates("a.md")), an_item("b", draft, creates("b.md"))]
    first = accepted(organization.owner, *batch)
    assert accepted(organization.owner, *batch) == first
    assert accepted(organization.owner, an_item("a", draft, creates("other.md"), version=7)) == first[:1]
    ok(organization.owner.delete(f"/drafts/{draft['draft_id']}", version=2))
    assert accepted(organization.owner, *batch) == first
    assert paths(organization.owner, draft) == ["a.md", "b.md"]


def test_a_batch_may_hold_known_and_new_operations(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    first = accepted(organization.owner, an_item("a", draft, creates("a.md")))
    both = accepted(
        organization.owner,
        an_item("a", draft, creates("a.md")),
        an_item("b", draft, creates("b.md"), version=2),
    )
    assert both[0] == first[0]
    assert (both[1]["version"], paths(organization.owner, draft)) == (3, ["a.md", "b.md"])


def test_a_client_that_lost_the_answer_sends_the_same_with_what_it_has_done_since(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    sent = an_item("a", draft, creates("a.md"))
    ok(send(organization.owner, sent))
    made = accepted(organization.owner, sent, an_item("b", draft, creates("b.md")))
    assert [each["version"] for each in made] == [2, 3]
    # Once something else has changed the Draft, the version before is stale.
    refused = send(organization.owner, sent, an_item("c", draft, creates("c.md")))
    body = problem(refused, 409, "version_conflict")
    assert (body["index"], body["expected"], body["actual"]) == (1, 1, 3)


def test_of_two_equal_batches_at_once_one_has_its_effect_and_both_its_answer(api: Client) -> None:
    organization, project_id = a_place(api)
    drafts = [a_draft(organization.owner, project_id) for _ in range(3)]
    batch = [an_item(f"{draft['draft_id']}", draft, creates("a.md")) for draft in drafts]
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: accepted(organization.owner, *batch), range(6)))
    assert all(answer == answers[0] for answer in answers)
    assert [paths(organization.owner, draft) for draft in drafts] == [["a.md"]] * 3
    assert {reread(organization.owner, draft)["version"] for draft in drafts} == {2}


def test_batches_that_meet_on_the_same_drafts_in_another_order_both_end(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id)
    drafts = [a_draft(author.client, project_id) for _ in range(2)]

    def try_to(number: int) -> int:
        order = drafts if number % 2 else drafts[::-1]
        return send(
            author.client, *(an_item(f"{number}-{each['draft_id']}", each, creates("a.md")) for each in order)
        ).status_code

    with ThreadPoolExecutor(4) as threads:
        statuses = list(threads.map(try_to, range(4)))
    assert sorted(statuses) == [200, 409, 409, 409]


def test_the_same_name_is_another_operation_of_another_user(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id)
    for client in (organization.owner, author.client):
        draft = a_draft(client, project_id)
        (made,) = accepted(client, an_item("a", draft, creates("a.md")))
        assert made["draft_id"] == draft["draft_id"]


def test_a_draft_that_is_not_the_callers_is_not_found_whatever_else_is_wrong(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id)
    own, foreign = a_draft(organization.owner, project_id), a_draft(author.client, project_id)
    batch = [an_item("a", own, creates("a.md")), an_item("b", foreign, {"action": "nonsense"})]
    problem(send(organization.owner, *batch), 404, "not_found")
    problem(send(organization.owner, an_item("a", {**own, "draft_id": "drf_x"}, creates("a.md"))), 404, "not_found")


@pytest.mark.usefixtures("worker")
def test_a_draft_takes_nothing_while_it_is_submitted_stale_or_closed_and_the_first_by_precedence_is_told(
    api: Client,
) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    closed, submitted, stale = (a_draft(owner, project_id, creates(f"{name}.md")) for name in "abc")
    ok(owner.delete(f"/drafts/{closed['draft_id']}", version=1))
    a_review(owner, submitted)
    of_stale = an_item("a", stale, creates("x.md"), version=9)
    of_submitted = an_item("b", submitted, creates("x.md"))
    of_closed = an_item("c", closed, creates("x.md"), version=2)
    assert problem(send(owner, of_stale), 409, "version_conflict")["index"] == 0
    assert problem(send(owner, of_stale, of_submitted), 409, "draft_submitted")["index"] == 1
    assert problem(send(owner, of_stale, of_submitted, of_closed), 409, "draft_closed")["index"] == 2
    ok(owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(send(owner, of_stale), 409, "project_archived")


def test_a_viewer_adds_nothing(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id)
    draft = a_draft(author.client, project_id)
    ok(organization.owner.patch(f"/projects/{project_id}/members/{author.user_id}", {"role": "viewer"}))
    problem(send(author.client, an_item("a", draft, creates("a.md"))), 403, "forbidden")


def test_a_name_that_stands_twice_is_refused(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    refused = send(organization.owner, *(an_item("a", draft, creates(path)) for path in ("a.md", "b.md")))
    body = problem(refused, 422, "duplicate_id")
    assert (body["index"], body["local_operation_id"]) == (1, "a")


@pytest.mark.parametrize(
    ("name", "rule"), [("", "too_short"), ("x" * 201, "too_long"), ("a b", "visible_ascii"), ("ü", "visible_ascii")]
)
def test_a_local_name_is_of_1_to_200_visible_characters(api: Client, name: str, rule: str) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    refused = send(organization.owner, an_item(name, draft, creates("a.md")))
    assert refused_fields(refused) == {("operations[0].local_operation_id", rule)}
    ok(send(organization.owner, an_item("!" * 200, draft, creates("a.md"))))


def test_a_batch_holds_1_to_1000_operations(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    assert refused_fields(send(organization.owner)) == {("operations", "too_short")}
    batch = [an_item(str(number), draft, creates(f"{number}.md")) for number in range(1_001)]
    assert refused_fields(send(organization.owner, *batch)) == {("operations", "too_long")}
    assert len(accepted(organization.owner, *batch[:1_000])) == 1_000
    refused = problem(send(organization.owner, {**batch[1_000], "expected_draft_version": 2}), 422, "operation_invalid")
    assert (refused["rule"], refused["index"]) == ("too_many", 0)


def test_a_batch_is_repeatable_by_an_idempotency_key_too(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    first = send(organization.owner, an_item("a", draft, creates("a.md")), key="k")
    again = send(organization.owner, an_item("a", draft, creates("a.md")), key="k")
    assert (again.content, again.headers["idempotency-replayed"]) == (first.content, "true")
    assert len(items(organization.owner.get("/drafts"))) == 1
