"""`canonry verify`: re-hash every text, tree and commit of every organization, and check every invariant."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.status import Status
from sqlalchemy import Engine

from canonry.database import open_database
from canonry.diagnosis.lines import shown
from canonry.signals import Stopped
from models.settings import Settings
from models.store.installation import InstalledOrganization, organizations
from models.store.verification.organization import FAMILIES
from models.store.verification.snapshot import Snapshot, reading

FOUND = 4
"""The exit code when something does not hold."""

SHOWN_A_CHECK = 20
"""One defect can show in every version after it; more of a kind are only counted."""

LINE_EVERY_S = 10.0
"""How often a log learns how far a large organization has come."""


def run(settings: Settings) -> None:
    """Verify every organization, each on one snapshot, while the service runs; exit with 4 when something is found.

    Raises:
        CommandFailed: there is no database, or it does not answer.
    """
    console = Console(highlight=False, soft_wrap=True, markup=False)
    began, number, found = time.monotonic(), 0, 0
    try:
        with open_database(settings) as engine:
            with engine.connect() as connection:
                known = organizations(connection)
            for organization in known:
                found += _verify(engine, organization, console)
                number += 1
    except Stopped as stopped:  # an answer that is not whole is not "nothing found"
        raise KeyboardInterrupt from stopped
    organizations_read = f"{number} organization" + ("" if number == 1 else "s")
    console.print(f"{_counted(found)} in {organizations_read}, {time.monotonic() - began:.1f} s.")
    if found:
        sys.exit(FOUND)


def _verify(engine: Engine, organization: InstalledOrganization, console: Console) -> int:
    """Verify one organization and show what is found; how much that is."""
    began, rows, found = time.monotonic(), 0, Counter[str]()
    title = shown(f"{organization.name} ({organization.org_id})")
    with _progress(console, title) as progress, reading(engine) as connection:
        for family, check in FAMILIES.items():
            snapshot = Snapshot(connection, organization.org_id, partial(progress, family))
            for finding in check(snapshot):
                found[finding.check] += 1
                if found[finding.check] <= SHOWN_A_CHECK:
                    console.print(str(finding))
            rows += snapshot.rows_read
    for check_name, times in found.items():
        if times > SHOWN_A_CHECK:
            console.print(f"{check_name}: {times - SHOWN_A_CHECK} more of these, {times} in all")
    total = found.total()
    seconds = time.monotonic() - began
    console.print(f"{'✗' if total else '✓'} {title}: {_counted(total)}, {rows:,} rows, {seconds:.1f} s")
    return total


def _counted(found: int) -> str:
    if found == 0:
        return "nothing found"
    return "1 finding" if found == 1 else f"{found:,} findings"


@contextmanager
def _progress(console: Console, title: str) -> Iterator[Callable[[str, int], None]]:
    """Show how far one organization has come: alive on a terminal, as a line now and then in a log."""
    if console.is_terminal:
        with console.status(title) as status:
            yield lambda family, read: _show(status, f"{title}: {family}, {read:,} rows")
        return
    shown_at = time.monotonic()

    def show(family: str, read: int) -> None:
        nonlocal shown_at
        if time.monotonic() - shown_at >= LINE_EVERY_S:
            shown_at = time.monotonic()
            console.print(f"  {title}: {family}, {read:,} rows")

    yield show


def _show(status: Status, text: str) -> None:
    status.update(text)
