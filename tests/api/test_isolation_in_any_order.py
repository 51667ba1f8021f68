"""Whoever gets and loses access in whatever order: every call sees what the model says that moment (memory.md §2)."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from sqlalchemy import Engine

from tests.client import Client, problem
from tests.machines import run_machine
from tests.memory_model import SCOPES, Caller, ModelSession
from tests.memory_play import Play, a_play

Call = tuple[int, str, str | None, str]

numbers = st.integers(0, 11)
scopes = st.sampled_from((None, None, None, *SCOPES))
names = st.sampled_from(("one", "two"))
calls = st.tuples(numbers, st.sampled_from(("save", "save", "get", "delete", "list", "search", "turn")), scopes, names)
requests = st.tuples(
    numbers, st.sampled_from(("save", "get", "delete", "list", "search", "history", "restore")), scopes, numbers, names
)


class Access(RuleBasedStateMachine):
    """An owner and two members with two projects; each draw is a number, modulo what there is."""

    api: Client
    engine: Engine
    play: Play

    @initialize()
    def begin(self) -> None:
        self.play = a_play(self.api, self.engine)
        for user in self.users[1:]:
            self.play.a_project(user)
        for user in self.users:
            self.play.open(user, "coordinator")
            for project in self._attachable(user):
                self.play.open(user, "interactive", workstream_id=self._own_workstream(user), project_id=project)

    @rule(who=numbers, which=numbers, kind=st.sampled_from(("interactive", "coordinator")), read_only=st.booleans())
    def open_session(self, who: int, which: int, kind: str, *, read_only: bool) -> None:
        user = self.users[who % 3]
        attachable = [None, *self._attachable(user)]
        workstream = self._own_workstream(user)
        fields = {} if workstream is None else {"workstream_id": workstream}
        self.play.open(user, kind, project_id=attachable[which % len(attachable)], read_only=read_only, **fields)

    @precondition(lambda self: self.play.sessions)
    @rule(chosen=st.lists(calls, min_size=1, max_size=6))
    def use_sessions(self, chosen: list[Call]) -> None:
        for which, action, scope, name in chosen:
            session = self._session(which)
            if action == "turn":
                self.play.turn(session)
            else:
                self.play.call(session, action, scope, name)

    @rule(chosen=st.lists(requests, min_size=1, max_size=3))
    def ask_outside_of_sessions(self, chosen: list[tuple[int, str, str | None, int, str]]) -> None:
        for who, verb, scope, at, name in chosen:
            user = self.users[who % 3]
            ids = {"workstream": [*self.play.model.workstreams, None], "user": [None, *self.users]}.get(
                scope or "", [None]
            )
            self.play.ask(Caller(user, serves=who == 0), verb, scope, ids[at % len(ids)], name)

    @rule(which=numbers, who=numbers, role=st.sampled_from(("viewer", "member", "admin", None, None)))
    def change_membership(self, which: int, who: int, role: str | None) -> None:
        active = [project for project, state in self.play.model.projects.items() if state == "active"]
        if active:
            self.play.join(active[which % len(active)], self.users[who % 3], role)
            self._all_turns()

    @rule(which=numbers)
    def archive_or_bring_back(self, which: int) -> None:
        project = [*self.play.model.projects][which % len(self.play.model.projects)]
        becomes = {"active": "archived", "archived": "active"}.get(self.play.model.projects[project])
        if becomes is not None:
            self.play.becomes(project, becomes)
            self._all_turns()

    @rule(which=numbers)
    def delete_a_project_now_and_then(self, which: int) -> None:
        project = [*self.play.model.projects][which % len(self.play.model.projects)]
        if which > 8 and self.play.model.projects[project] != "deleted":
            self.play.becomes(project, "deleted")
            self.play.a_project(self.users[which % 3])
            self._all_turns()

    @rule(which=numbers)
    def delete_a_workstream_now_and_then(self, which: int) -> None:
        workstream = [*self.play.model.workstreams][which % len(self.play.model.workstreams)]
        if which > 8 and len(self.play.model.workstreams) > 1:
            for session in self.play.drop_workstream(workstream):
                gone = self.play.rest[session.opened_by].get(f"/sessions/{session.session_id}")
                problem(gone, 404, "not_found")

    @rule(which=numbers)
    def move_the_lever(self, which: int) -> None:
        workstream = [*self.play.model.workstreams][which % len(self.play.model.workstreams)]
        self.play.turn_memory(workstream, on=workstream in self.play.model.without_memory)

    @rule(who=st.sampled_from(("member", "member", "admin")))
    def decide_who_writes_global(self, who: str) -> None:
        if who != self.play.model.global_write:
            self.play.let_write_global(who)

    def teardown(self) -> None:
        if hasattr(self, "play"):
            self._all_turns()
            self.play.administer()

    @property
    def users(self) -> list[str]:
        return [*self.play.rest]

    def _all_turns(self) -> None:
        for session in self.play.sessions:
            self.play.turn(session)

    def _session(self, which: int) -> ModelSession:
        return self.play.sessions[-1 - which % len(self.play.sessions)]

    def _attachable(self, user: str) -> list[str]:
        model = self.play.model
        return [each for each, state in model.projects.items() if state != "deleted" and (each, user) in model.members]

    def _own_workstream(self, user: str) -> str | None:
        return next((each for each, of in self.play.model.workstreams.items() if of == user), None)


def run(api: Client, engine: Engine, *, examples: int, steps: int, derandomize: bool) -> None:
    class Machine(Access):
        pass

    Machine.api, Machine.engine = api, engine
    run_machine(Machine, examples=examples, steps=steps, derandomize=derandomize)


def test_whoever_gets_and_loses_access_every_call_sees_what_the_model_says(api: Client, engine: Engine) -> None:
    run(api, engine, examples=4, steps=25, derandomize=True)


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_it_does_in_a_hundred_longer_plays_too(api: Client, engine: Engine) -> None:
    run(api, engine, examples=100, steps=60, derandomize=False)
