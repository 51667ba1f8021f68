"""What the pages tell a reader to paste into a shell works as it stands there."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client import Client, Organization, a_project, an_organization, items, ok
from tests.import_command import import_environment
from tests.proposals import a_draft, a_review, creates, inside, listed, published

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
COLLEAGUE, PUBLISH, RETRY = (
    ROOT / "docs" / "how-to" / f"{name}.md" for name in ("add-a-colleague", "publish-a-change", "retry-safely")
)
UP_TO_DATE = ROOT / "docs" / "how-to" / "bring-a-draft-up-to-date.md"
IMPORT = ROOT / "docs" / "how-to" / "import-a-folder.md"
DELTAS = ROOT / "docs" / "how-to" / "follow-by-deltas.md"
POLICIES = ROOT / "docs" / "how-to" / "set-review-policies.md"
UNDO = ROOT / "docs" / "how-to" / "undo-a-publication.md"
FOLLOW = ROOT / "docs" / "how-to" / "follow-changes.md"
EXPORT = ROOT / "docs" / "how-to" / "export-a-snapshot.md"
WHERE = re.compile(r"^API=\S+ TOKEN=.*$", re.MULTILINE)

pytestmark = [
    pytest.mark.usefixtures("worker"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the pages use curl"),
]


def test_the_quickstart_publishes_a_document(api: Client) -> None:
    organization = an_organization(api)

    printed = _paste(organization, _block(README, "## Quickstart"))

    status, commits = printed.split("\n", 1)
    assert status == "approved"
    [commit] = json.loads(commits)["items"]
    assert commit["message"] == "Say hello"
    snapshot = ok(organization.owner.get(f"/commits/{commit['commit_id']}"))
    assert "# Hello\n" in [blob["content"] for blob in listed(snapshot, "blobs")]


def test_the_guide_publishes_an_edit_and_a_rename(api: Client) -> None:
    organization = an_organization(api)

    printed = _paste(organization, _block(README, "## Quickstart"), *_blocks(PUBLISH))

    snapshot = json.loads(printed.splitlines()[-1])
    [path, selection] = [entry["path"] for entry in snapshot["tree"]["entries"]]
    assert selection is None
    assert re.fullmatch(r"greetings/hello-\d+\.md", path)
    assert "# Hello\n\nEverybody.\n" in [blob["content"] for blob in listed(snapshot, "blobs")]
    assert len(items(organization.owner.get("/org/memories"))) == 1


def test_the_page_on_policies_sets_each_schedules_a_review_and_takes_all_back(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))

    printed = _paste(organization, *_blocks(POLICIES)).splitlines()

    assert printed[:2] == ["2", "False"]
    assert printed[-1] == "6"
    assert ok(organization.owner.get(f"/reviews/{review['review_id']}"))["publish_at"] == printed[-2]
    assert ok(organization.owner.get("/admin/organization"))["path_owners"] == []


def test_the_page_on_following_changes_reads_awaits_and_streams_them(api: Client) -> None:
    organization = an_organization(api)

    read, awaited, streamed, of_drafts, batch = _paste(organization, *_blocks(FOLLOW)).splitlines()

    assert "project.created" in read
    assert awaited == "draft.created"
    assert json.loads(streamed.removeprefix("data: "))["kind"] == "draft.created"
    assert (of_drafts, batch) == ("created", "accepted once")


def test_the_page_on_deltas_asks_what_there_is_and_reads_the_past(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    [known] = published(organization.owner, project_id, creates("a.md"))
    commit_id = items(organization.owner.get("/org/commits"))[0]["commit_id"]

    whole, none, upserted, then, history = _paste(organization, *_blocks(DELTAS)).splitlines()

    assert (whole, none, upserted, then) == (f"/v1/api/commits/{commit_id}", "None", "[]", commit_id)
    assert f"'commit_id': '{commit_id}'" in history
    assert [each["memory_id"] for each in items(organization.owner.get("/org/memories"))] == [known]


def test_the_page_on_reconciliation_confirms_a_candidate_and_settles_a_conflict(api: Client) -> None:
    organization = an_organization(api)

    printed = _paste(organization, _block(README, "## Quickstart"), *_blocks(UP_TO_DATE))

    [memory] = listed(json.loads(printed[printed.rindex('{\n    "memories"') :]), "memories")
    result = inside(memory, "result")
    assert (result["content"], result["description"]) == ("# Good morning\n# Hello\n\nEverybody.\n", "How we greet")
    [draft] = items(organization.owner.get("/drafts", status="open"))
    assert draft["version"] == 3


def test_the_page_on_undoing_reverts_a_commit_and_restores_a_memory(api: Client) -> None:
    organization = an_organization(api)

    printed = _paste(organization, _block(README, "## Quickstart"), *_blocks(UNDO)).splitlines()

    assert 'Revert "Clean up"' in printed
    assert "1" in printed
    assert "[['restored'], ['deleted'], ['created']]" in printed
    [memory] = items(organization.owner.get("/org/memories"))
    assert (str(memory["path"])[:5], memory["revision"]) == ("back/", 5)


def test_the_page_on_colleagues_lets_one_person_propose_and_another_decide(api: Client) -> None:
    organization = an_organization(api)

    first, *refused, before_last, last = _paste(organization, *_blocks(COLLEAGUE)).splitlines()

    assert (first, before_last) == ("member", "approved")
    assert json.loads("".join(refused))["code"] == "forbidden"
    commit = ok(organization.owner.get(f"/commits/{last}"))["commit"]
    assert isinstance(commit, dict)
    assert (commit["message"], commit["created_by"]) == ("Welcome people", organization.owner_id)


def test_the_page_on_retries_shows_a_replay_and_waits_for_an_operation(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    selection = organization.owner.put(f"/projects/{project_id}/org-selections", {"resource_ids": []}, version=0)
    wait, again = _blocks(RETRY)

    waited = _paste(organization, _at(wait, organization, LOCATION=selection.headers["location"]))
    shown = _paste(organization, again)

    assert json.loads(waited)["status"] == "succeeded"
    assert [line.split(" ")[1] for line in shown.splitlines() if line.startswith("HTTP")] == ["201", "201"]
    assert shown.lower().count("idempotency-replayed: true") == 1
    assert len(set(re.findall(r"prj_\w+", shown))) == 1


def test_the_page_on_imports_proposes_a_folder_merges_it_and_shows_what_an_edit_would_do(
    api: Client, tmp_path: Path
) -> None:
    organization = an_organization(api)

    printed = _run_in(_a_clone(tmp_path), organization, *_blocks(IMPORT))

    assert re.findall(r"^Review rev_\w+ is (\w+)", printed, re.MULTILINE) == ["open", "merged"]
    assert printed.splitlines()[-2:] == [
        "update  runbooks/rollback.md",
        "A dry run, nothing has changed: 0 created, 1 updated, 0 renamed, 0 deleted, 1 unchanged.",
    ]
    memories = items(organization.owner.get("/org/memories"))
    assert {memory["path"]: memory["description"] for memory in memories} == {
        "on-call.md": "Who is called, and when",
        "runbooks/rollback.md": "Roll back",
    }


def test_the_page_on_exports_writes_a_snapshot_a_project_s_bodies_a_former_version_and_a_history(
    api: Client, tmp_path: Path
) -> None:
    organization = an_organization(api)
    clone = _a_clone(tmp_path)

    printed = _run_in(clone, organization, *_blocks(EXPORT))

    [memory] = items(organization.owner.get("/org/memories"))
    text = f"---\nid: {memory['memory_id']}\ndescription: Who is called, and when\n---\n# On call\n"
    assert text in printed
    written = {
        name: (clone / name / "on-call.md").read_text() for name in ("snapshot", "for-notes", "as-it-was", "history")
    }
    assert written == {"snapshot": text, "for-notes": "# On call\n", "as-it-was": text, "history": text}
    assert (clone / "history" / ".git").is_dir()


def _blocks(page: Path) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def _block(page: Path, heading: str) -> str:
    section = page.read_text(encoding="utf-8").split(f"{heading}\n", 1)[1]
    found = re.search(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def _at(block: str, organization: Organization, **variables: str) -> str:
    """The block with what a reader has beside it: another server's address, and variables."""
    assignments = "".join(f"{name}='{value}'\n" for name, value in variables.items())
    return assignments + block.replace("http://127.0.0.1:8080", organization.owner.base_url)


def _a_clone(folder: Path) -> Path:
    """A folder in which the command is where a clone has it."""
    command = folder / ".venv" / "bin" / "canonry"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m canonry "$@"\n')
    command.chmod(0o755)
    return folder


def _run_in(clone: Path, organization: Organization, *blocks: str) -> str:
    """What a shell prints whose commands know the server by variables; it fails at the first command that does."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(blocks)],  # noqa: S607  (whichever a reader has)
        env=import_environment(organization.owner),
        cwd=clone,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def _paste(organization: Organization, *blocks: str) -> str:
    """What a shell prints; it fails at the first command that does, and instead of the owner's file it has a token."""
    where = f"API={organization.owner.base_url}/v1/api TOKEN={organization.owner.token}"
    script = "\n".join([where, *(WHERE.sub("", block) for block in blocks)])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],  # noqa: S607  (whichever a reader has)
        env={"PATH": os.environ["PATH"], "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
