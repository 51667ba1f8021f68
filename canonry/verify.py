"""`canonry verify`: re-hash every text, tree and commit of every organization, and check every invariant."""

import sys
import time
from collections import Counter
from collections.abc import Callable

from rich.console import Console
from sqlalchemy import Engine

from canonry.database import open_database
from canonry.diagnosis.lines import shown
from canonry.progress import ProgressLine
from canonry.signals import Stopped
from canonry.wording import counted
from models.settings import Settings
from models.store.installation import InstalledOrganization, organizations
from models.store.verification.organization import FAMILIES
from models.store.verification.snapshot import Snapshot, reading

FOUND = 4
"""The exit code when something does not hold."""

SHOWN_A_CHECK = 20
"""One defect can show in every version after it; more of a kind are only counted."""


def run(settings: Settings) -> None:
    """Verify every organization, each on one snapshot, while the service runs; exit with 4 when something is found.

    Raises:
        CommandFailed: there is no database, or it does not answer.
    """
    progress = ProgressLine(Console())
    began, number, found = time.monotonic(), 0, 0
    try:
        with open_database(settings) as engine:
            with engine.connect() as connection:
                known = organizations(connection)
            for organization in known:
                found += _verify(engine, organization, progress)
                number += 1
    except Stopped as stopped:  # an answer that is not whole is not "nothing found"
        raise KeyboardInterrupt from stopped
    progress.say(f"{_findings(found)} in {counted(number, 'organization')}, {time.monotonic() - began:.1f} s.")
    if found:
        sys.exit(FOUND)


def _verify(engine: Engine, organization: InstalledOrganization, progress: ProgressLine) -> int:
    """Verify one organization and show what is found; how much that is."""
    began, rows, found = time.monotonic(), 0, Counter[str]()
    title = shown(f"{organization.name} ({organization.org_id})")
    with progress.shown(), reading(engine) as connection:
        for check in FAMILIES.values():
            snapshot = Snapshot(connection, organization.org_id, _teller(progress, title, rows))
            for finding in check(snapshot):
                found[finding.check] += 1
                if found[finding.check] <= SHOWN_A_CHECK:
                    progress.say(str(finding))
            rows += snapshot.rows_read
    for check_name, times in found.items():
        if times > SHOWN_A_CHECK:
            progress.say(f"{check_name}: {times - SHOWN_A_CHECK} more of these, {times} in all")
    total = found.total()
    seconds = time.monotonic() - began
    progress.say(f"{'✗' if total else '✓'} {title}: {_findings(total)}, {rows:,} rows, {seconds:.1f} s")
    return total


def _findings(number: int) -> str:
    return counted(number, "finding") if number else "nothing found"


def _teller(progress: ProgressLine, title: str, before: int) -> Callable[[int], None]:
    """Tells how many rows of an organization have been read, those of former checks included."""
    return lambda read: progress.tell(title, before + read, 0)
