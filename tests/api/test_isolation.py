"""Who sees and writes which structured memories, by every verb of every surface, against a model (memory.md §2)."""

from dataclasses import replace
from itertools import product

import pytest
from sqlalchemy import Engine

from tests.client import Client, Json, ok, problem
from tests.memory_model import GLOBAL, SCOPES, Caller, ModelSession
from tests.memory_play import Play, a_play

ACCESS = ("none", "viewer", "member", "admin", "revoked", "archived", "deleted", "owner without membership")
EVERY_SCOPE = (None, *SCOPES)


def a_peopled_play(api: Client, engine: Engine) -> Play:
    """An organization with a note of everybody's in every place that they have."""
    play = a_play(api, engine)
    play.ask(Caller(play.owner), "save")
    for workstream, user in [*play.model.workstreams.items()]:
        play.ask(Caller(user), "save", "user")
        play.ask(Caller(user), "save", "workstream", workstream)
        play.call(play.open(user, "coordinator"), "save")
        a_noted_project(play, user)
    return play


def a_noted_project(play: Play, admin: str) -> str:
    project = play.a_project(admin)
    play.call(play.open(admin, "coordinator", project_id=project), "save")
    return project


def a_session_with(play: Play, access: str, kind: str, *, read_only: bool) -> ModelSession:
    """A session of a member, or of the owner, whose attached project has become this."""
    owner, member, other = play.rest
    user = owner if access.startswith("owner") else member
    own = next(workstream for workstream, of in play.model.workstreams.items() if of == user)
    if access == "none":
        return play.open(user, kind, workstream_id=own, read_only=read_only)
    project = a_noted_project(play, other)
    play.join(project, user, access if access in ("viewer", "admin") else "member")
    session = play.open(user, kind, workstream_id=own, project_id=project, read_only=read_only)
    if access in ("archived", "deleted"):
        play.becomes(project, access)
    if access in ("revoked", "owner without membership"):
        play.join(project, user, None)
    return session


def use_every_verb(play: Play, session: ModelSession) -> None:
    play.turn(session)
    for scope in EVERY_SCOPE:
        for action in ("get", "list", "search"):
            play.call(session, action, scope)
        for action in ("save", "delete"):
            play.call(session, action, scope, "mine")
    play.turn(session)


@pytest.mark.parametrize("mode", ["read-only", "writing"])
@pytest.mark.parametrize("kind", ["interactive", "coordinator"])
def test_a_session_reads_and_writes_what_the_table_says_by_every_verb(
    api: Client, engine: Engine, kind: str, mode: str
) -> None:
    play = a_peopled_play(api, engine)
    sessions = [a_session_with(play, access, kind, read_only=mode == "read-only") for access in ACCESS]
    for session in sessions:
        use_every_verb(play, session)
    play.administer()


def test_the_routes_outside_of_sessions_reach_what_the_table_says_by_every_verb(api: Client, engine: Engine) -> None:
    play, stranger = a_peopled_play(api, engine), a_peopled_play(api, engine)
    owner, member, other = play.rest
    for caller in (Caller(member), Caller(owner), Caller(owner, serves=True)):
        workstreams = (*play.model.workstreams, *stranger.model.workstreams)
        places = [(None, None), ("global", None), ("user", None), ("workstream", None), (None, other)]
        places += [(scope, at) for scope in SCOPES for at in (caller.user, other, *play.model.projects)[:3]]
        places += [("workstream", workstream) for workstream in workstreams]
        for verb, (scope, scope_id) in product(("get", "list", "search", "history"), places):
            play.ask(caller, verb, scope, scope_id)
        for verb, (scope, scope_id) in product(("save", "restore", "delete", "restore", "history"), places):
            play.ask(caller, verb, scope, scope_id, "mine")
    play.administer()
    stranger.administer()


def test_a_guest_sees_global_the_workstream_and_the_own_user_scope(api: Client, engine: Engine) -> None:
    play = a_peopled_play(api, engine)
    owner, host, guest = play.rest
    workstream = next(workstream for workstream, of in play.model.workstreams.items() if of == host)
    session = play.open(guest, "interactive", opened_by=owner, workstream_id=workstream)
    assert play.model.readable(session) == {
        "global": GLOBAL,
        "workstream": ("workstream", workstream),
        "user": ("user", guest),
    }
    use_every_verb(play, session)
    use_every_verb(play, replace(session, opened_by=guest))
    use_every_verb(play, play.open(guest, "coordinator", opened_by=owner, workstream_id=workstream))
    play.administer()


def test_a_session_is_unknown_to_everybody_else_by_every_verb(api: Client, engine: Engine) -> None:
    play, stranger = a_play(api, engine), a_play(api, engine)
    owner, member, other = play.rest
    session = play.open(member, "interactive")
    save: Json = {"action": "save", "name": "note", "description": "About it.", "content": "It."}
    asked: list[tuple[str, str, Json | None]] = [
        ("GET", "", None),
        ("GET", "/tools", None),
        ("GET", "/injections", None),
        ("POST", "/context", {"messages": []}),
        ("POST", "/tools/memory", save),
        ("POST", "/tools/memory", {"action": "list"}),
        ("POST", "/tools/memory", {"action": "nonsense"}),
        ("DELETE", "", None),
    ]
    for client in (play.administrator, play.rest[owner], play.rest[other], *stranger.rest.values()):
        for method, below, body in asked:
            response = client.request(method, f"/sessions/{session.session_id}{below}", body=body)
            problem(response, 404, "not_found")
    play.turn(session)


def test_with_the_lever_off_no_session_of_the_workstream_has_memory(api: Client, engine: Engine) -> None:
    play = a_peopled_play(api, engine)
    _, member, _ = play.rest
    workstream = next(workstream for workstream, of in play.model.workstreams.items() if of == member)
    sessions = [play.open(member, kind, workstream_id=workstream) for kind in ("interactive", "coordinator")]
    elsewhere = play.open(member, "interactive")
    play.turn_memory(workstream, on=False)
    for session in (*sessions, elsewhere):
        use_every_verb(play, session)
    play.ask(Caller(member), "save", "workstream", workstream)
    play.turn_memory(workstream, on=True)
    for session in sessions:
        play.turn(session)


def test_where_only_administrators_write_global_memories_nobody_else_does_by_any_way(
    api: Client, engine: Engine
) -> None:
    play = a_peopled_play(api, engine)
    play.let_write_global("admin")
    for user in play.rest:
        use_every_verb(play, play.open(user, "interactive"))
        for verb, name in product(("save", "delete", "restore"), ("note", "mine")):
            play.ask(Caller(user), verb, name=name)
    play.administer()


def test_an_administrator_reads_and_deletes_what_the_organization_has_and_nothing_else(
    api: Client, engine: Engine
) -> None:
    play, stranger = a_peopled_play(api, engine), a_peopled_play(api, engine)
    for memory_id in stranger.memory_ids():
        for method, client in product(("GET", "DELETE"), (play.administrator, *play.rest.values())):
            problem(client.request(method, f"/admin/memories/{memory_id}"), 404, "not_found")
    for memory_id in play.memory_ids():
        for method, client in product(("GET", "DELETE"), play.rest.values()):
            problem(client.request(method, f"/admin/memories/{memory_id}"), 403, "forbidden")
        ok(play.administrator.get(f"/admin/memories/{memory_id}"))
        ok(play.administrator.delete(f"/admin/memories/{memory_id}"))
    play.model.rows.clear()
    play.administer()
    for session in play.sessions:
        play.turn(session)
    stranger.administer()
