"""The change feed: what the caller may read, from any cursor, once and in order (tenancy.md)."""

import base64
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from tests.client import Client, Json, a_member, a_person, a_project, items, ok, problem, refused_fields
from tests.feed import every_event, kinds, now
from tests.proposals import a_draft, a_place, append, creates, published


def test_an_event_names_what_changed_by_its_kind_ids_version_and_time(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    page = ok(organization.owner.get("/events", limit=200))
    (event,) = [event for event in items(organization.owner.get("/events")) if event["kind"] == "draft.created"]
    assert event == {
        "kind": "draft.created",
        "resource_type": "draft",
        "resource_id": draft["draft_id"],
        "project_id": project_id,
        "version": 1,
        "at": draft["created_at"],
    }
    assert isinstance(page["next_cursor"], str)


def test_without_a_cursor_the_feed_begins_with_the_oldest_event_that_is_kept(api: Client) -> None:
    organization, project_id = a_place(api)
    assert every_event(organization.owner)[0]["resource_id"] in (organization.owner_id, project_id)


def test_latest_is_what_happens_from_now_on(api: Client) -> None:
    organization, project_id = a_place(api)
    page = ok(organization.owner.get("/events", after="latest"))
    assert page["items"] == []
    draft = a_draft(organization.owner, project_id)
    (event,) = items(organization.owner.get("/events", after=str(page["next_cursor"])))
    assert event["resource_id"] == draft["draft_id"]


def test_an_empty_page_names_where_to_resume_and_nothing_comes_twice(api: Client) -> None:
    organization, project_id = a_place(api)
    cursor, found = now(organization.owner), []
    for number in range(3):
        draft = a_draft(organization.owner, project_id, title=str(number))
        page = ok(organization.owner.get("/events", after=cursor, limit=1))
        found += items(organization.owner.get("/events", after=cursor, limit=1))
        cursor = str(page["next_cursor"])
        assert found[-1]["resource_id"] == draft["draft_id"]
        again = ok(organization.owner.get("/events", after=cursor))
        assert again["items"] == []
        cursor = str(again["next_cursor"])
    assert len(found) == 3


@pytest.mark.usefixtures("worker")
def test_everybody_is_told_of_publications_and_members_only_of_their_projects(api: Client) -> None:
    organization, project_id = a_place(api)
    member, stranger = a_member(organization, project_id, "viewer"), a_person(organization)
    published(organization.owner, project_id, creates("a.md"))
    of_commits = {"commit.published"}
    of_the_project = {"review.submitted", "review.merged", "projection.moved"}
    assert of_commits <= set(kinds(every_event(stranger.client)))
    assert of_the_project.isdisjoint(kinds(every_event(stranger.client)))
    assert of_commits | of_the_project <= set(kinds(every_event(member.client)))
    assert "draft.created" not in kinds(every_event(member.client))
    assert "draft.created" in kinds(every_event(organization.owner))


def test_a_draft_is_told_of_to_its_author_alone_and_only_while_the_author_may_read_its_project(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id)
    draft = a_draft(author.client, project_id)
    assert str(draft["draft_id"]) not in {str(event["resource_id"]) for event in every_event(organization.owner)}
    assert "draft.created" in kinds(every_event(author.client))
    organization.owner.delete(f"/projects/{project_id}/members/{author.user_id}")
    assert "draft.created" not in kinds(every_event(author.client))
    ok(organization.owner.post(f"/projects/{project_id}/members", {"user_id": author.user_id, "role": "viewer"}), 201)
    assert "draft.created" in kinds(every_event(author.client))


def test_another_organization_hears_nothing_and_its_cursors_are_foreign(api: Client) -> None:
    organization, project_id = a_place(api)
    other, _ = a_place(api)
    a_draft(organization.owner, project_id)
    ids = {str(event["resource_id"]) for event in every_event(organization.owner)}
    assert ids.isdisjoint(str(event["resource_id"]) for event in every_event(other.owner))
    assert refused_fields(other.owner.get("/events", after=now(organization.owner))) == {("after", "foreign")}


@pytest.mark.parametrize("cursor", ["x", "e30", "W10", "!", "bnVsbA", "WyJhIiwiYiIsMSwtMV0"])
def test_a_cursor_that_is_none_is_refused(api: Client, cursor: str) -> None:
    organization, _ = a_place(api)
    assert refused_fields(organization.owner.get("/events", after=cursor)) == {("after", "malformed")}
    assert refused_fields(organization.owner.get("/draft-events", cursor=cursor)) == {("cursor", "malformed")}
    stream = organization.owner.get("/events/stream", headers={"Last-Event-ID": cursor})
    assert refused_fields(stream) == {("Last-Event-ID", "malformed")}


@pytest.mark.parametrize("truth", [True, False])
@pytest.mark.parametrize("part", [2, 3])
def test_a_cursor_with_a_truth_value_for_a_number_is_refused(api: Client, part: int, *, truth: bool) -> None:
    organization, _ = a_place(api)
    parts = json.loads(base64.urlsafe_b64decode(now(organization.owner) + "=="))
    parts[part] = truth
    cursor = base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")
    assert refused_fields(organization.owner.get("/events", after=cursor)) == {("after", "malformed")}
    assert refused_fields(organization.owner.get("/draft-events", cursor=cursor)) == {("cursor", "malformed")}
    stream = organization.owner.get("/events/stream", headers={"Last-Event-ID": cursor})
    assert refused_fields(stream) == {("Last-Event-ID", "malformed")}


@pytest.mark.parametrize(("name", "value"), [("wait", "31"), ("wait", "-1"), ("limit", "0"), ("limit", "201")])
def test_waits_and_pages_have_their_bounds(api: Client, name: str, value: str) -> None:
    organization, _ = a_place(api)
    ((field, _),) = refused_fields(organization.owner.request("GET", "/events", query={name: value}))
    assert field == name


def forgotten(engine: Engine, organization_id: str, *, kept: int) -> None:
    """Remove all but the last events of an organization, as retention does."""
    with engine.begin() as connection:
        connection.execute(
            text("""
                with gone as (
                    delete from events where org_id = :o and id not in (
                        select id from events where org_id = :o order by xid desc, id desc limit :kept)
                    returning xid, id, at
                )
                insert into feed_floors (org_id, xid, id, at)
                select :o, xid, id, at from gone order by xid desc, id desc limit 1
            """),
            {"o": organization_id, "kept": kept},
        )


def test_a_cursor_before_what_retention_removed_has_expired_and_resumes_where_the_feed_begins(
    api: Client, engine: Engine
) -> None:
    organization, project_id = a_place(api)
    old = str(ok(organization.owner.get("/events", limit=1))["next_cursor"])
    a_draft(organization.owner, project_id)
    recent = now(organization.owner)
    a_draft(organization.owner, project_id)
    forgotten(engine, organization.organization_id, kept=1)
    for answer in (
        organization.owner.get("/events", after=old),
        organization.owner.get("/events", after=old, wait=1),
        organization.owner.get("/draft-events", cursor=old),
        organization.owner.get("/events/stream", after=old),
    ):
        resume = str(problem(answer, 410, "cursor_expired")["resume_from"])
        assert kinds(items(organization.owner.get("/events", after=resume))) == ["draft.created"]
    assert kinds(items(organization.owner.get("/events", after=recent))) == ["draft.created"]
    assert kinds(every_event(organization.owner)) == ["draft.created"]


def test_a_cursor_of_another_life_of_the_database_has_expired(api: Client) -> None:
    organization, _ = a_place(api)
    cursor = now(organization.owner)
    parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    parts[1] = "another"
    former = base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")
    resume = str(problem(organization.owner.get("/events", after=former), 410, "cursor_expired")["resume_from"])
    assert every_event(organization.owner) == items(organization.owner.get("/events", after=resume, limit=200))


def test_a_wait_ends_with_the_first_event_that_the_caller_may_see(api: Client) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, project_id, "viewer")
    cursor = now(member.client)
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(member.client.get, "/events", after=cursor, wait=20)
        time.sleep(0.3)
        draft = a_draft(organization.owner, project_id)  # hidden from the member
        time.sleep(0.5)
        assert not waiting.done()
        ok(organization.owner.patch(f"/projects/{project_id}", {"name": "Renamed"}, version=1))
        began = time.monotonic()
        (event,) = items(waiting.result())
        assert time.monotonic() - began < 2
    assert (event["kind"], event["resource_id"]) == ("project.updated", project_id)
    assert draft["draft_id"] != event["resource_id"]
    assert items(member.client.get("/events", after=str(ok(waiting.result())["next_cursor"]))) == []


def test_a_wait_that_runs_out_answers_an_empty_page(api: Client) -> None:
    organization, _ = a_place(api)
    cursor, began = now(organization.owner), time.monotonic()
    page = ok(organization.owner.get("/events", after=cursor, wait=1))
    assert 0.9 < time.monotonic() - began < 3
    assert page["items"] == []
    assert isinstance(page["next_cursor"], str)


def test_a_wait_by_a_token_that_is_revoked_meanwhile_is_refused(api: Client) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, project_id)
    (token,) = items(organization.owner.get("/admin/tokens", user_id=member.user_id))
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(member.client.get, "/events", after=now(member.client), wait=20)
        time.sleep(0.3)
        assert organization.owner.delete(f"/admin/tokens/{token['token_id']}").status_code == 204
        problem(waiting.result(timeout=5), 401, "unauthenticated")


def many_events(engine: Engine, organization_id: str, count: int) -> None:
    with engine.begin() as connection:
        connection.execute(
            text("""
                insert into events (org_id, kind, resource_type, resource_id, at)
                select :o, 'test', 'test', n::text, now() from generate_series(1, :count) as n
            """),
            {"o": organization_id, "count": count},
        )


def test_10_000_events_page_completely_and_exactly_once_while_writers_go_on(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    many_events(engine, organization.organization_id, 9_800)
    drafts: list[Json] = []

    def write(_: int) -> None:
        for _ in range(10):
            draft = a_draft(organization.owner, project_id)
            drafts.append(ok(append(organization.owner, draft, creates("a.md"))))

    with ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(write, number) for number in range(4)]
        cursor, found, written = "", [], False
        while True:
            page = organization.owner.request(
                "GET", "/events", query={"limit": 200} | ({"after": cursor} if cursor else {})
            )
            found += items(page)
            cursor = str(ok(page)["next_cursor"])
            if not items(page) and written:
                break
            written = all(each.done() for each in writing)
        assert [each.result() for each in writing] == [None] * 4
    told = [(str(event["kind"]), str(event["resource_id"]), event["version"]) for event in found]
    assert len(told) == len(set(told))
    assert {name for kind, name, _ in told if kind == "test"} == {str(number) for number in range(1, 9_801)}
    for draft in drafts:
        steps = [(kind, version) for kind, name, version in told if name == draft["draft_id"]]
        assert steps == [("draft.created", 1), ("draft.appended", 2)]


def test_a_project_that_is_deleted_is_told_to_those_who_may_still_read_it(api: Client) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, a_project(organization.owner))
    assert organization.owner.delete(f"/projects/{project_id}", version=1).status_code == 204
    assert "project.deleted" in kinds(every_event(organization.owner))
    assert "project.deleted" not in kinds(every_event(member.client))
