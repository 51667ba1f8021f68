"""Workstreams and sessions for black box tests, and the people of an organization that has a service token."""

from pydantic import JsonValue

from tests.client import Client, Json, Organization, ok


def a_workstream(client: Client, **fields: JsonValue) -> str:
    """The id of a new workstream of the client's user."""
    return str(ok(client.post("/workstreams", fields), 201)["workstream_id"])


def a_session(client: Client, **fields: JsonValue) -> Json:
    """A new session, interactive unless told otherwise."""
    return ok(client.post("/sessions", {"kind": "interactive", **fields}), 201)


def an_organization_with_service(api: Client) -> Organization:
    """The organization of the tests' service token: others have none, and only who holds `service` grants it."""
    me = ok(api.get("/me"))
    organization, user = me["organization"], me["user"]
    assert isinstance(organization, dict)
    assert isinstance(user, dict)
    return Organization(str(organization["organization_id"]), str(user["user_id"]), api)
