"""Before serving: schema, first organization, owner token, in a process that ends and takes its imports along."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from canonry.embedded.processes import log_size, log_tail, spawn
from canonry.failures import StartFailed

OWNER_TOKEN = "owner.token"  # noqa: S105  (a file name)


@dataclass(frozen=True)
class Preparation:
    """The process that prepares, already importing while the database starts."""

    child: subprocess.Popen[bytes]
    log: Path
    log_begin: int

    def finish(self, database_url: str) -> str | None:
        """Let it work on the database; the owner's secret when this was the first start, else None.

        Raises:
            StartFailed: it failed; the text quotes its log.
        """
        answer, _ = self.child.communicate(f"{database_url}\n".encode())
        if self.child.returncode != 0:
            raise StartFailed(f"The database could not be prepared:\n{log_tail(self.log, self.log_begin)}")
        secret: str | None = json.loads(answer)["secret"]
        return secret

    def cancel(self) -> None:
        """End it before it has got anything to do; nothing happens after `finish`."""
        self.child.kill()
        self.child.communicate()


def begin_preparation(*, log: Path, environment: Mapping[str, str]) -> Preparation:
    """Start the process; it waits for a database URL."""
    begin = log_size(log)
    child = spawn(
        [sys.executable, "-P", "-m", "canonry.prepare"],
        log=log,
        cwd=Path.cwd(),
        environment=environment,
        death_signal=signal.SIGKILL,
        talks=True,
    )
    return Preparation(child, log, begin)
