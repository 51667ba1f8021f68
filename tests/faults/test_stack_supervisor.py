import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

import pytest

from canonry.embedded.processes import is_frozen, spawn
from canonry.failures import CommandFailed, StartFailed
from canonry.stack import stop_parts
from canonry.supervisor import MOST_DEATHS, Deaths, Part, Supervisor


@dataclass
class ShellPart:
    """A real process that runs a line of shell."""

    name: str
    log: Path
    line: str
    child: Popen[bytes] = field(init=False)
    starts: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.relaunch()

    @property
    def pid(self) -> int:
        return self.child.pid

    def is_running(self) -> bool:
        return self.child.poll() is None

    def relaunch(self) -> None:
        self.starts.append(time.monotonic())
        command = ["/bin/sh", "-c", self.line]
        self.child = spawn(command, log=self.log, cwd=Path("/"), environment={}, death_signal=signal.SIGKILL)

    def stop(self) -> None:
        self.child.kill()
        self.child.wait()


@dataclass
class UnstartablePart(ShellPart):
    """One that starts once and never again."""

    def relaunch(self) -> None:
        if self.starts:
            raise StartFailed("there is no way back")
        super().relaunch()


def silently(line: str) -> None:
    assert line


def nowhere_else() -> None:
    """The files of these parts stay where they are."""


def a_watching_supervisor(
    parts: Sequence[Part], report: Callable[[str], None], require_place: Callable[[], None] = nowhere_else
) -> Supervisor:
    supervisor = Supervisor(parts, report, require_place)
    supervisor.watch()
    return supervisor


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_part_that_keeps_dying_ends_the_whole_with_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonry.supervisor.FIRST_PAUSE_S", 0.1)
    part = ShellPart("worker", tmp_path / "log", "echo out of luck; exit 3")
    supervisor = a_watching_supervisor([part], silently)
    with pytest.raises(
        CommandFailed, match=r"worker ended 5 times within 60 s, the last time with:\n(out of luck\n?)+"
    ):
        supervisor.wait()
    supervisor.stop()
    pauses = [later - earlier for earlier, later in zip(part.starts, part.starts[1:], strict=False)]
    assert len(part.starts) == MOST_DEATHS
    assert all(pause >= least for pause, least in zip(pauses, [0.1, 0.2, 0.4, 0.8], strict=True))


def test_a_part_that_cannot_be_started_again_ends_the_whole_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canonry.supervisor.FIRST_PAUSE_S", 0.01)
    supervisor = a_watching_supervisor([UnstartablePart("api", tmp_path / "log", "exit 1")], silently)
    with pytest.raises(CommandFailed, match="there is no way back"):
        supervisor.wait()
    supervisor.stop()


def test_others_go_on_while_one_is_started_again(tmp_path: Path) -> None:
    lines: list[str] = []
    stable = ShellPart("api", tmp_path / "api", "exec sleep 60")
    shaky = ShellPart(
        "worker", tmp_path / "worker", f"test -e {tmp_path}/again && exec sleep 60; touch {tmp_path}/again"
    )
    supervisor = a_watching_supervisor([stable, shaky], lines.append)
    wait_for(lambda: len(shaky.starts) == 2 and shaky.is_running())
    supervisor.stop()
    supervisor.wait()
    assert len(stable.starts) == 1
    assert lines == [f"worker ended; starting it again in 0.5 s ({tmp_path}/worker)"]
    stable.stop()
    shaky.stop()


def test_the_pause_doubles_up_to_ten_seconds() -> None:
    deaths = Deaths()
    pauses = []
    for second in range(7):
        deaths.add(float(second))
        pauses.append(deaths.pause_s)
    assert pauses == [0.5, 1, 2, 4, 8, 10, 10]


def test_deaths_of_more_than_a_minute_ago_do_not_count() -> None:
    deaths = Deaths()
    for minute in range(10):
        deaths.add(61.0 * minute)
        assert not deaths.too_many
        assert deaths.pause_s == 0.5


def test_a_child_of_a_thread_that_ended_lives_on(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        part = pool.submit(ShellPart, "api", tmp_path / "log", "exec sleep 60").result()
    time.sleep(0.3)  # the kernel sends the parent-death signal with the end of the thread that forked
    assert part.is_running()
    part.stop()


def test_a_part_whose_files_are_gone_is_not_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonry.supervisor.PLACE_EVERY_S", 60)
    lost: list[str] = []

    def require_place() -> None:
        if lost:
            raise CommandFailed(lost[0])

    part = ShellPart("temporal", tmp_path / "log", "exec sleep 60")
    supervisor = a_watching_supervisor([part], silently, require_place)
    time.sleep(0.3)
    lost.append("moved away")
    part.stop()
    with pytest.raises(CommandFailed, match="moved away"):
        supervisor.wait()
    supervisor.stop()
    assert len(part.starts) == 1


def test_a_supervisor_that_cannot_go_on_says_so(tmp_path: Path) -> None:
    def breaks() -> None:
        raise RuntimeError("unheard of")

    part = ShellPart("api", tmp_path / "log", "exec sleep 60")
    supervisor = a_watching_supervisor([part], silently, breaks)
    with pytest.raises(RuntimeError, match="unheard of"):
        supervisor.wait()
    supervisor.stop()
    part.stop()


def test_a_part_that_takes_long_to_end_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(ShellPart):
        def stop(self) -> None:
            time.sleep(0.3)
            super().stop()

    monkeypatch.setattr("canonry.stack.PATIENCE_S", 0.1)
    lines: list[str] = []
    slow, quick = (
        kind(name, tmp_path / name, "exec sleep 60") for kind, name in ((Slow, "api"), (ShellPart, "worker"))
    )
    stop_parts([quick, slow], lines.append)
    assert lines == [f"Waiting for api (process {slow.pid}) to end …"]


def test_a_frozen_part_is_thawed_before_others_wait_for_it(tmp_path: Path) -> None:
    class Dependent(ShellPart):
        def stop(self) -> None:
            wait_for(lambda: not is_frozen(frozen.pid))
            super().stop()

    frozen, api = (
        ShellPart("temporal", tmp_path / "temporal", "exec sleep 60"),
        Dependent("api", tmp_path / "api", "exec sleep 60"),
    )
    frozen.child.send_signal(signal.SIGSTOP)
    wait_for(lambda: is_frozen(frozen.pid))
    stop_parts([frozen, api], silently)
    assert not api.is_running()


def test_one_that_is_stopped_before_it_watches_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonry.supervisor.FIRST_PAUSE_S", 0.01)
    part = ShellPart("worker", tmp_path / "log", "exit 1")
    supervisor = Supervisor([part], silently)
    supervisor.stop()
    supervisor.watch()
    time.sleep(0.5)
    supervisor.wait()
    assert len(part.starts) == 1
    part.stop()


def test_one_that_is_stopped_before_a_restart_is_due_starts_nothing(tmp_path: Path) -> None:
    lines: list[str] = []
    part = ShellPart("worker", tmp_path / "log", "exit 1")
    supervisor = a_watching_supervisor([part], lines.append)
    wait_for(lambda: bool(lines))
    supervisor.stop()
    time.sleep(0.7)
    assert len(part.starts) == 1


def test_a_restart_that_does_not_end_does_not_hold_up_the_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck, freed = threading.Event(), threading.Event()

    class Stuck(ShellPart):
        def relaunch(self) -> None:
            if self.starts:
                stuck.set()
                freed.wait()
            else:
                super().relaunch()

    monkeypatch.setattr("canonry.supervisor.FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr("canonry.supervisor.RESTART_LIMIT_S", 0.1)
    supervisor = a_watching_supervisor([Stuck("postgres", tmp_path / "log", "exit 1")], silently)
    assert stuck.wait(20)
    began = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - began < 10
    supervisor.wait()
    freed.set()
