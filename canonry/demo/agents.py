"""The chapter of agents: what an agent notes on its own, and what a turn of another one is given."""

from http import HTTPStatus

from pydantic import JsonValue
from rich.padding import Padding
from rich.text import Text

from canonry.demo import script
from canonry.demo.display import NAME_WIDTH
from canonry.demo.people import MIRA, SUPPORT, WEI
from canonry.demo.scene import Scene
from canonry.demo.script import Note
from canonry.failures import CommandFailed
from canonry.refusals import Refused
from canonry.remote import Remote
from canonry.wording import counted
from models.schemas.context import ContextBody, InjectionBody
from models.schemas.sessions import SessionView
from models.schemas.tools import MemoryToolAnswer

INDENT = NAME_WIDTH + 5


def take_a_turn(scene: Scene) -> None:
    """Mira's agent notes what it learns, and Wei's is given what matters to a question."""
    scene.display.chapter(
        "What one agent has learned is there when another one needs it",
        "What agents note is read at once, without a review. Each note has a scope, and nobody is given one "
        "from a scope that is not theirs. A turn is given what matters to its question.",
    )
    with scene.display.step("Canonry", "opens a session for an agent of Mira's, and one for Wei's") as step:
        mira, wei = (_session(remote, scene.projects[SUPPORT]) for remote in (scene.cast.mira, scene.cast.wei))
        step.ends(
            "has a session for an agent of Mira's, and one for Wei's",
            *(f"{name}: {session}, with the project {SUPPORT}" for name, session in ((MIRA, mira), (WEI, wei))),
        )
    _take_notes(scene, mira)
    _correct(scene, mira)
    _ask(scene, wei)


def _session(remote: Remote, project_id: str) -> str:
    """The session of an earlier run, or a new one; the key finds it."""
    body: dict[str, JsonValue] = {"kind": "interactive", "project_id": project_id}
    return remote.post("/sessions", body, SessionView, key=f"demo/session/{project_id}").session_id


def _take_notes(scene: Scene, session_id: str) -> None:
    mira = scene.cast.mira
    missing = [note for note in script.NOTES if not _stands(mira, session_id, note)]
    if not missing:
        scopes = ", ".join(note.scope for note in script.NOTES)
        scene.display.before(MIRA, f"let an agent take {counted(len(script.NOTES), 'note')}: {scopes}")
        return
    with scene.display.step(MIRA, "lets an agent take notes") as step:
        saved = [_save(mira, session_id, note) for note in missing]
        step.ends("lets an agent take notes: for everybody, for the project, and for Mira alone", *saved)


def _correct(scene: Scene, session_id: str) -> None:
    mira = scene.cast.mira
    if _stands(mira, session_id, script.LEARNED):
        scene.display.before(MIRA, f"corrected it: “{script.CORRECTION}”", f"It noted {script.LEARNED.name}.")
        return
    with scene.display.step(MIRA, "corrects it") as step:
        given = _turn(mira, session_id, script.CLAIM, script.CORRECTION)
        nudge = "It was nudged a moment ago." if given.nudge is None else f"Nudge: {given.nudge.text}"
        saved = _save(mira, session_id, script.LEARNED)
        step.ends(f"corrects it: “{script.CORRECTION}”", nudge, f"It does: {saved}")


def _ask(scene: Scene, session_id: str) -> None:
    wei = scene.cast.wei
    for injection in wei.items(f"/sessions/{session_id}/injections", InjectionBody):
        known = counted(len(injection.memories), "memory", "memories")
        scene.display.before(WEI, f"asked: “{script.ASKED}”", f"The agent was given {known}, {injection.injection_id}")
        return
    with scene.display.step(WEI, "asks an agent") as step:
        given = _turn(wei, session_id, script.ASKED)
        _require_what_was_learned(given)
        readable = counted(given.in_scope, "memory", "memories")
        step.ends(
            f"asks: “{script.ASKED}”",
            f"The agent may read {readable}, none of Mira's own. It is given what matters:",
        )
    scene.display.show(Padding(Text(given.block, style="dim"), (0, 8, 0, INDENT)))


def _turn(remote: Remote, session_id: str, *texts: str) -> ContextBody:
    """What a turn is given after the user has said these."""
    messages: list[JsonValue] = [{"role": "user", "content": text} for text in texts]
    return remote.post(f"/sessions/{session_id}/context", {"messages": messages}, ContextBody)


def _save(remote: Remote, session_id: str, note: Note) -> str:
    """What the tool says to the agent."""
    arguments: dict[str, JsonValue] = {"action": "save", "description": note.description, "content": note.content}
    return _call(remote, session_id, {**arguments, "name": note.name, "scope": note.scope, "type": note.type})


def _stands(remote: Remote, session_id: str, note: Note) -> bool:
    try:
        _call(remote, session_id, {"action": "get", "name": note.name, "scope": note.scope})
    except Refused as refusal:
        if refusal.status != HTTPStatus.NOT_FOUND:
            raise
        return False
    return True


def _call(remote: Remote, session_id: str, arguments: dict[str, JsonValue]) -> str:
    return remote.post(f"/sessions/{session_id}/tools/memory", arguments, MemoryToolAnswer).text


def _require_what_was_learned(given: ContextBody) -> None:
    """Raise CommandFailed unless the turn has what was learned, and nothing that is another's own."""
    names = {memory.name for memory in given.memories}
    if script.LEARNED.name not in names or any(memory.scope == "user" for memory in given.memories):
        raise CommandFailed(f"Wei's agent is given {', '.join(sorted(names)) or 'nothing'}.")
