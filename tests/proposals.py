"""Steps of the pipeline over HTTP: propose, submit, decide, merge; each waits for its outcome and expects success."""

from collections.abc import Callable, Sequence

import httpx
from pydantic import JsonValue

from tests.client import Client, Json, Organization, Person, a_project, an_organization, ok

WAIT = {"Prefer": "wait=25"}


def a_place(api: Client) -> tuple[Organization, str]:
    """A new organization and a project of its owner's."""
    organization = an_organization(api)
    return organization, a_project(organization.owner)


def creates(path: str, content: str = "text\n", description: str | None = None) -> Json:
    carried: Json = {"content": content} if description is None else {"content": content, "description": description}
    return {"action": "create", "path": path, "content": carried}


def updates(memory_id: str, content: str | None = None, description: str | None = None) -> Json:
    given = {"content": content, "description": description}
    carried: Json = {name: text for name, text in given.items() if text is not None}
    return {"action": "update", "memory_id": memory_id, "content": carried}


def renames(memory_id: str, new_path: str) -> Json:
    return {"action": "rename", "memory_id": memory_id, "new_path": new_path}


def deletes(memory_id: str) -> Json:
    return {"action": "delete", "memory_id": memory_id}


def restores(memory_id: str, path: str | None = None, **content: JsonValue) -> Json:
    named: Json = {"path": path, "content": content or None}
    return {
        "action": "restore",
        "memory_id": memory_id,
        **{name: value for name, value in named.items() if value is not None},
    }


def a_draft(author: Client, project_id: str, *operations: Json, title: str = "A change") -> Json:
    body: Json = {"project_id": project_id, "title": title, "operations": [*operations]}
    return ok(author.post("/drafts", body), 201)


def append(author: Client, draft: Json, *operations: Json) -> httpx.Response:
    return author.post(
        f"/drafts/{draft['draft_id']}/operations", {"operations": [*operations]}, headers=at_version(draft)
    )


def at_version(resource: Json) -> dict[str, str]:
    """The precondition that a resource is as it was read."""
    return {"If-Match": f'"{resource.get("version", resource.get("revision"))}"'}


def inside(body: Json, name: str) -> Json:
    """A member that is an object."""
    value = body[name]
    assert isinstance(value, dict), value
    return value


def listed(body: Json, name: str) -> list[Json]:
    """A member that is a list of objects."""
    value = body[name]
    assert isinstance(value, list), value
    return [item for item in value if isinstance(item, dict)]


def texts(body: Json, name: str) -> list[str]:
    """A member that is a list of texts."""
    value = body[name]
    assert isinstance(value, list), value
    return [str(item) for item in value]


def all_items(client: Client, path: str, *, limit: int) -> list[Json]:
    """Every item of a list, page by page."""
    page = ok(client.get(path, limit=limit))
    found = listed(page, "items")
    while page["next_cursor"] is not None:
        assert len(listed(page, "items")) == limit
        page = ok(client.get(path, limit=limit, cursor=str(page["next_cursor"])))
        found += listed(page, "items")
    return found


def operations_of(draft: Json) -> list[Json]:
    return listed(draft, "operations")


def provisional(draft: Json, position: int = 0) -> str:
    """The provisional id of what the operation at a position creates."""
    return str(operations_of(draft)[position]["memory_id"])


def final(provisional_id: str) -> str:
    return "mem_" + provisional_id.removeprefix("prv_")


def references(drafts: Sequence[Json]) -> list[JsonValue]:
    return [{"draft_id": draft["draft_id"], "expected_draft_version": draft["version"]} for draft in drafts]


def submit(author: Client, *drafts: Json, title: str = "A Review", **more: JsonValue) -> httpx.Response:
    body: Json = {"project_id": drafts[0]["project_id"], "title": title, "drafts": references(drafts), **more}
    return author.post("/reviews", body, headers=WAIT)


def a_review(author: Client, *drafts: Json, title: str = "A Review") -> Json:
    """A Review of Drafts, submitted."""
    return ok(submit(author, *drafts, title=title), 201)


def resubmit(author: Client, review: Json, *drafts: Json, **more: JsonValue) -> httpx.Response:
    body: Json = {"expected_review_version": review["version"], "drafts": references(drafts), **more}
    return author.post(f"/reviews/{review['review_id']}/submissions", body, headers=WAIT)


def decide(client: Client, review: Json, decision: str, **more: JsonValue) -> httpx.Response:
    body: Json = {"decision": decision, "expected_review_version": review["version"], **more}
    return client.post(f"/reviews/{review['review_id']}/decisions", body, headers=WAIT)


def withdraw(client: Client, review: Json, **more: JsonValue) -> httpx.Response:
    body: Json = {"expected_review_version": review["version"], **more}
    return client.post(f"/reviews/{review['review_id']}/withdrawals", body, headers=WAIT)


def merge(client: Client, review: Json, *, if_match: str | None = None, **more: JsonValue) -> httpx.Response:
    body: Json = {"expected_review_version": review["version"], **more}
    headers = WAIT if if_match is None else {**WAIT, "If-Match": if_match}
    return client.post(f"/reviews/{review['review_id']}/merges", body, headers=headers)


def published(owner: Client, project_id: str, *operations: Json, title: str = "A change") -> list[str]:
    """Publish operations as one Review, merged directly; the ids of what they create, in order."""
    draft = a_draft(owner, project_id, *operations)
    ok(merge(owner, a_review(owner, draft, title=title)))
    return [final(str(operation["memory_id"])) for operation in operations_of(draft) if operation["action"] == "create"]


def select(client: Client, project_id: str, memory_ids: Sequence[str]) -> httpx.Response:
    """Replace a project's selection at the revision it has now."""
    path = f"/projects/{project_id}/org-selections"
    revision = ok(client.get(path))["revision"]
    return client.put(path, {"resource_ids": [*memory_ids]}, headers={**WAIT, "If-Match": f'"{revision}"'})


def reread(client: Client, resource: Json) -> Json:
    """A Review or a Draft as it is now."""
    kind = "review" if "submissions" in resource else "draft"
    return ok(client.get(f"/{kind}s/{resource[f'{kind}_id']}"))


def while_away(organization: Organization, project_id: str, person: Person, act: Callable[[], object]) -> None:
    """Do something while a member has left the project, so that the member's open Drafts hold nothing."""
    members = f"/projects/{project_id}/members"
    assert organization.owner.delete(f"{members}/{person.user_id}").status_code == 204
    act()
    ok(organization.owner.post(members, {"user_id": person.user_id, "role": "member"}), 201)


def outcome(client: Client, operation: Json) -> Json:
    """The operation once it is finished."""
    return ok(client.get(f"/operations/{operation['operation_id']}", wait=25))
