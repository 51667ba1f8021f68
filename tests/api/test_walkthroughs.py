"""What the pages tell a reader to paste into a shell works as it stands there."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from canonry.demo.script import NOTES
from tests.client import Client, Json, Organization, an_organization, items, ok
from tests.import_command import import_environment
from tests.proposals import a_draft, a_place, a_review, all_items, creates, inside, listed, published

ROOT = Path(__file__).parents[2]
# The pages call python3 often: ours itself, not a launcher that looks for one each time.
INTERPRETERS = Path(sys.base_prefix) / "bin"
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
AGENT = ROOT / "docs" / "how-to" / "give-an-agent-its-memory.md"
SHARE = ROOT / "docs" / "how-to" / "share-a-document.md"
MEMORY, INJECT, TOOL, TWO_AGENTS = (
    ROOT / "docs" / "how-to" / f"{name}.md"
    for name in ("save-and-find-memories", "inject-memories", "use-the-memory-tool", "two-agents-one-memory")
)
MEMORIES = (MEMORY, INJECT, TOOL, TWO_AGENTS)
WHERE = re.compile(r"^API=\S+ TOKEN=.*$", re.MULTILINE)
# They are about the installation, or about commands of the clone, which have tests of their own below.
NOT_HERE = [
    ROOT / "docs" / "how-to" / f"{name}.md"
    for name in (
        "run-it",
        "import-a-folder",
        "export-a-snapshot",
        "verify-and-diagnose",
        "operate-in-temporal-ui",
    )
]
# It opens the database itself: tests/integration/test_memory_tool_example.py.
IN_PROCESS = ".venv/bin/python example.py"
MARK = "@@@ the next page @@@"
POLICIES_BEFORE: Json = {"required_approvals": 0, "review_expires_after": 86_400}

pytestmark = [
    pytest.mark.usefixtures("worker"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the pages use curl"),
]


@dataclass(frozen=True)
class Walk:
    """What the quickstart and then the pages printed, one after another in one shell, and what the organization was.

    `again` is what those on memories printed after that, last one first, in an organization that has a global memory.
    """

    printed: Mapping[Path, str]
    again: Mapping[Path, str]
    owner: Client
    before: Json
    waiting: Json
    folder: Path

    def lines(self, page: Path) -> list[str]:
        return self.printed[page].splitlines()


@pytest.fixture(scope="module")
def walk(api: Client, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """All pages in the order of the README, in an organization of more Memories than a page of a list has."""
    organization, project_id = a_place(api)
    owner = organization.owner
    published(owner, project_id, *(creates(f"a/{number}.md") for number in range(60)))
    waiting = a_review(owner, a_draft(owner, project_id, creates("waiting.md")))
    ok(owner.patch("/admin/organization", POLICIES_BEFORE, version=1))
    before = ok(owner.get("/admin/organization"))
    folder = tmp_path_factory.mktemp("walk")
    blocks = {README: [_block(README, "## Quickstart")]}
    blocks |= {page: _blocks(page) for page in _in_the_readme_s_order() if page not in NOT_HERE}
    again = {page: [_a_global_memory(), *blocks[page]] for page in reversed(MEMORIES)}
    scripts = [*blocks.values(), *again.values()]
    printed = _paste(organization, *(f"{''.join(each)}\nprintf '{MARK}'" for each in scripts), folder=folder)
    said = iter(printed.split(MARK))
    return Walk(
        {page: next(said) for page in blocks}, {page: next(said) for page in again}, owner, before, waiting, folder
    )


def test_the_quickstart_publishes_a_document(walk: Walk) -> None:
    status, commits = walk.printed[README].split("\n", 1)
    assert status == "approved"
    [commit] = json.loads(commits)["items"]
    assert commit["message"] == "Say hello"
    snapshot = ok(walk.owner.get(f"/commits/{commit['commit_id']}"))
    assert "# Hello\n" in [blob["content"] for blob in listed(snapshot, "blobs")]


def test_the_pages_leave_nothing_behind_and_touch_nothing_of_others(walk: Walk) -> None:
    owner = walk.owner
    assert ok(owner.get(f"/reviews/{walk.waiting['review_id']}"))["version"] == 1
    [hello] = [memory for memory in all_items(owner, "/org/memories", limit=200) if str(memory["path"])[:2] != "a/"]
    assert str(hello["path"]).startswith("hello-")
    assert len(items(owner.get("/projects"))) == 2
    assert len(items(owner.get("/admin/users"))) == 1
    assert items(owner.get("/drafts", status="open")) == []
    assert [memory["name"] for memory in listed(ok(owner.get("/admin/memories")), "memories")] == [NOTES[0].name]
    assert items(owner.get("/workstreams")) == []
    changing = {"version": 0, "updated_at": ""}
    assert {**ok(owner.get("/admin/organization")), **changing} == {**walk.before, **changing}
    assert [*walk.folder.iterdir()] == []


def test_every_page_that_is_pasted_here_is_one_of_the_readme(walk: Walk) -> None:
    assert {COLLEAGUE, PUBLISH, RETRY, UP_TO_DATE, DELTAS, POLICIES, UNDO, FOLLOW, AGENT, SHARE} < walk.printed.keys()


def test_the_guide_publishes_an_edit_and_a_rename(walk: Walk) -> None:
    printed = walk.printed[PUBLISH]
    read, end = json.JSONDecoder().raw_decode(printed, printed.rindex('{\n    "commit"'))
    assert any(re.match(r"greetings/greeting-\d+\.md", entry["path"] or "") for entry in read["tree"]["entries"])
    assert "# Hello\n\nEverybody.\n" in [blob["content"] for blob in listed(read, "blobs")]
    assert printed[end:].split()[:-1] == ["submitted", "approved", "merged"]


def test_the_page_on_policies_shows_what_is_set_sets_each_schedules_a_review_and_puts_all_back(walk: Walk) -> None:
    shown, two, no, *_, cancelled, scheduled, back = walk.lines(POLICIES)
    assert {name: json.loads(shown)[name] for name in POLICIES_BEFORE} == POLICIES_BEFORE
    assert (two, no, cancelled, back) == ("2", "False", "None", "0")
    assert re.match(r"\d{4}-", scheduled)


def test_the_page_on_following_changes_reads_awaits_and_streams_them(walk: Walk) -> None:
    read, awaited, streamed, of_drafts, batch = walk.lines(FOLLOW)
    assert "project.created" in read
    assert awaited.startswith("draft.")  # created, or the base of one that waits moved
    assert json.loads(streamed.removeprefix("data: "))["kind"].startswith("draft.")
    assert "created" in of_drafts.split()[-20:]  # the bases of those that wait move meanwhile
    assert batch == "accepted once"


def test_the_page_on_deltas_fetches_what_changed_and_reads_the_past(walk: Walk) -> None:
    whole, none, delta, then, history = walk.lines(DELTAS)
    first = items(walk.owner.get("/org/commits", limit=200))[-1]
    assert (whole[:16], none, then) == ("/v1/api/commits/", "None", first["commit_id"])
    assert re.match(r"\[('followed-\d+/[ac]\.md', ){2}None\] \[\] \[", delta)
    assert "# A, changed" in delta
    assert "# B" not in delta
    assert "'change': ['created']" in history


def test_the_page_on_reconciliation_confirms_a_candidate_and_settles_a_conflict(walk: Walk) -> None:
    printed = walk.printed[UP_TO_DATE]
    document, _ = json.JSONDecoder().raw_decode(printed, printed.rindex('{\n    "memories"'))
    [memory] = listed(document, "memories")
    result = inside(memory, "result")
    assert (result["content"], result["description"]) == ("# Good morning\n# Hello\n\nEverybody.\n", "How we greet")


def test_the_page_on_undoing_reverts_a_commit_and_restores_a_memory(walk: Walk) -> None:
    printed = walk.lines(UNDO)
    assert 'Revert "Clean up"' in printed
    assert "1" in printed
    assert "[['restored'], ['deleted'], ['created']]" in printed
    assert any("'path': 'back/undo-" in line and "'revision': 5" in line for line in printed)


def test_the_page_on_colleagues_lets_one_person_propose_and_another_decide(walk: Walk) -> None:
    first, *refused, approved, commit_id, _ = walk.lines(COLLEAGUE)
    assert (first, approved) == ("member", "approved")
    assert json.loads("".join(refused))["code"] == "forbidden"
    assert inside(ok(walk.owner.get(f"/commits/{commit_id}")), "commit")["message"] == "Welcome people"


def test_the_page_on_retries_waits_for_a_merge_and_shows_that_it_happened_once(walk: Walk) -> None:
    waited, accepted, *replayed, refused, problem, once, cleaned = walk.lines(RETRY)
    assert (waited, once) == ("succeeded", "1")
    assert [line.split()[1] for line in (accepted, refused, cleaned)] == ["202", "409", "200"]
    assert replayed[0].lower() == "idempotency-replayed: true"
    assert json.loads(problem)["code"] == "review_closed"


def test_the_page_on_agents_lets_one_propose_and_read_what_was_published(walk: Walk) -> None:
    printed = walk.printed[AGENT]
    assert '"draft_version": 2' in printed
    assert re.search(
        r"\nforbidden\napproved\n[0-9a-f]{64}\n<!-- lessons-\d+.md -->\n# Restart the worker first\n", printed
    )


def test_the_page_on_sharing_selects_a_document_which_then_moves_in_both_projects(walk: Walk) -> None:
    selected, paths, messages, left = walk.lines(SHARE)
    assert re.fullmatch(r"\['mem_\w+'\]", selected)
    assert re.fullmatch(r"\['shared-\d+/moved.md'\]", paths)
    assert messages.startswith("['A version'")
    assert left == "[]"


@pytest.mark.parametrize("page", MEMORIES, ids=lambda page: page.stem)
def test_a_page_on_memories_prints_what_it_shows(walk: Walk, page: Path) -> None:
    shown = _blocks(page, "text")
    if page == TOOL:
        shown.pop()  # the example's
    assert walk.printed[page].endswith("".join(shown))


@pytest.mark.parametrize("page", MEMORIES, ids=lambda page: page.stem)
def test_a_page_on_memories_prints_the_same_again_but_for_how_many_are_in_scope(walk: Walk, page: Path) -> None:
    def one_more(number: re.Match[str]) -> str:
        return f"({int(number[1]) + 1} memories in scope"

    expected = re.sub(r"\((\d+) memor(?:y|ies) in scope", one_more, walk.printed[page])
    assert walk.again[page] == expected


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


def _blocks(page: Path, language: str = "sh") -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [block for block in found if not block.startswith(IN_PROCESS)]


def _a_global_memory() -> str:
    """What saves the one that `make demo` leaves; each time it is the same."""
    note = NOTES[0]
    body = {"name": note.name, "type": note.type, "description": note.description, "content": note.content}
    return f"ask $API/memories -d '{json.dumps(body)}' > /dev/null\n"


def _block(page: Path, heading: str) -> str:
    section = page.read_text(encoding="utf-8").split(f"{heading}\n", 1)[1]
    found = re.search(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def _in_the_readme_s_order() -> list[Path]:
    """The pages of the column "to do"."""
    rows = README.read_text(encoding="utf-8").split("| to do |", 1)[1].split("\n\n", 1)[0]
    cells = [row.split("|")[1] for row in rows.splitlines()[2:]]
    return [ROOT / name for cell in cells for name in re.findall(r"\]\((docs/how-to/[\w-]+\.md)", cell)]


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


def _paste(organization: Organization, *blocks: str, folder: Path) -> str:
    """What a shell prints; it fails at the first command that does, and instead of the owner's file it has a token.

    Args:
        organization: whose owner it is.
        blocks: what is pasted.
        folder: for what is temporary.
    """
    where = f"API={organization.owner.base_url}/v1/api TOKEN={organization.owner.token}"
    script = "\n".join([where, *(WHERE.sub("", block) for block in blocks)])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],  # noqa: S607  (whichever a reader has)
        env={"PATH": f"{INTERPRETERS}:{os.environ['PATH']}", "NO_PROXY": "127.0.0.1", "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
