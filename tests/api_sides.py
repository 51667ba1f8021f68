"""Both sides of a comparison: the model's steps and states as requests have them, and answers as the model has them."""

import unicodedata
from dataclasses import replace

from pydantic import JsonValue

from tests.client import Json
from tests.proposals import deletes, inside, listed, renames, restores
from tests.publication_model import Doc, State, Step, World


def same(shown: object, told: object, about: object = "") -> None:
    """What the API shows is what the model tells."""
    assert shown == told, f"{about}\nshown: {shown}\n told: {told}"


def sent(step: Step) -> Json:
    """A step as a request has it."""
    given: Json = {"content": step.body, "description": step.description}
    content: Json = {name: text for name, text in given.items() if text is not None}
    match step.action:
        case "create":
            return {"action": "create", "path": step.path, "content": content}
        case "rename":
            return renames(step.memory, step.path or "")
        case "update":
            return {"action": "update", "memory_id": step.memory, "content": content}
        case "restore":
            return restores(step.memory, step.path, **content)
        case _:
            return deletes(step.memory)


def steps_of(body: Json) -> list[Step]:
    """The operations of a Draft as the API shows them."""
    return [_step(operation) for operation in listed(body, "operations")]


def _step(operation: Json) -> Step:
    action = str(operation["action"])
    content = operation.get("content")
    carried = content if isinstance(content, dict) else {}
    path = operation.get("new_path" if action == "rename" else "path")
    described, body = carried.get("description"), carried.get("content")
    return Step(
        action,
        str(operation["memory_id"]),
        None if path is None else str(path),
        None if described is None else str(described),
        None if body is None else str(body),
    )


def in_nfc(step: Step) -> Step:
    return step if step.path is None else replace(step, path=unicodedata.normalize("NFC", step.path))


def doc_of(body: Json) -> Doc:
    return Doc(str(body["path"]), str(body["description"]), str(body["content"]))


def state_of(body: JsonValue) -> State:
    return doc_of(body) if isinstance(body, dict) else None


def world_of(document: Json) -> World:
    """The Memories of a commit."""
    blobs = {str(blob["blob_id"]): str(blob["content"]) for blob in listed(document, "blobs")}
    entries = listed(inside(document, "tree"), "entries")
    return {
        str(entry["id"]): Doc(str(entry["path"]), str(entry["description"]), blobs[str(entry["blob_id"])])
        for entry in entries
        if entry["type"] == "memory"
    }


def chosen(candidate: Json, choice: int) -> tuple[list[Json], dict[str, State]]:
    """One of the resolutions of every conflict that the ones before leave open: as it is sent, and as states."""
    picked: dict[str, Json] = {}
    for conflict in listed(candidate, "conflicts"):
        offered = listed(conflict, "resolutions")
        if str(conflict["memory_id"]) not in picked:
            states = listed(offered[choice % len(offered)], "resolved_state")
            picked = {str(state["memory_id"]): state for state in states} | picked
    return [*picked.values()], {memory: doc_of(state) if state["exists"] else None for memory, state in picked.items()}
