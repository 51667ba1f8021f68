"""Cells of the reconciliation table over HTTP: their documents published each in a folder of its own, then changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import httpx
from pydantic import JsonValue

from tests.client import Client, Json, Organization, a_project, an_organization, ok
from tests.proposals import WAIT, a_draft, creates, deletes, inside, listed, operations_of, published, submit
from tests.reconciliation_steps import BASE, Step
from tests.reconciliation_verdicts import Case, Record


@dataclass
class Shelf:
    """The documents of one case; `ids` by their letters, `paths` of those that a Draft has just made."""

    author: Client
    project_id: str
    folder: str
    base: str
    ids: dict[str, str] = field(default_factory=dict)

    def operations(self, steps: Sequence[Step]) -> list[Json]:
        """Steps as a request has them; what is made in the same request is named by its path."""
        made: dict[str, str] = {}
        return [self._operation(step, made) for step in steps]

    def draft(self, steps: Sequence[Step]) -> Json:
        """A Draft on the base of the case."""
        body: Json = {
            "project_id": self.project_id,
            "base_commit_id": self.base,
            "operations": [*self.operations(steps)],
        }
        return ok(self.author.post("/drafts", body), 201)

    def letter_of(self, memory_id: object, draft: Json) -> str:
        """Which document a Memory is; what the Draft makes is X."""
        made = {str(operation["memory_id"]) for operation in operations_of(draft) if operation["action"] == "create"}
        letters = {known: letter for letter, known in self.ids.items()} | dict.fromkeys(made, "X")
        return letters[str(memory_id)]

    def place(self, path: str) -> str:
        """A path of the table in the folder of the case."""
        return f"{self.folder}/{path}"

    def _operation(self, step: Step, made: dict[str, str]) -> Json:
        target: Json = {"path": made[step.memory]} if step.memory in made else {"memory_id": self.ids.get(step.memory)}
        texts: Json = {
            name: text
            for name, text in (("content", step.content), ("description", step.description))
            if text is not None
        }
        match step.action:
            case "create":
                made[step.memory] = self.place(step.path or "")
                return {"action": "create", "path": made[step.memory], "content": texts}
            case "rename":
                new_path = self.place(step.path or "")
                if step.memory in made:
                    made[step.memory] = new_path
                return {"action": "rename", **target, "new_path": new_path}
            case "update":
                return {"action": "update", **target, "content": texts}
            case "restore":
                where: Json = {} if step.path is None else {"path": self.place(step.path)}
                return {"action": "restore", **target, **where, **({"content": texts} if texts else {})}
            case _:
                return {"action": step.action, **target}


def shelves(api: Client, cases: Mapping[str, Case], *, publish_current: bool) -> dict[str, Shelf]:
    """Every case's documents, published together; what Current did to them too, if it is to be published."""
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    found = {name: Shelf(organization.owner, project_id, f"case-{at}", "") for at, name in enumerate(cases)}
    _publish_base(organization, project_id, list(found.values()))
    if publish_current:
        steps = {name: case.current for name, case in cases.items()}
        made = published(
            organization.owner,
            project_id,
            *(operation for name, shelf in found.items() for operation in shelf.operations(steps[name])),
        )
        new = [(shelf, step.memory) for name, shelf in found.items() for step in steps[name] if step.action == "create"]
        for (shelf, letter), memory_id in zip(new, made, strict=True):
            shelf.ids[letter] = memory_id
    return found


def _publish_base(organization: Organization, project_id: str, found: Sequence[Shelf]) -> None:
    letters = [(shelf, letter) for shelf in found for letter in BASE]
    made = published(
        organization.owner,
        project_id,
        *(
            creates(shelf.place(BASE[letter].path), BASE[letter].content, BASE[letter].description)
            for shelf, letter in letters
        ),
    )
    for (shelf, letter), memory_id in zip(letters, made, strict=True):
        shelf.ids[letter] = memory_id
    gone = [shelf.ids[letter] for shelf, letter in letters if BASE[letter].archived]
    published(organization.owner, project_id, *(deletes(memory_id) for memory_id in gone))
    ref = inside(ok(organization.owner.get("/org/commit-state")), "ref")
    for shelf in found:
        shelf.base = str(ref["commit_id"])


def records_of(shelf: Shelf, draft: Json, candidate: Json) -> tuple[Record, ...]:
    """The conflicts of a candidate as the table writes them."""
    return tuple(
        Record(
            str(conflict["code"]),
            shelf.letter_of(conflict["memory_id"], draft),
            str(conflict["field"]),
            tuple(str(resolution["name"]) for resolution in listed(conflict, "resolutions")),
            identical=_flag(conflict, "identical"),
            equivalent=_flag(conflict, "equivalent"),
        )
        for conflict in listed(candidate, "conflicts")
    )


def _flag(conflict: Json, name: str) -> bool | None:
    value = conflict.get(name)
    assert value is None or isinstance(value, bool)
    return value


def choices(candidate: Json) -> Iterator[list[Json]]:
    """Every way of settling all conflicts by what they offer: a resolved state for each contested Memory."""
    offered: dict[str, list[Json]] = {}
    for conflict in listed(candidate, "conflicts"):
        for resolution in listed(conflict, "resolutions"):
            for state in listed(resolution, "resolved_state"):
                states = offered.setdefault(str(state["memory_id"]), [])
                if state not in states:
                    states.append(state)
    return (list(chosen) for chosen in product(*offered.values()))


def settled(candidate: Json, chosen: Sequence[Json]) -> dict[str, Json | None]:
    """What every touched Memory comes to: as chosen, else as proposed; None where it does not exist."""
    result = {str(memory["memory_id"]): _state(memory["proposed"]) for memory in listed(candidate, "memories")}
    for state in chosen:
        texts = {name: state[name] for name in ("path", "description", "content")} if state["exists"] else None
        result[str(state["memory_id"])] = texts
    return result


def current_of(candidate: Json) -> dict[str, Json | None]:
    """What Current says of every touched Memory."""
    return {str(memory["memory_id"]): _state(memory["current"]) for memory in listed(candidate, "memories")}


def result_of(body: Json) -> dict[str, Json | None]:
    """What a Draft's result, or a Review's diff, says of every Memory."""
    return {str(memory["memory_id"]): _state(memory["result"]) for memory in listed(body, "memories")}


def _state(state: object) -> Json | None:
    return {name: state[name] for name in ("path", "description", "content")} if isinstance(state, dict) else None


def candidates_of(problem: Json) -> list[Json]:
    """The candidates in a refusal."""
    return listed(problem, "candidates")


def make_candidate(author: Client, draft: Json) -> httpx.Response:
    """Compare a Draft with Current."""
    body: Json = {"expected_draft_version": draft["version"]}
    return author.post(f"/drafts/{draft['draft_id']}/reconciliation-candidates", body, headers=WAIT)


def rebase(author: Client, draft: Json, candidate: Json, chosen: Sequence[Json] | None = None) -> httpx.Response:
    """Bring a Draft up to date as a candidate says, and as was chosen where it has conflicts."""
    body: Json = {"expected_draft_version": draft["version"], **confirming(candidate, chosen)}
    return author.post(f"/drafts/{draft['draft_id']}/rebases", body, headers=WAIT)


def confirming(candidate: Json, chosen: Sequence[Json] | None = None) -> Json:
    """The members of a request that confirm a candidate."""
    named: Json = {"candidate_id": candidate["candidate_id"]}
    return named if chosen is None else {**named, "resolved_state": [*chosen]}


def submit_confirmed(author: Client, *drafts: tuple[Json, Json]) -> httpx.Response:
    """Submit Drafts, each with what confirms its candidate; nothing for one that needs none."""
    references: list[JsonValue] = [
        {"draft_id": draft["draft_id"], "expected_draft_version": draft["version"], **confirmed}
        for draft, confirmed in drafts
    ]
    return submit(author, *(draft for draft, _ in drafts), drafts=references)


def a_draft_behind(author: Client, project_id: str, *, ours: Sequence[Json], theirs: Sequence[Json]) -> Json:
    """A Draft that was open while others published."""
    draft = a_draft(author, project_id, *ours)
    published(author, project_id, *theirs)
    return draft


def a_draft_on_an_older_base(author: Client, project_id: str, *operations: Json) -> Json:
    """A Draft that was behind from the start: no publication brings it up to date before the next one."""
    base = inside(ok(author.get("/org/commit-state")), "ref")["commit_id"]
    published(author, project_id, creates("published-since.md"))
    body: Json = {"project_id": project_id, "base_commit_id": base, "operations": [*operations]}
    return ok(author.post("/drafts", body), 201)
