"""Before serving: schema, first organization, owner token, in a process that ends and takes its imports along."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from canonry.embedded.processes import log_size, log_tail, spawn
from canonry.embedded.queries import has_schema_and_organization
from canonry.failures import StartFailed

OWNER_TOKEN = "owner.token"  # noqa: S105  (a file name)


@dataclass
class Preparation:
    """The process that prepares, when there is anything to prepare."""

    log: Path
    environment: Mapping[str, str]
    child: subprocess.Popen[bytes] | None = None
    log_begin: int = 0

    def begin(self) -> subprocess.Popen[bytes]:
        """Let it load already, while the database starts."""
        self.log_begin = log_size(self.log)
        self.child = spawn(
            [sys.executable, "-P", "-m", "canonry.prepare"],
            log=self.log,
            cwd=Path.cwd(),
            environment=self.environment,
            death_signal=signal.SIGKILL,
            listens=True,
            answers=True,
        )
        return self.child

    def finish(self, database_url: str) -> str | None:
        """Prepare the database; the owner's secret when this was the first start, else None.

        Raises:
            StartFailed: it failed; the text quotes its log.
        """
        if self.child is None and has_schema_and_organization(database_url):
            return None
        child = self.child or self.begin()
        answer, _ = child.communicate(f"{database_url}\n".encode())
        if child.returncode != 0:
            raise StartFailed(f"The database could not be prepared:\n{log_tail(self.log, self.log_begin)}")
        secret: str | None = json.loads(answer)["secret"]
        return secret

    def cancel(self) -> None:
        """End it before it has got anything to do; nothing happens when it has ended or was not begun."""
        if self.child is not None:
            self.child.kill()
            self.child.communicate()
