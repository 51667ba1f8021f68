"""Imports over HTTP: opened, staged, tried and carried out; each expects success."""

from pydantic import JsonValue

from tests.client import Client, Json, ok
from tests.proposals import WAIT, listed


def an_import(author: Client, project_id: str, *files: Json, **more: JsonValue) -> Json:
    """An import with files staged in it."""
    made = ok(author.post("/imports", {"project_id": project_id, **more}), 201)
    return stage(author, made, *files) if files else made


def a_file(path: str, content: str = "text\n", **more: JsonValue) -> Json:
    return {"path": path, "content": content, **more}


def path_of(made: Json) -> str:
    return f"/imports/{made['import_id']}"


def stage(author: Client, made: Json, *files: Json) -> Json:
    return ok(author.post(f"{path_of(made)}/files", {"files": [*files]}))


def tried(author: Client, made: Json) -> Json:
    """What the import would do now."""
    return ok(author.post(f"{path_of(made)}/start?dry_run=true", {}))


def carried_out(author: Client, made: Json) -> Json:
    """The import once it has succeeded."""
    return ok(author.post(f"{path_of(made)}/start", {}, headers=WAIT))


def reported(body: Json) -> list[tuple[str, str]]:
    """Path and code of each report."""
    return [(str(report["path"]), str(report["code"])) for report in listed(body, "reports")]


def staged_files(author: Client, made: Json) -> list[Json]:
    return listed(ok(author.get(f"{path_of(made)}/files")), "items")
