"""Our own processes as children: `canonry api` and `canonry worker`."""

import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from canonry.embedded.processes import end_child, spawn


@dataclass
class Service:
    """A running `canonry NAME`, with what it takes to start it again."""

    name: str
    log: Path
    environment: Mapping[str, str]
    grace_s: float
    child: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        """The process."""
        return self.child.pid

    def is_running(self) -> bool:
        """Whether the process lives."""
        return self.child.poll() is None

    def restart(self) -> None:
        """Start it again after it died."""
        self.child = _launch(self.name, self.log, self.environment)

    def stop(self) -> None:
        """Let it finish what it began for `grace_s`, then kill it: whatever it does is safe to do again."""
        end_child(self.child, self.grace_s)


def start_service(name: str, *, log: Path, environment: Mapping[str, str], grace_s: float) -> Service:
    """Start `canonry NAME` with exactly these variables; it is gone when we are."""
    return Service(name, log, environment, grace_s, _launch(name, log, environment))


def _launch(name: str, log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return spawn(
        # -P: a folder `api` or `models` where the user happens to stand is not ours
        [sys.executable, "-P", "-m", "canonry", name],
        log=log,
        cwd=Path.cwd(),
        environment=environment,
        death_signal=signal.SIGKILL,
    )
