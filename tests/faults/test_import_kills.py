"""A folder that is imported while the command and all servers are killed at random: it arrives whole, and once."""

import asyncio
import random
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from models.identifiers import OrganizationId
from tests.client import Organization, a_project, an_organization, ok
from tests.installation import Installation, an_installation
from tests.invariants import check_invariants
from tests.mixed_import import ImportCommand
from tests.proposals import all_items, inside, listed
from tests.random_kills import Pace, RandomKills, Server, Victim, a_seed

KILLS = 5  # in each import
HITS = 2  # at least so many while the command has not ended

PACE = Pace(shortest_calm_s=0.0, longest_calm_s=0.6, longest_absence_s=0.2)
END_LIMIT_S = 120


def test_an_import_through_random_kills_arrives_whole_and_once(tmp_path: Path) -> None:
    import_through_kills(tmp_path, folders=1, files=400)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_20_imports_through_100_random_kills_arrive_whole_and_once(tmp_path: Path) -> None:
    import_through_kills(tmp_path, folders=20, files=1_200)


def import_through_kills(root: Path, *, folders: int, files: int) -> None:
    """Import and merge folders, each into an organization of its own."""
    seed = a_seed()
    print(f"seed {seed}")  # noqa: T201
    chance = random.Random(seed)  # noqa: S311  (to be repeated, not secret)
    with an_installation() as installation:
        for number in range(folders):
            organization = an_organization(installation.client)
            folder = root / f"{number}"
            written = a_folder(folder, files)
            command = ImportCommand(folder, organization.owner, root / f"{number}.log")
            project_id = a_project(organization.owner)
            asyncio.run(run_through_kills(installation, command, project_id, chance))
            require_whole_and_once(organization, written)
            check_invariants(installation.engine, OrganizationId(organization.organization_id))


def a_folder(folder: Path, files: int) -> Mapping[str, str]:
    """Files in subfolders; their texts by path."""
    written = {f"{number % 7}/{number}.md": f"# Note {number}\n\n{'text ' * 200}\n" for number in range(files)}
    for path, text in written.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return written


async def run_through_kills(
    installation: Installation, command: ImportCommand, project_id: str, chance: random.Random
) -> None:
    """Run the command until it ends by itself, while it and the servers are killed."""
    servers: dict[str, Victim] = {name: Server(part) for name, part in installation.parts.items()}
    running = asyncio.create_task(persist(command, project_id))
    killing = RandomKills({**servers, "import": command}, PACE, chance, lambda: 1 - running.done())
    async with asyncio.timeout(END_LIMIT_S):
        await killing.strike(KILLS)
        await running
    print(killing.table())  # noqa: T201
    assert sum(kill.in_flight for kill in killing.kills) >= HITS


async def persist(command: ImportCommand, project_id: str) -> None:
    code = -signal.SIGKILL
    while code == -signal.SIGKILL:
        code = await asyncio.to_thread(command.start("--project", project_id, "--merge").wait)
    assert code == 0, command.log.read_text()[-4_000:]


def require_whole_and_once(organization: Organization, written: Mapping[str, str]) -> None:
    """One merged Review, one commit, every text at its path, and no Draft left over."""
    owner = organization.owner
    assert [review["status"] for review in listed(ok(owner.get("/reviews")), "items")] == ["merged"]
    (commit,) = listed(ok(owner.get("/org/commits")), "items")
    snapshot = ok(owner.get(f"/commits/{commit['commit_id']}"))
    texts = {str(blob["blob_id"]): blob["content"] for blob in listed(snapshot, "blobs")}
    entries = listed(inside(snapshot, "tree"), "entries")
    assert {entry["path"]: texts[str(entry["blob_id"])] for entry in entries} == written
    assert {draft["status"] for draft in all_items(owner, "/drafts", limit=100)} <= {"merged", "discarded"}
    assert {each["status"] for each in listed(ok(owner.get("/imports")), "items")} == {"succeeded"}
