"""Children that die with us, keep a log, and are looked at without being mistaken for others."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

import psutil

from canonry.embedded import shim
from canonry.embedded.accounts import Account

POLL_S = 0.01
QUOTED_LINES = 12
QUOTED_BYTES = 8_000


def spawn(
    command: Sequence[str | Path],
    *,
    log: Path,
    cwd: Path,
    environment: Mapping[str, str],
    death_signal: signal.Signals,
    account: Account | None = None,
    listens: bool = False,
    answers: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own that gets `death_signal` when this process dies.

    Args:
        command: the program by its full path, and its arguments.
        log: takes both output streams, appended.
        cwd: the working folder, which the account must reach.
        environment: all variables of the child; nothing is inherited.
        death_signal: what the kernel sends it when we are gone, however that came (Linux only).
        account: whom it runs as; None keeps ours.
        listens: connect its input to us by a pipe.
        answers: connect its output to us by a pipe; the log then takes its error stream alone.
    """
    # The signal belongs to the *thread* that forks: a child of a pool thread that ends would be killed with it.
    pipes = _Pipes(listens, answers)
    return _spawning_thread().submit(_spawn, command, log, cwd, environment, death_signal, account, pipes).result()


class _Pipes(NamedTuple):
    listens: bool
    answers: bool


@cache
def _spawning_thread() -> ThreadPoolExecutor:
    """One thread that ends with the process."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawn")


def _spawn(
    command: Sequence[str | Path],
    log: Path,
    cwd: Path,
    environment: Mapping[str, str],
    death_signal: signal.Signals,
    account: Account | None,
    pipes: _Pipes,
) -> subprocess.Popen[bytes]:
    uid, gid = (account.uid, account.gid) if account and account.dropped else (shim.KEEP_ACCOUNT, shim.KEEP_ACCOUNT)
    prefix = [sys.executable, "-I", "-S", shim.__file__, *map(str, (os.getpid(), int(death_signal), uid, gid))]
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        return subprocess.Popen(  # noqa: S603  (our own command, no shell)
            [*prefix, *map(str, command)],
            stdin=subprocess.PIPE if pipes.listens else subprocess.DEVNULL,
            stdout=subprocess.PIPE if pipes.answers else output,
            stderr=output,
            cwd=cwd,
            env=dict(environment),
            start_new_session=True,
        )
    finally:
        os.close(output)


def server_environment(home: Path) -> dict[str, str]:
    """What a server sees: none of our variables, so that no stray setting of the user reaches it."""
    return {"HOME": str(home), "PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def is_running(pid: int) -> bool:
    """Whether the process lives; a zombie, which a PID 1 that does not reap leaves behind, does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def is_frozen(pid: int) -> bool:
    """Whether a signal stopped the process: it lives, and does nothing."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False


def works_in(pid: int, folder: Path) -> bool:
    """Whether the process lives and its working folder is `folder`: how a server is told from a reused pid."""
    try:
        return is_running(pid) and Path(psutil.Process(pid).cwd()) == folder.resolve()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def all_that_work_in(folder: Path) -> list[int]:
    """The processes whose working folder is `folder`."""
    return [pid for pid in psutil.pids() if works_in(pid, folder)]


def wait_until_gone(pid: int, seconds: float, child: subprocess.Popen[bytes] | None = None) -> bool:
    """Wait for the end of a process, reaping it when it is our `child`; False when the time was too short."""
    deadline = time.monotonic() + seconds
    while is_running(pid) and (child is None or child.poll() is None):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    if child is not None:
        child.wait()
    return True


def end_child(child: subprocess.Popen[bytes], seconds: float) -> None:
    """Ask a child to end, and kill it when the time was too short: only for what survives that."""
    child.terminate()
    child.send_signal(signal.SIGCONT)  # a frozen process would never read the signal
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal; a process that is gone is no error."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def log_size(log: Path) -> int:
    """Where the next line of the log will begin, 0 before the first."""
    return log.stat().st_size if log.exists() else 0


def log_tail(log: Path, since: int = 0) -> str:
    """The last lines of a log, from the byte `since` on, for an error message."""
    if not log.exists():
        return "(no log)"
    with log.open("rb") as lines:
        lines.seek(max(since, log_size(log) - QUOTED_BYTES))
        text = lines.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-QUOTED_LINES:]) or "(empty log)"
