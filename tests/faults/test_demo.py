import os
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from canonry.demo.library import DOCUMENTS
from canonry.embedded.ports import free_port
from tests.client import Client, Json, items, ok
from tests.hash_reference import verify
from tests.mixed.random_kills import a_seed
from tests.stack import a_reachable_folder
from tests.up import a_command, an_environment, run

WIDTH = 100
SERVING = "Ctrl-C stops it"
CHAPTERS = 10
RANDOM_KILLS = 12
WHOLE = "Platform and Support read 29 documents; 5 Reviews, 5 versions, 7 submissions."


@dataclass
class Told:
    """A demonstration that ended by itself, and another one on the same folder, which serves."""

    first: str
    second: str
    data: Path
    url: str

    def client(self, name: str) -> Client:
        return Client(self.url, (self.data / "demo" / f"{name.lower()}.token").read_text().strip())

    @property
    def owner(self) -> Client:
        return Client(self.url, (self.data / "owner.token").read_text().strip())

    @property
    def projects(self) -> Mapping[str, str]:
        return {str(project["name"]): str(project["project_id"]) for project in items(self.owner.get("/projects"))}

    def reviews(self) -> list[Json]:
        """All Reviews whole, oldest first."""
        listed = [
            review for each in self.projects.values() for review in items(self.owner.get("/reviews", project_id=each))
        ]
        whole = [ok(self.owner.get(f"/reviews/{review['review_id']}")) for review in listed]
        return sorted(whole, key=lambda review: str(review["created_at"]))

    def review(self, title: str) -> Json:
        [found] = [review for review in self.reviews() if review["title"] == title]
        return found

    def snapshot(self, project: str, reader: Client) -> Json:
        state = ok(reader.get(f"/projects/{self.projects[project]}/commit-state"))
        latest = state["latest"]
        assert isinstance(latest, dict)
        return ok(reader.get(f"/commits/{latest['commit_id']}"))


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    folder = a_reachable_folder()
    data = folder / "data"
    first = tell(data)
    port = free_port()
    serving = start(data, port)
    try:
        second = output_until(serving, SERVING)
        yield Told(first, second, data, f"http://127.0.0.1:{port}")
    finally:
        serving.terminate()
        serving.communicate(timeout=60)
        shutil.rmtree(folder)
    assert serving.returncode == 0


def start(data: Path, port: int, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        a_command("demo", "--data", str(data), "--port", str(port), *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=an_environment(),
    )


def tell(data: Path) -> str:
    """The output of a demonstration that ends by itself."""
    child = start(data, free_port(), "--exit")
    output, _ = child.communicate(timeout=180)
    assert child.returncode == 0, output
    return output


def tell_until(data: Path, words: str) -> None:
    """A demonstration that is killed as soon as it has said these words."""
    child = start(data, free_port(), "--exit")
    output_until(child, words)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()


def output_until(child: subprocess.Popen[str], words: str) -> str:
    assert child.stdout is not None
    lines = []
    for line in child.stdout:
        lines.append(line)
        if words in line:
            return "".join(lines)
    raise AssertionError("".join(lines))


def story(output: str) -> list[str]:
    """The lines from the first chapter to the last."""
    lines = output.splitlines()
    ends = [number for number, line in enumerate(lines) if line.startswith("Told in ")]
    return lines[1 : ends[0] + 1]


def members(document: Json, name: str) -> list[Json]:
    listed = document[name]
    assert isinstance(listed, list)
    return [member for member in listed if isinstance(member, dict)]


def member(document: Json, name: str) -> Json:
    found = document[name]
    assert isinstance(found, dict)
    return found


def entries(snapshot: Json) -> dict[str, str]:
    """Path by id."""
    return {
        str(entry["id"]): str(entry["path"]) for entry in members(member(snapshot, "tree"), "entries") if entry["path"]
    }


def events(review: Json) -> list[str]:
    return [str(event["event"]) for event in members(review, "timeline")]


def commits_shown(output: str) -> list[str]:
    """The beginnings of the commits, as they were published."""
    return re.findall(r"version \d+, commit ([0-9a-f]{12})…", output)


def test_in_a_file_it_is_plain_lines_that_fit_a_terminal(told: Told) -> None:
    assert "\x1b" not in told.first
    assert [line for line in story(told.first) if len(line) > WIDTH or line != line.rstrip()] == []
    assert len(re.findall(r"^\d+  \S", told.first, re.MULTILINE)) == CHAPTERS


@pytest.mark.parametrize(
    ("name", "role", "projects", "permissions"),
    [
        ("Mira", "member", {"Platform": "member", "Support": "member"}, ["read", "write"]),
        ("Jonas", "admin", {}, ["read", "write"]),
        ("Wei", "member", {"Support": "viewer"}, ["read"]),
    ],
)
def test_each_person_has_the_role_that_is_shown_and_a_token_that_nobody_else_can_read(
    told: Told, name: str, role: str, projects: Mapping[str, str], permissions: Sequence[str]
) -> None:
    me = ok(told.client(name).get("/me"))
    assert member(me, "user")["name"] == name
    assert (me["role"], me["permissions"]) == (role, permissions)
    assert {each["name"]: each["role"] for each in members(me, "projects")} == projects
    shown = " · ".join([f"organization: {role}", *(f"{each}: {as_}" for each, as_ in projects.items())])
    assert re.search(rf"✓ {name} +{shown} · token: {', '.join(permissions)}", told.first)
    assert (told.data / "demo" / f"{name.lower()}.token").stat().st_mode & 0o077 == 0


def test_every_publication_is_one_commit_of_one_review(told: Told) -> None:
    commits = items(told.owner.get("/org/commits", limit=200))[::-1]
    merged = [review["review_id"] for review in told.reviews() if review["status"] == "merged"]
    assert sorted(str(commit["review_id"]) for commit in commits) == sorted(map(str, merged))
    assert [commit["version"] for commit in commits] == list(range(1, len(merged) + 1))
    assert commits_shown(told.first) == [str(commit["commit_id"])[:12] for commit in commits]
    assert f"{len(merged)} Reviews, {len(commits)} versions" in told.first


def test_the_publication_whose_servers_were_killed_happened_once(told: Told) -> None:
    assert re.search(
        r"kill -9 +(the worker|Temporal) \(process \d+\) and (the worker|Temporal) \(process \d+\)", told.first
    )
    assert re.search(r"the publication is (pending|running), 0 of its 23 documents can be read", told.first)
    assert events(told.review("The handbook of the platform team")).count("merged") == 1
    operation_id = re.findall(r"accepted as (opn_\w+)", told.first)
    assert ok(told.owner.get(f"/operations/{operation_id[0]}"))["status"] == "succeeded"


def test_its_author_may_not_publish(told: Told) -> None:
    assert "tries to publish it by herself: refused, 403 forbidden" in told.first


def test_two_drafts_are_published_together_after_a_question_and_an_answer(told: Told) -> None:
    review = told.review("Alerts that lead somewhere")
    assert len(members(review, "drafts")) == 2
    question, answer = items(told.owner.get(f"/reviews/{review['review_id']}/comments"))
    assert (question["anchor_path"], question["resolved"]) == ("runbooks/alerts.md", True)
    for said in (question, answer):
        assert f"“{said['body']}”" in told.first
        assert f"“{said['body']}”" in told.second


def test_a_review_is_rejected_with_a_reason_and_published_as_it_was_resubmitted(told: Told) -> None:
    review = told.review("How we use feature flags")
    assert events(review) == ["submitted", "rejected", "resubmitted", "approved", "merged"]
    first, second = (str(each["result_hash"]) for each in members(review, "submissions"))
    assert f"submission 1, {first[:12]}…" in told.first
    assert f"submission 2, {second[:12]}…" in told.first
    [approval] = members(review, "approvals")
    assert approval["result_hash"] == second != first


def test_one_document_moved_in_both_projects_and_kept_its_id(told: Told) -> None:
    platform, support = (entries(told.snapshot(name, told.owner)) for name in ("Platform", "Support"))
    [(memory_id, path)] = platform.items() & support.items()
    assert path == "runbooks/incident-response.md"
    assert told.first.count(f"The same document as before: {memory_id}") == 2
    for text in (member(ok(told.owner.get(f"/org/memories/{each}")), "memory") for each in platform):
        assert text["path"] != "runbooks/incident.md"


@pytest.mark.parametrize(("project", "reader"), [("Platform", "Mira"), ("Support", "Wei")])
def test_each_project_reads_what_is_shown_and_anybody_can_recompute_it(told: Told, project: str, reader: str) -> None:
    snapshot = told.snapshot(project, told.client(reader))
    verify(snapshot)
    commit = member(snapshot, "commit")
    for shown in (str(commit["commit_id"])[:36], str(commit["tree_id"])[:36]):
        assert shown in told.first
    assert f"recomputes what {project} reads: {len(entries(snapshot))} texts" in told.first


def test_the_library_is_what_its_files_say(told: Told) -> None:
    files = {
        **{
            path.relative_to(DOCUMENTS / "platform").as_posix(): path for path in (DOCUMENTS / "platform").rglob("*.md")
        },
        **{path.relative_to(DOCUMENTS).as_posix(): path for path in (DOCUMENTS / "support").rglob("*.md")},
    }
    published = {str(memory["path"]): memory for memory in items(told.owner.get("/org/memories", limit=200))}
    changed = {"runbooks/incident.md", "runbooks/deploy.md", "runbooks/on-call-handbook.md"}
    for path in files.keys() - changed:
        _, front_matter, body = files[path].read_text(encoding="utf-8").split("---\n", 2)
        memory = ok(told.owner.get(f"/org/memories/{published[path]['memory_id']}"))
        assert memory["content"] == body
        assert front_matter == f"description: {member(memory, 'memory')['description']}\n"


def test_the_command_that_goes_on_serving_is_told_with_the_address_and_folder_of_the_next_lines(told: Told) -> None:
    [port] = re.findall(r"^  API=http://127\.0\.0\.1:(\d+)/v1/api$", told.first, re.MULTILINE)
    assert f" up --port {port} --data {told.data}` serves it" in told.first


def test_the_reader_s_turn_is_the_last_chapter(told: Told) -> None:
    assert re.findall(r"^\d+  (\S.*)", told.first, re.MULTILINE)[-1] == "Your turn"


def test_one_review_is_left_open(told: Told) -> None:
    [waiting] = [review for review in told.reviews() if review["status"] == "open"]
    assert waiting["title"] == "Write residents' names as they do"
    assert str(waiting["review_id"]) in told.first
    assert f"$API/reviews/{waiting['review_id']}/merges" in told.second


def test_a_turn_is_given_what_another_agent_has_learned_and_nothing_of_another_scope(told: Told) -> None:
    memories = {str(memory["name"]): memory for memory in members(ok(told.owner.get("/admin/memories")), "memories")}
    [session_id] = re.findall(r"Wei: (ses_\w+)", told.first)
    [injection] = items(told.client("Wei").get(f"/sessions/{session_id}/injections"))
    given = [memory["memory_id"] for memory in members(injection, "memories")]
    assert given == [memories[name]["memory_id"] for name in ("door_stays_shut", "refund_takes_five_days")]
    [block] = re.findall(r"<memories>.*</memories>\s+\(.*\)$", told.first, re.MULTILINE | re.DOTALL)
    shown = ET.fromstring(block.partition("</memories>")[0] + "</memories>")  # noqa: S314  (our own)
    assert [memory.get("name") for memory in shown] == ["door_stays_shut", "refund_takes_five_days"]
    assert [" ".join((memory.text or "").split()) for memory in shown] == [
        memories[str(memory.get("name"))]["content"] for memory in shown
    ]
    assert (memories["short_answers"]["scope"], injection["in_scope"]) == ("user", 3)
    assert f"({injection['in_scope']} memories in scope; " in block


def test_an_agent_that_is_corrected_is_nudged_and_saves_what_it_learned(told: Told) -> None:
    assert "Nudge: The user seems to correct you." in told.first
    assert "Saved memory 'refund_takes_five_days' (type=feedback, scope=project)" in told.first
    assert "Agents saved 4 memories." in told.first


def test_run_again_it_shows_what_stands_and_changes_nothing(told: Told) -> None:
    assert "An earlier run was here" not in told.first
    assert "An earlier run was here" in told.second
    assert commits_shown(told.second) == commits_shown(told.first)
    assert [
        line for line in told.second.splitlines() if re.search(r"kill -9|publishes it: |imports the folder", line)
    ] == []
    assert len(told.reviews()) == 6
    assert [memory["revision"] for memory in members(ok(told.owner.get("/admin/memories")), "memories")] == [1] * 4
    assert set(re.findall(r"ses_\w+", told.second)) == set(re.findall(r"ses_\w+", told.first))
    assert re.search(r"· Wei +asked: .*The agent was given 2 memories", told.second, re.DOTALL)
    assert [len(items(told.owner.get("/admin/tokens", user_id=user_id))) for user_id in guests(told)] == [1, 1, 1]


def guests(told: Told) -> list[str]:
    return [str(user["user_id"]) for user in items(told.owner.get("/admin/users")) if user["email"]]


def test_everything_that_it_wrote_can_be_verified(told: Told) -> None:
    checked = run("verify", "--data", str(told.data))
    assert (checked.returncode, "nothing found" in checked.stdout) == (0, True), checked.stdout + checked.stderr


@pytest.fixture
def data() -> Iterator[Path]:
    folder = a_reachable_folder()
    yield folder / "data"
    shutil.rmtree(folder)


def test_killed_while_it_publishes_it_goes_on_with_the_next_run(data: Path) -> None:
    tell_until(data, "starting it again")
    assert WHOLE in tell(data)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_killed_at_any_moment_it_ends_as_if_nothing_had_happened(data: Path) -> None:
    random = Random(a_seed())  # noqa: S311  (to be repeated)
    for _ in range(RANDOM_KILLS):
        tell_for(data, random.uniform(0.01, 2))
    assert WHOLE in tell(data)


def tell_for(data: Path, seconds: float) -> None:
    """A demonstration that is killed so long after its story began."""
    child = start(data, free_port(), "--exit")
    output_until(child, "Three people")
    try:
        child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
