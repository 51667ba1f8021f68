"""What became of one's own Drafts (publication.md §6)."""

import pytest

from tests.client import Client, Json, a_member, ok
from tests.feed import every_event
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    append,
    at_version,
    creates,
    decide,
    merge,
    published,
    reread,
    submit,
)


def steps_of(client: Client, draft: Json) -> list[tuple[str, object]]:
    events = every_event(client, "/draft-events", limit=2)
    return [(str(event["event_type"]), event["version"]) for event in events if event["draft_id"] == draft["draft_id"]]


def test_an_event_names_the_draft_its_project_and_its_version(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    assert every_event(organization.owner, "/draft-events") == [
        {
            "event_type": "created",
            "draft_id": draft["draft_id"],
            "project_id": project_id,
            "version": 1,
            "created_at": draft["created_at"],
        }
    ]


@pytest.mark.usefixtures("worker")
def test_every_step_of_a_draft_is_told_once_with_its_version(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    draft = a_draft(owner, project_id)
    draft = ok(append(owner, draft, creates("a.md")))
    draft = ok(owner.patch(f"/drafts/{draft['draft_id']}", {"title": "Other"}, headers=at_version(draft)))
    published(owner, project_id, creates("elsewhere.md"))
    rejected = a_review(owner, draft)
    ok(decide(owner, rejected, "rejected"))
    review = ok(submit(owner, reread(owner, draft)), 201)
    ok(merge(owner, review))
    assert steps_of(owner, draft) == [
        ("created", 1),
        ("appended", 2),
        ("titled", 3),
        ("base_moved", 3),
        ("submitted", 4),
        ("reopened", 5),
        ("submitted", 6),
        ("merged", 7),
    ]


def test_a_discarded_draft_is_told_of_and_nobody_hears_of_anothers(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id)
    draft = a_draft(author.client, project_id)
    ok(organization.owner.delete(f"/drafts/{draft['draft_id']}"))
    assert steps_of(author.client, draft) == [("created", 1), ("discarded", 2)]
    assert every_event(organization.owner, "/draft-events") == []


def test_cursors_of_both_feeds_name_the_same_places(api: Client) -> None:
    organization, project_id = a_place(api)
    a_draft(organization.owner, project_id)
    cursor = str(ok(organization.owner.get("/events", limit=200))["next_cursor"])
    draft = a_draft(organization.owner, project_id)
    page = ok(organization.owner.get("/draft-events", cursor=cursor))
    assert [event["draft_id"] for event in every_event(organization.owner, "/draft-events", cursor=cursor)] == [
        draft["draft_id"]
    ]
    assert ok(organization.owner.get("/events", after=str(page["next_cursor"])))["items"] == []
