"""Our own processes as children: the API and the worker."""

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from canonry.embedded.processes import end_child, spawn


@dataclass
class Service:
    """A running `api` or `worker`, with what it takes to start it again."""

    name: str
    log: Path
    environment: Mapping[str, str]
    grace_s: float
    child: subprocess.Popen[bytes]
    addresses: Mapping[str, str] = field(default_factory=dict)

    @property
    def pid(self) -> int:
        """The process."""
        return self.child.pid

    def is_running(self) -> bool:
        """Whether the process lives."""
        return self.child.poll() is None

    def begin(self, addresses: Mapping[str, str]) -> None:
        """Let it serve, with these further variables."""
        self.addresses = addresses
        if self.child.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError), self.child.stdin as line:  # whoever looks after it sees its death
            line.write(json.dumps(dict(addresses)).encode() + b"\n")

    def relaunch(self) -> None:
        """Start it again after it died."""
        self.child = _load(self.name, self.log, self.environment)
        self.begin(self.addresses)

    def stop(self) -> None:
        """Let it finish what it began for `grace_s`, then kill it: whatever it does is safe to do again."""
        end_child(self.child, self.grace_s)


def load_service(name: str, *, log: Path, environment: Mapping[str, str], grace_s: float) -> Service:
    """Start `api` or `worker` with exactly these variables, up to where `begin` lets it serve; gone when we are."""
    return Service(name, log, environment, grace_s, _load(name, log, environment))


def _load(name: str, log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return spawn(
        # -P: a folder `api` or `models` where the user happens to stand is not ours
        [sys.executable, "-P", "-m", "canonry.serving", name],
        log=log,
        cwd=Path.cwd(),
        environment=environment,
        death_signal=signal.SIGKILL,
        listens=True,
    )
