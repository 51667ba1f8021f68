"""What the demonstration does, through the public API alone: ten documents, two projects, three publications.

Every command carries an Idempotency-Key, so that an interrupted run goes on where it stopped.
"""

import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files

from pydantic import JsonValue

from canonry.demo.client import Api, Json
from canonry.demo.display import Display
from canonry.failures import CommandFailed
from models.rules.hashes import blob_id

WRITER = "Mira"
INCIDENT = "runbooks/incident.md"
RENAMED = "runbooks/incident-response.md"
NAMES = "# Customers' names\n\nAs they write them themselves, accents included. Never a guess from an address.\n"
LESSON = "\nAfter it is over, the lead writes down what we learned, within two days and without names.\n"


@dataclass(frozen=True)
class Published:
    """The newest commits, how many Memories each project reads, and whether all that stood before this run."""

    organization: Json
    projects: dict[str, Json]
    before: bool


def tell(owner: Api, url: str, display: Display) -> Published:
    """Carry the example through Drafts, Reviews, merges, selections and projections."""
    with display.step("Two projects, and a colleague who proposes") as step:
        projects = {name: _project(owner, name) for name in ("Platform", "Support")}
        writer = Api(url, _writer_token(owner, list(projects.values())))
        step.outcome = ", ".join(projects)
    try:
        before = _is_told(owner)
        if not before:
            _publish_library(owner, writer, projects, display)
            _share(owner, projects, display)
            _learn(owner, writer, projects, display)
            _leave_open(writer, projects, display)
        return _check(owner, projects, display, before=before)
    finally:
        writer.close()


def _project(owner: Api, name: str) -> str:
    for project in owner.get("/projects", limit="200")["items"]:
        if project["name"] == name:
            return str(project["project_id"])
    return str(owner.post("/projects", {"name": name}, key=_key("project", name))["project_id"])


def _key(step: str, name: str) -> str:
    """An Idempotency-Key: visible ASCII, the same each time."""
    return f"demo/{step}/{name.replace(' ', '-')}"


def _writer_token(owner: Api, project_ids: list[str]) -> str:
    """A fresh token of the colleague, who is made a member of the projects the first time."""
    known = [user for user in owner.get("/admin/users", limit="200")["items"] if user["name"] == WRITER]
    user = (
        known[0] if known else owner.post("/admin/users", {"name": WRITER, "role": "member"}, key=_key("user", WRITER))
    )
    for project_id in project_ids:
        members = owner.get(f"/projects/{project_id}/members")["items"]
        if user["user_id"] not in {member["user_id"] for member in members}:
            owner.post(f"/projects/{project_id}/members", {"user_id": user["user_id"], "role": "member"})
    token = owner.post(
        "/admin/tokens",
        {"user_id": user["user_id"], "name": "demo", "permissions": ["read", "write"], "expires_at": _tomorrow()},
    )
    return str(token["secret"])


def _tomorrow() -> str:
    return (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="seconds")


def _is_told(owner: Api) -> bool:
    return RENAMED in _memories(owner)


def _memories(api: Api) -> dict[str, str]:
    """The active Memories of the organization, id by path."""
    return {item["path"]: item["memory_id"] for item in api.get("/org/memories", limit="200")["items"]}


def _publish_library(owner: Api, writer: Api, projects: dict[str, str], display: Display) -> None:
    library = tomllib.loads(files("canonry.demo").joinpath("library.toml").read_text(encoding="utf-8"))
    reviews: dict[str, list[Json]] = {}
    for draft in library["drafts"]:
        with display.step(f"Draft: {draft['title']}") as step:
            made = writer.post("/drafts", _draft(draft, projects), key=_key("draft", draft["title"]))
            reviews.setdefault(draft["review"], []).append(made)
            step.outcome = f"{len(made['operations'])} documents in {draft['project']}"
    for title, drafts in reviews.items():
        _publish(owner, writer, title, drafts, display)


def _draft(draft: Json, projects: dict[str, str]) -> dict[str, JsonValue]:
    operations: list[JsonValue] = [
        {
            "action": "create",
            "path": document["path"],
            "content": {"content": _document(document["path"]), "description": document["description"]},
        }
        for document in draft["documents"]
    ]
    return {"project_id": projects[draft["project"]], "title": draft["title"], "operations": operations}


def _document(path: str) -> str:
    folder = ["documents"] if path.startswith("support/") else ["documents", "platform"]
    return files("canonry.demo").joinpath(*folder, *path.split("/")).read_text(encoding="utf-8")


def _publish(owner: Api, writer: Api, title: str, drafts: list[Json], display: Display) -> None:
    """Review, approve and merge: the author proposes, the owner decides."""
    with display.step(f"Review: {title}") as step:
        review = _submit(writer, title, drafts)
        step.outcome = f"result {review['result_hash'][:12]}"
    with display.step("Approved, bound to exactly this result") as step:
        approved = owner.post(
            f"/reviews/{review['review_id']}/decisions",
            {"decision": "approved", "expected_review_version": review["version"]},
            key=_key("approval", title),
        )
        step.outcome = f"approval {approved['approvals'][0]['result_hash'][:12]}"
    with display.step("Merged: one commit, one ref step") as step:
        merge = owner.post(
            f"/reviews/{review['review_id']}/merges",
            {"expected_review_version": approved["version"], "expected_result_hash": review["result_hash"]},
            key=_key("merge", title),
        )
        step.outcome = f"commit {merge['commit_id'][:12]}, {merge['applied_operation_count']} Memories"


def _submit(writer: Api, title: str, drafts: list[Json]) -> Json:
    references: list[JsonValue] = [
        {"draft_id": draft["draft_id"], "expected_draft_version": draft["version"]} for draft in drafts
    ]
    review = {"project_id": drafts[0]["project_id"], "title": title, "drafts": references}
    return writer.post("/reviews", review, key=_key("review", title))


def _share(owner: Api, projects: dict[str, str], display: Display) -> None:
    """Support selects the incident runbook: two projects read one Memory, none copies it."""
    with display.step("Support selects the incident runbook too") as step:
        path = f"/projects/{projects['Support']}/org-selections"
        selection = owner.get(path)
        memories = _memories(owner)
        wanted = sorted({*selection["resource_ids"], memories[INCIDENT]})
        if wanted != sorted(selection["resource_ids"]):
            selection = owner.put(path, {"resource_ids": list(wanted)}, version=selection["revision"])
        step.outcome = f"{len(wanted)} Memories, revision {selection['revision']}"


def _learn(owner: Api, writer: Api, projects: dict[str, str], display: Display) -> None:
    """A lesson changes and renames a shared document: both projects move with the same merge."""
    title = "What the last incident taught us"
    with display.step(f"Draft: {title}") as step:
        memory_id = _memories(owner)[INCIDENT]
        draft = writer.post(
            "/drafts",
            {
                "project_id": projects["Platform"],
                "title": title,
                "operations": [
                    {"action": "update", "memory_id": memory_id, "content": {"content": _document(INCIDENT) + LESSON}},
                    {"action": "rename", "memory_id": memory_id, "new_path": RENAMED},
                ],
            },
            key=_key("draft", title),
        )
        step.outcome = "one edit, one rename"
    _publish(owner, writer, title, [draft], display)


def _leave_open(writer: Api, projects: dict[str, str], display: Display) -> None:
    """One Review waits for a decision, for whoever looks around afterwards."""
    title = "A rule for customers' names"
    with display.step(f"Review, left open: {title}") as step:
        draft = writer.post(
            "/drafts",
            {
                "project_id": projects["Support"],
                "title": title,
                "operations": [{"action": "create", "path": "support/names.md", "content": {"content": NAMES}}],
            },
            key=_key("draft", title),
        )
        step.outcome = f"{_submit(writer, title, [draft])['review_id']} waits for a decision"


def _check(owner: Api, projects: dict[str, str], display: Display, *, before: bool) -> Published:
    """Read what every project sees now, and recompute its hashes."""
    with display.step("Both projects' snapshots, recomputed from their texts") as step:
        states = {name: owner.get(f"/projects/{project_id}/commit-state") for name, project_id in projects.items()}
        entries = {name: _snapshot(owner, state) for name, state in states.items()}
        step.outcome = ", ".join(f"{name} reads {count}" for name, count in entries.items())
    return Published(
        organization=owner.get("/org/commit-state")["latest"],
        projects={name: state["latest"] | {"memories": entries[name]} for name, state in states.items()},
        before=before,
    )


def _snapshot(owner: Api, state: Json) -> int:
    snapshot = owner.get(f"/commits/{state['latest']['commit_id']}")
    for blob in snapshot["blobs"]:
        if blob_id(blob["content"]) != blob["blob_id"]:
            raise CommandFailed(f"{blob['blob_id']} is not the hash of its text")
    return sum(entry["type"] == "memory" for entry in snapshot["tree"]["entries"])
