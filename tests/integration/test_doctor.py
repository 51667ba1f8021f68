"""`canonry doctor` on folders, databases and addresses in every state; tests/faults asks it of a running stack."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text

from canonry.embedded.ports import free_port
from models.database import sqlalchemy_url
from models.migrations import known_revisions
from tests.client import Client
from tests.commands import a_merge, a_review, published
from tests.databases import a_database, an_empty_database, url_of
from tests.rows import a_draft, an_organization, creates, execute
from tests.stack import Stack, as_ordinary_user
from tests.terminal import ran
from tests.up import run


@pytest.fixture
def alone(stack: Stack) -> Iterator[Engine]:
    """A database that holds what the test puts there."""
    server = create_engine(sqlalchemy_url(stack.database_url))
    with a_database(server) as pool:
        yield pool
    server.dispose()


class Told:
    """What the doctor said: its exit code, and its lines by name as (mark, text, advice)."""

    def __init__(self, code: int, output: str) -> None:
        self.code = code
        self.output = output
        self.lines: dict[str, tuple[str, str, str]] = {}
        name = ""
        for line in output.splitlines():
            if line.lstrip().startswith("→ "):
                mark, words, _ = self.lines[name]
                self.lines[name] = (mark, words, line.strip().removeprefix("→ "))
            else:
                mark, _, rest = line.partition(" ")
                name, _, words = rest.strip().partition("  ")
                self.lines[name] = (mark, words.strip(), "")

    def mark(self, name: str) -> str:
        return self.lines[name][0]

    def text(self, name: str) -> str:
        return self.lines[name][1]

    def advice(self, name: str) -> str:
        return self.lines[name][2]


def told(*words: str, **variables: str) -> Told:
    done = ran("doctor", *words, **{"CANONRY_PORT": str(free_port()), **variables})
    assert done.errors == ""
    return Told(done.code, done.output)


def told_of(engine: Engine, folder: Path, **variables: str) -> Told:
    """Of a database that the variable names."""
    return told("--data", str(folder), CANONRY_DATABASE_URL=url_of(engine), **variables)


def test_where_nothing_is_nothing_is_made_and_nothing_is_bad(tmp_path: Path) -> None:
    answer = told("--data", str(tmp_path / "not there"))
    assert answer.code == 0
    assert answer.mark("data folder") == "?"
    assert answer.advice("canonry up").endswith(f" up --data '{tmp_path / 'not there'}'`.")
    assert list(tmp_path.iterdir()) == []


def test_every_line_is_aligned_and_has_one_mark(tmp_path: Path) -> None:
    answer = told("--data", str(tmp_path / "none"))
    texts = [line for line in answer.output.splitlines() if "→" not in line]
    assert {line.split()[0] for line in texts} <= {"ok", "warn", "bad", "?"}
    assert len({line.index(answer.text(name)) for line, name in zip(texts, answer.lines, strict=True)}) == 1


def test_a_running_server_is_told_with_its_versions_and_left_as_it_is(stack: Stack) -> None:
    answer = told("--data", str(stack.root), CANONRY_TEMPORAL_ADDRESS=stack.temporal_address)
    assert f"process {stack.postgres.pid}, ready" in answer.text("postgres")
    assert answer.text("database").startswith("PostgreSQL ")
    assert "Temporal 1." in answer.text("temporal")
    assert answer.text("schema") == f"revision {known_revisions()[-1]}, this version's is {known_revisions()[-1]}"
    assert (answer.mark("clock"), answer.mark("disk")) == ("ok", "ok")
    assert stack.postgres.is_running()


def test_a_database_that_does_not_answer_is_bad_and_its_password_is_not_shown(tmp_path: Path) -> None:
    url = "postgresql://someone:hunter2@127.0.0.1:1/name?password=hunter3"
    answer = told("--data", str(tmp_path), CANONRY_DATABASE_URL=url)
    assert answer.code == 4
    assert answer.mark("database") == "bad"
    assert answer.text("database").startswith("127.0.0.1:1/name, does not answer: ")
    assert "hunter" not in answer.output


def test_a_temporal_that_does_not_answer_is_bad(alone: Engine, tmp_path: Path) -> None:
    answer = told_of(alone, tmp_path, CANONRY_TEMPORAL_ADDRESS="127.0.0.1:1")
    assert (answer.code, answer.mark("temporal")) == (4, "bad")
    assert answer.text("temporal") == "127.0.0.1:1, does not answer"


def test_a_namespace_that_is_not_there_is_named(alone: Engine, tmp_path: Path, stack: Stack) -> None:
    answer = told_of(
        alone, tmp_path, CANONRY_TEMPORAL_ADDRESS=stack.temporal_address, CANONRY_TEMPORAL_NAMESPACE="elsewhere"
    )
    assert answer.text("temporal") == f"{stack.temporal_address}, has no namespace elsewhere"


def test_a_temporal_that_no_worker_asks_for_work_is_a_warning(alone: Engine, tmp_path: Path, stack: Stack) -> None:
    answer = told_of(
        alone, tmp_path, CANONRY_TEMPORAL_ADDRESS=stack.temporal_address, CANONRY_TASK_QUEUE="nobody-polls-this"
    )
    assert answer.mark("temporal") == "warn"
    assert answer.advice("temporal").endswith(" worker`: nothing is carried out without one.")


def test_a_database_without_a_schema_is_bad(alone: Engine, tmp_path: Path) -> None:
    with an_empty_database(alone) as empty:
        answer = told_of(empty, tmp_path)
    assert (answer.code, answer.mark("schema"), answer.mark("operations")) == (4, "bad", "?")
    assert answer.text("schema").startswith("revision none, ")


def test_a_schema_of_a_newer_version_is_a_warning(alone: Engine, tmp_path: Path) -> None:
    with alone.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    assert told_of(alone, tmp_path).mark("schema") == "warn"


def test_what_waits_is_counted_with_its_age(alone: Engine, tmp_path: Path) -> None:
    place = an_organization(alone)
    published(place, creates("1.md"))
    for name in ("2.md", "3.md"):
        a_merge(place, a_review(place, a_draft(place, creates(name))))
    answer = told_of(alone, tmp_path)
    assert answer.text("operations").startswith("2 operations not ended, the oldest for ")
    assert answer.text("lanes") == "merges wait in 1 organization, at most 2 in one"
    assert (answer.mark("operations"), answer.mark("deliveries")) == ("ok", "ok")


@pytest.mark.parametrize(("age", "mark"), [("2 minutes", "warn"), ("1 hour", "bad")])
def test_what_waits_for_long_is_told_with_advice(alone: Engine, tmp_path: Path, age: str, mark: str) -> None:
    place = an_organization(alone)
    a_merge(place, a_review(place, a_draft(place, creates("1.md"))))
    execute(
        place,
        """
        update operations set created_at = now() - cast(:age as interval)
        where org_id = :o and status = 'pending'
        """,
        age=age,
    )
    execute(place, "update operations set next_delivery_at = created_at where org_id = :o and status = 'pending'")
    answer = told_of(alone, tmp_path)
    assert answer.mark("operations") == mark
    assert answer.mark("deliveries") == "warn"
    assert answer.advice("operations").startswith("See whether a worker runs")


def test_operations_that_ended_for_a_reason_of_ours_are_told(alone: Engine, tmp_path: Path) -> None:
    place = an_organization(alone)
    a_merge(place, a_review(place, a_draft(place, creates("1.md"))))
    execute(
        place,
        """
        update operations set status = 'failed', next_delivery_at = null, problem = '{"code": "internal_error"}'
        where org_id = :o and status = 'pending'
        """,
    )
    assert told_of(alone, tmp_path).text("failures") == "1 operation ended with internal_error within a day"


def test_how_long_an_open_transaction_holds_up_the_feed_is_told(alone: Engine, tmp_path: Path) -> None:
    place = an_organization(alone)
    with alone.connect() as connection:
        connection.execute(text("update organizations set version = version where org_id = :o"), {"o": place.org_id})
        time.sleep(0.2)
        answer = told_of(alone, tmp_path)
        connection.rollback()
    assert answer.text("feed").startswith("lag ")
    assert not answer.text("feed").startswith("lag 0.0 s")


def test_a_folder_that_others_may_read_and_a_token_are_told(fresh: Path) -> None:
    (fresh / "owner.token").write_text("cnr_secret\n")
    (fresh / "owner.token").chmod(0o644)
    fresh.chmod(0o755)
    answer = told("--data", str(fresh))
    assert answer.mark("data folder") == "warn"
    assert (answer.code, answer.mark("owner token")) == (4, "bad")
    assert "cnr_secret" not in answer.output


def test_somebody_elses_folder_is_bad(stack: Stack) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can try another account")
    doctor = [sys.executable, "-P", "-m", "canonry", "doctor", "--data", str(stack.root)]
    command = [word for word in as_ordinary_user(doctor) if "dac_read" not in word]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd="/")
    answer = Told(done.returncode, done.stdout)
    assert (answer.code, answer.mark("data folder")) == (4, "bad")


def test_a_port_that_another_program_has_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        answer = told("--data", str(tmp_path / "none"), CANONRY_PORT=str(other.getsockname()[1]))
    assert answer.mark("api") == "warn"
    assert answer.text("api").startswith("another program listens on 127.0.0.1:")


def test_a_server_elsewhere_is_asked_and_what_cannot_be_known_is_said(tmp_path: Path, api: Client) -> None:
    answer = told("--data", str(tmp_path / "none"), CANONRY_URL=api.base_url, CANONRY_TOKEN="cnr_secret")  # noqa: S106
    assert (answer.code, answer.mark("api")) == (0, "ok")
    assert (answer.mark("database"), answer.mark("temporal")) == ("?", "?")
    assert "cnr_secret" not in answer.output


def test_the_last_error_of_a_log_is_shown_for_a_day(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    now, past = datetime.now(UTC), datetime.now(UTC) - timedelta(days=3)
    said = ("ERROR canonry: first", "ERROR canonry: cnr_secret\x1b[2J", "INFO canonry: well")
    (logs / "worker.log").write_text("".join(f"{now:%Y-%m-%d %H:%M:%S},000 {words}\n" for words in said))
    (logs / "api.log").write_text(f"{past:%Y-%m-%d %H:%M:%S},000 ERROR canonry: long ago\n")
    answer = told("--data", str(tmp_path))
    assert answer.mark("worker.log") == "warn"
    assert answer.text("worker.log").endswith(r"ERROR canonry: ***\x1b[2J")
    assert "api.log" not in answer.lines
    assert answer.text("logs").endswith("2 files, 0 MB")


def test_a_terminal_without_our_letters_is_told_in_escapes(tmp_path: Path) -> None:
    done = run("doctor", "--data", str(tmp_path / "none"), PYTHONIOENCODING="ascii", CANONRY_PORT=str(free_port()))
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u2192 `" in done.stdout
