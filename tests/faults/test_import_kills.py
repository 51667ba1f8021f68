"""A folder that is imported while the command and all servers are killed at random: it arrives whole, and once."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from models.identifiers import OrganizationId
from tests.client import Organization, a_project, an_organization, ok
from tests.installation import an_installation
from tests.invariants import check_invariants
from tests.killed_import import import_through_kills
from tests.mixed_import import ImportCommand
from tests.proposals import all_items, inside, listed
from tests.random_kills import a_seed
from tests.verification import verified

KILLS = 5  # in each import
HITS = 2  # at least so many while the command has not ended


def test_an_import_through_random_kills_arrives_whole_and_once(tmp_path: Path) -> None:
    arrive_through_kills(tmp_path, folders=1, files=400)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_20_imports_through_100_random_kills_arrive_whole_and_once(tmp_path: Path) -> None:
    arrive_through_kills(tmp_path, folders=20, files=1_200)


def arrive_through_kills(root: Path, *, folders: int, files: int) -> None:
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
            words = ("--project", a_project(organization.owner), "--merge")
            killing = import_through_kills(installation, command, words, kills=KILLS, chance=chance)
            print(killing.table())  # noqa: T201
            assert sum(kill.in_flight for kill in killing.kills) >= HITS
            require_whole_and_once(organization, written)
            check_invariants(installation.engine, OrganizationId(organization.organization_id))
        verified(installation)


def a_folder(folder: Path, files: int) -> Mapping[str, str]:
    """Files in subfolders; their texts by path."""
    written = {f"{number % 7}/{number}.md": f"# Note {number}\n\n{'text ' * 200}\n" for number in range(files)}
    for path, text in written.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return written


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
