"""The change feed as server-sent events (tenancy.md)."""

import time

from tests.client import Client, a_member, a_project, items, refused_fields
from tests.feed import a_stream, every_event, now
from tests.proposals import a_draft, a_place
from tests.stack import Stack, start_api

ENDED_S = 5.0


def test_an_event_arrives_with_the_cursor_after_it_as_its_id(api: Client) -> None:
    organization, project_id = a_place(api)
    with a_stream(organization.owner, after="latest") as stream:
        assert stream.response.headers["content-type"].startswith("text/event-stream")
        assert stream.response.headers["cache-control"] == "no-store"
        draft, began = a_draft(organization.owner, project_id), time.monotonic()
        event = stream.event()
        assert time.monotonic() - began < 2
        (same,) = items(organization.owner.get("/events", after=stream.ids[0]))
        assert event == same
        assert event["resource_id"] == draft["draft_id"]
        assert items(organization.owner.get("/events", after=stream.ids[-1])) == []


def test_a_stream_without_a_cursor_begins_with_the_oldest_event_that_is_kept(api: Client) -> None:
    organization, project_id = a_place(api)
    for number in range(3):
        a_draft(organization.owner, project_id, title=str(number))
    expected = every_event(organization.owner)
    with a_stream(organization.owner) as stream:
        assert [stream.event() for _ in expected] == expected


def test_a_stream_goes_on_after_the_last_event_id_whatever_the_query_says(api: Client) -> None:
    organization, project_id = a_place(api)
    with a_stream(organization.owner, after="latest") as stream:
        a_draft(organization.owner, project_id)
        stream.event()
        resumed = {"Last-Event-ID": stream.ids[-1]}
    missed = a_draft(organization.owner, project_id)
    with a_stream(organization.owner, headers=resumed, after="latest") as stream:
        assert stream.event()["resource_id"] == missed["draft_id"]


def test_two_last_event_ids_are_invalid(api: Client) -> None:
    organization, _ = a_place(api)
    headers = [(b"last-event-id", b"a"), (b"last-event-id", b"b")]
    refused = organization.owner.request("GET", "/events/stream", headers=headers)
    assert refused_fields(refused) == {("Last-Event-ID", "repeated")}


def test_a_stream_ends_soon_after_its_token_is_revoked(api: Client) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, project_id)
    (token,) = items(organization.owner.get("/admin/tokens", user_id=member.user_id))
    with a_stream(member.client) as stream:
        began = time.monotonic()
        organization.owner.delete(f"/admin/tokens/{token['token_id']}")
        stream.rest()
        assert time.monotonic() - began < ENDED_S


def test_a_stream_ends_soon_after_a_membership_is_lost_and_tells_nothing_of_the_project_meanwhile(api: Client) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, project_id)
    a_member(organization, a_project(organization.owner))
    with a_stream(member.client, after=now(member.client)) as stream:
        began = time.monotonic()
        organization.owner.delete(f"/projects/{project_id}/members/{member.user_id}")
        organization.owner.patch(f"/projects/{project_id}", {"name": "Renamed"}, version=1)
        assert "project.updated" not in "\n".join(stream.rest())
        assert time.monotonic() - began < ENDED_S


def test_streams_and_waits_end_at_once_when_the_server_does(api: Client, stack: Stack) -> None:
    organization, _ = a_place(api)
    service = start_api(stack)
    with a_stream(Client(service.url, organization.owner.token)) as stream:
        began = time.monotonic()
        service.stop()
        stream.rest()
        assert time.monotonic() - began < ENDED_S
