import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from canonry.embedded.ports import free_port
from canonry.embedded.postgres import start_postgres
from canonry.embedded.processes import is_running
from tests.stack import a_reachable_folder, as_ordinary_user, start_stack
from tests.up import (
    GONE_S,
    READY_S,
    Up,
    a_command,
    an_environment,
    an_up,
    assert_none_left,
    assert_one_sentence,
    processes_of,
    run,
    whoami,
    words_of,
)


@pytest.fixture
def data() -> Iterator[Path]:
    folder = a_reachable_folder()
    yield folder / "data"
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    """A stack whose user has another PostgreSQL in mind."""
    folder = a_reachable_folder()
    running = an_up(folder / "data", PGSERVICE="none", PGPORT="1", PGHOST="127.0.0.1", PGOPTIONS="-c none.such=1 -x")
    yield running
    running.child.terminate()
    running.child.wait(60)
    shutil.rmtree(folder)


def test_up_says_where_everything_is_and_what_it_took(up: Up) -> None:
    text = up.text()
    assert re.search(r"Ready after \d+\.\d s \(cold start\)\.", text)
    assert f"API          {up.url}\n" in text
    assert f"{up.url}/docs" in text
    assert re.search(r"Temporal UI  http://127\.0\.0\.1:\d+\n", text)
    for part in ("postgres", "temporal", "api", "worker", "supervisor"):
        assert re.search(rf"Memory .*\b{part} [1-9]\d* MB", text)


def test_the_owner_s_token_is_printed_once_kept_privately_and_works(up: Up) -> None:
    file = up.data / "owner.token"
    secret = file.read_text().strip()
    assert file.stat().st_mode & 0o777 == 0o600
    assert up.text().count(secret) == 1
    answer = whoami(up, secret)
    assert answer.status_code == 200
    assert answer.json()["permissions"] == ["read", "write", "admin.memories", "service"]


def test_tokens_are_made_listed_and_revoked_beside_a_running_server(up: Up) -> None:
    made = run("token", "create", "--data", str(up.data), "--name", "ci")
    secret = made.stdout.strip()
    assert whoami(up, secret).status_code == 200
    token_id = made.stderr.split()[0]
    listed = run("token", "list", "--data", str(up.data)).stdout
    assert re.search(rf"{token_id} .* ci +read,write +never", listed)
    assert secret not in listed
    assert run("token", "revoke", token_id, "--data", str(up.data)).returncode == 0
    assert whoami(up, secret).status_code == 401
    assert_one_sentence(
        run("token", "revoke", token_id, "--data", str(up.data)), r"canonry token: There is no token .*"
    )
    assert up.readiness()["status"] == "ready"


def test_variables_for_another_database_do_not_reach_ours(up: Up) -> None:
    assert up.readiness()["status"] == "ready"
    for name in ("api", "worker"):
        (part,) = up.parts(name)
        assert [variable for variable in part.environ() if variable.startswith("PG")] == []
    assert run("token", "list", "--data", str(up.data), PGSERVICE="none", PGPORT="1").returncode == 0
    told = run("doctor", "--data", str(up.data), PGSERVICE="none", PGPORT="1", CANONRY_PORT=up.url.rpartition(":")[2])
    assert told.returncode == 0, told.stdout


def test_a_second_up_on_the_folder_is_refused_and_names_the_first(up: Up) -> None:
    answer = run("up", "--data", str(up.data), "--port", str(free_port()))
    assert_one_sentence(
        answer,
        rf"canonry up: Canonry already runs on {up.data}: process {up.child.pid}, {up.url};"
        " use it, or stop that process\\.",
    )


def test_a_taken_port_is_one_sentence_and_nothing_is_started(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = run("up", "--data", str(data), "--port", str(port))
    sentence = rf"Port {port}, wanted for the API, is taken by another program; choose another with --port\."
    assert_one_sentence(answer, f"canonry up: {sentence}")
    assert not (data / "postgres").exists()


@pytest.mark.parametrize(
    "words", [("api",), ("worker",), ("start-dev",), ("-D",)], ids=["api", "worker", "temporal", "postgres"]
)
def test_a_part_that_is_killed_comes_back(up: Up, words: tuple[str, ...]) -> None:
    (old,) = up.parts(*words)
    old.kill()
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        new = [each for each in up.parts(*words) if each.pid != old.pid]
        if new and up.readiness().get("temporal") == "up":
            break
        time.sleep(0.1)
    assert len(new) == 1
    assert up.readiness()["status"] == "ready"
    assert "ended; starting it again in " in up.text()


def test_a_part_that_keeps_dying_ends_the_whole_with_1_and_its_last_words(data: Path) -> None:
    up = an_up(data)
    while up.child.poll() is None:
        with suppress(psutil.Error):
            for worker in up.parts("worker"):
                worker.kill()
        time.sleep(0.05)
    assert up.child.returncode == 1
    assert re.search(r"\ncanonry up: worker ended 5 times within 60 s, the last time with:\n.+", up.text())
    assert up.text().count("worker ended; starting it again in ") == 4
    assert_none_left(data)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.long)])
def test_a_stop_signal_ends_everything_in_order_with_0(data: Path, number: signal.Signals) -> None:
    up = an_up(data)
    os.killpg(up.child.pid, number)  # as a terminal does: to the whole group, twice by an impatient person
    time.sleep(0.2)
    os.killpg(up.child.pid, number)
    assert up.child.wait(GONE_S) == 0
    assert_none_left(data)
    log = (data / "logs" / "postgres.log").read_text()
    assert "database system is shut down" in log
    assert "Traceback" not in up.text()


@pytest.mark.parametrize(("words", "number"), [((), signal.SIGINT), (("--exit",), signal.SIGTERM)])
def test_a_stop_signal_before_it_is_ready_is_no_success(
    data: Path, words: tuple[str, ...], number: signal.Signals
) -> None:
    child = subprocess.Popen(
        a_command("up", "--data", str(data), "--port", str(free_port()), *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=an_environment(),
        text=True,
    )
    while not any("start-dev" in line for each in processes_of(data) for line in words_of(each)):
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(number)
    _, errors = child.communicate(timeout=GONE_S)
    assert (child.returncode, errors) == (128 + number, "canonry up: Interrupted.\n")
    assert_none_left(data)


def test_a_stop_signal_ends_a_start_whose_database_is_frozen(data: Path) -> None:
    child = subprocess.Popen(
        a_command("up", "--data", str(data), "--port", str(free_port())),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=an_environment(),
        text=True,
    )
    while not (servers := [each for each in processes_of(data) if words_of(each)[1:2] == ["-D"]]):
        assert child.poll() is None
        time.sleep(0.01)
    for server in servers:
        server.suspend()
    child.send_signal(signal.SIGTERM)
    _, errors = child.communicate(timeout=GONE_S)
    assert (child.returncode, errors) == (128 + signal.SIGTERM, "canonry up: Interrupted.\n")
    assert_none_left(data)


def test_kill_9_of_the_parent_leaves_no_child_and_the_next_start_is_warm(data: Path) -> None:
    up = an_up(data)
    assert len(processes_of(data)) > 4
    up.child.kill()
    up.child.wait()
    assert_none_left(data)
    answer = run("up", "--data", str(data), "--port", str(free_port()), "--exit")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith(f"Starting Canonry in {data}, with the data that is there …\n")
    assert re.search(r"Ready after \d+\.\d s \(warm start\)\.", answer.stdout)
    assert (data / "owner.token").read_text().strip() not in answer.stdout


def test_kill_9_in_the_middle_of_a_start_leaves_no_child_and_the_next_start_works(data: Path) -> None:
    moments: list[Callable[[], bool]] = [
        lambda: any("start-dev" in words_of(each) for each in processes_of(data)),
        lambda: any("--pgdata" in words_of(each) for each in processes_of(data)),
        (data / "postgres" / "data").exists,
        (data / "owner.token").exists,
    ]
    for has_come in moments:
        child = subprocess.Popen(
            a_command("up", "--data", str(data), "--port", str(free_port())),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=an_environment(),
        )
        while not has_come():
            assert child.poll() is None
            time.sleep(0.01)
        child.kill()
        child.wait()
        assert_none_left(data)
    answer = run("up", "--data", str(data), "--port", str(free_port()), "--exit")
    assert answer.returncode == 0, answer.stderr


def test_a_database_and_a_temporal_of_the_operator_replace_the_embedded_ones(data: Path) -> None:
    stack = start_stack()
    try:
        elsewhere = {
            "CANONRY_DATABASE_URL": stack.database_url,
            "CANONRY_TEMPORAL_ADDRESS": stack.temporal_address,
        }
        up = an_up(data, **elsewhere)
        try:
            assert {words_of(each)[-1] for each in up.parts()} == {"worker", "api"}
            assert not (data / "postgres").exists()
            assert not (data / "temporal").exists()
            assert whoami(up, (data / "owner.token").read_text().strip()).status_code == 200
        finally:
            up.child.terminate()
            assert up.child.wait(GONE_S) == 0
        assert is_running(stack.postgres.pid)
        assert is_running(stack.temporal.pid)
    finally:
        stack.stop()


def test_an_ordinary_user_runs_all_of_it_in_a_folder_of_its_own(data: Path) -> None:
    data.parent.chmod(0o777)
    command = as_ordinary_user(a_command("up", "--data", str(data), "--port", str(free_port()), "--exit"))
    answer = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
        cwd=data.parent,
        env={"HOME": str(data.parent), "PATH": os.defpath},
    )
    assert answer.returncode == 0, answer.stderr
    assert data.stat().st_mode & 0o777 == 0o700
    owners = {path.stat().st_uid for path in data.rglob("*")}
    assert owners == {data.stat().st_uid}


def test_a_failed_start_quotes_the_log_and_leaves_nothing_running(data: Path) -> None:
    start_postgres(data, durable=False).stop()
    with (data / "postgres" / "data" / "postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")
    answer = run("up", "--data", str(data), "--port", str(free_port()))
    assert answer.returncode == 1
    assert "canonry up: PostgreSQL ended while it started:" in answer.stderr
    assert "no_such_setting" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert_none_left(data)


def test_a_database_that_does_not_answer_is_named(data: Path) -> None:
    url = f"postgresql://nobody@127.0.0.1:{free_port()}/none"
    answer = run("up", "--data", str(data), "--port", str(free_port()), CANONRY_DATABASE_URL=url)
    assert answer.returncode == 1
    assert "canonry up: The database could not be prepared:\nThe database does not answer: connection" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("command", ["up", "api", "worker", "migrate"])
def test_a_wrong_setting_stops_the_start_with_its_name_and_what_is_accepted(command: str) -> None:
    answer = run(command, CANONRY_LOG_LEVEL="loud")
    assert_one_sentence(answer, r"CANONRY_LOG_LEVEL: .*accepted: debug, info, warning or error\)")


def test_migrate_needs_a_database_of_the_operator() -> None:
    assert_one_sentence(run("migrate"), r"canonry migrate: CANONRY_DATABASE_URL is not set; .*")


def test_a_reader_that_has_enough_gets_no_traceback(up: Up) -> None:
    child = subprocess.Popen(
        a_command("token", "list", "--data", str(up.data)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    child.stdout.close()
    assert child.stderr is not None
    with child.stderr as errors:
        assert errors.read() == ""
    assert child.wait(30) == 1
