"""An organization whose memories are used over HTTP and, in the same way, in a model; what both come to is compared.

Every save has a mark of its own in its texts, so that an answer with a mark that it may not show is found out anywhere
in it. All texts have one word in common: a search for that shows everything that is visible.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue
from sqlalchemy import Engine

from models.rules.roles import PERMISSIONS
from models.store.organizations import create_organization
from tests.client import Client, Json, Organization, a_name, a_person, a_project, a_token, ok
from tests.memory_answers import compared, found_by_route, found_by_tool, left_out_of, members_of, refusal_of, rows_of
from tests.memory_model import FORBIDDEN, Caller, Found, MemoryModel, ModelSession, Outcome
from tests.sessions import a_session, a_workstream

WORD = "ember"

_numbers = itertools.count(1)


@dataclass
class Play:
    """The owner's token permits all; `rest` has a client that reads and writes, by user."""

    organization: Organization
    rest: Mapping[str, Client]
    model: MemoryModel
    sessions: list[ModelSession] = field(default_factory=list)

    @property
    def owner(self) -> str:
        return self.organization.owner_id

    @property
    def administrator(self) -> Client:
        return self.organization.owner

    # What is done

    def call(self, session: ModelSession, action: str, scope: str | None = None, name: str = "note") -> Outcome:
        """Use the tool, as who opened the session."""
        mark = _a_mark()
        expected = self.model.call(session, action, scope, name, _description(mark))
        arguments: Json = {"action": action}
        if action in ("save", "get", "delete"):
            arguments["name"] = name
        if action == "save":
            arguments |= _texts(mark)
        if action in ("list", "search"):
            arguments["limit"] = 50
        if action == "search":
            arguments["query"] = WORD
        if scope is not None:
            arguments["scope"] = scope
        response = self.rest[session.opened_by].post(f"/sessions/{session.session_id}/tools/memory", arguments)
        seen = refusal_of(response) or found_by_tool(ok(response)["result"])
        return compared(response, seen, expected, session, action, scope, name)

    def turn(self, session: ModelSession) -> Outcome:
        """Ask what a turn is given."""
        expected = self.model.turn(session)
        body: Json = {"messages": [{"role": "user", "content": WORD}], "k": 50}
        response = self.rest[session.opened_by].post(f"/sessions/{session.session_id}/context", body)
        given = ok(response)
        assert given["in_scope"] == len(expected.rows), (session, given)
        assert given["enabled"] == (session.workstream not in self.model.without_memory)
        return compared(response, Found(rows_of(given), left_out_of(given)), expected, session)

    def ask(
        self, caller: Caller, verb: str, scope: str | None = None, scope_id: str | None = None, name: str = "note"
    ) -> Outcome:
        """Use a route that is not a session's."""
        mark = _a_mark()
        expected = self.model.ask(caller, verb, scope, scope_id, name, _description(mark))
        client = self.administrator if caller.serves else self.rest[caller.user]
        where = {name: value for name, value in (("scope", scope), ("scope_id", scope_id)) if value is not None}
        if verb == "save":
            response = client.post("/memories", {"name": name, **_texts(mark), **where})
        elif verb == "search":
            response = client.post("/memories/search", {"query": WORD, "limit": 50, **where})
        else:
            method, path = _ROUTES[verb]
            response = client.request(method, path.format(name=name), query=where)
        seen = refusal_of(response) or found_by_route(verb, response)
        return compared(response, seen, expected, caller, verb, scope, scope_id, name)

    def administer(self) -> None:
        """Whoever may `admin.memories` sees exactly what there is, by list and by search, and nobody else anything."""
        asked: tuple[tuple[str, dict[str, str]], ...] = (
            ("/admin/memories", {}),
            ("/admin/memories/search", {"q": WORD, "limit": "50"}),
        )
        for path, query in asked:
            shown = members_of(ok(self.administrator.request("GET", path, query=query)))
            found = {tuple(str(row[part]) for part in ("scope", "scope_id", "name", "description")) for row in shown}
            expected = self.model.all_rows()
            assert found == expected if len(expected) <= len(shown) else found < expected
            for client in self.rest.values():
                assert refusal_of(client.request("GET", path, query=query)) == FORBIDDEN

    def memory_ids(self) -> list[str]:
        """Of all that the organization has."""
        return [str(row["memory_id"]) for row in members_of(ok(self.administrator.get("/admin/memories")))]

    # What it happens in

    def open(self, user: str, kind: str, *, opened_by: str | None = None, **fields: JsonValue) -> ModelSession:
        """A new session of a user, opened by the service token where somebody else opens it."""
        client = self.rest[user]
        if opened_by is not None:
            client, fields = self.administrator, {**fields, "acting_user_id": user}
        made = a_session(client, kind=kind, **fields)
        workstream, project = (_text(made[name]) for name in ("workstream_id", "project_id"))
        if workstream is not None:
            self.model.workstreams.setdefault(workstream, user)
        session = ModelSession(
            str(made["session_id"]), kind, user, opened_by or user, workstream, project, made["read_only"] is True
        )
        self.sessions.append(session)
        return session

    def a_workstream(self, user: str) -> str:
        made = a_workstream(self.rest[user])
        self.model.workstreams[made] = user
        return made

    def a_project(self, admin: str) -> str:
        made = a_project(self.rest[admin])
        self.model.projects[made] = "active"
        self.model.members[made, admin] = "admin"
        return made

    def join(self, project: str, user: str, role: str | None) -> None:
        """Give a membership, change it, or end it."""
        path, known = f"/projects/{project}/members", self.model.members.pop((project, user), None)
        if role is None:
            if known is not None:
                assert self.administrator.delete(f"{path}/{user}").status_code == 204
            return
        if known is None:
            ok(self.administrator.post(path, {"user_id": user, "role": role}), 201)
        else:
            ok(self.administrator.patch(f"{path}/{user}", {"role": role}))
        self.model.members[project, user] = role

    def becomes(self, project: str, state: str) -> None:
        """Archive a project, bring it back, or delete it."""
        path = f"/projects/{project}"
        version = ok(self.administrator.get(path))["version"]
        assert isinstance(version, int)
        if state == "deleted":
            assert self.administrator.delete(path, version=version).status_code == 204
            self.model.clear(("project", project))
        else:
            ok(self.administrator.patch(path, {"state": state}, version=version))
        self.model.projects[project] = state

    def drop_workstream(self, workstream: str) -> list[ModelSession]:
        """Delete a workstream; its sessions, which went with it."""
        assert self.administrator.delete(f"/workstreams/{workstream}").status_code == 204
        del self.model.workstreams[workstream]
        self.model.without_memory.discard(workstream)
        self.model.clear(("workstream", workstream))
        gone = [session for session in self.sessions if session.workstream == workstream]
        self.sessions = [session for session in self.sessions if session.workstream != workstream]
        return gone

    def turn_memory(self, workstream: str, *, on: bool) -> None:
        """Move the persona memory lever."""
        ok(self.administrator.patch(f"/workstreams/{workstream}", {"memory_enabled": on}))
        (self.model.without_memory.discard if on else self.model.without_memory.add)(workstream)

    def let_write_global(self, who: str) -> None:
        version = ok(self.administrator.get("/admin/organization"))["version"]
        assert isinstance(version, int)
        ok(self.administrator.patch("/admin/organization", {"global_write": who}, version=version))
        self.model.global_write = who


def a_play(api: Client, engine: Engine) -> Play:
    """A new organization with an owner and two members, each with a workstream."""
    with engine.begin() as connection:
        made = create_organization(
            connection,
            name=a_name("Isolated"),
            owner_name="Olga Owner",
            owner_email=None,
            permissions=[*PERMISSIONS],
            request_id="test",
        )
    owner = api.with_token(made.token.secret)
    owner_id = str(made.owner.user_id)
    organization = Organization(str(made.organization.org_id), owner_id, owner)
    people = [a_person(organization) for _ in range(2)]
    rest = {owner_id: owner.with_token(a_token(owner))} | {person.user_id: person.client for person in people}
    roles = dict.fromkeys(rest, "member") | {owner_id: "owner"}
    play = Play(organization, rest, MemoryModel(roles))
    for user in rest:
        play.a_workstream(user)
    return play


_ROUTES = {
    "list": ("GET", "/memories"),
    "get": ("GET", "/memories/{name}"),
    "delete": ("DELETE", "/memories/{name}"),
    "history": ("GET", "/memories/{name}/history"),
    "restore": ("POST", "/memories/{name}/restorations"),
}


def _a_mark() -> str:
    return f"mark{next(_numbers)}x"


def _description(mark: str) -> str:
    return f"About {mark}."


def _texts(mark: str) -> Json:
    return {"description": _description(mark), "content": f"{WORD} {mark}"}


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
