"""`canonry verify`: re-hash every text, tree and commit of every organization, and check every invariant."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

from rich.console import Console
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError, ProgrammingError

from canonry.database import open_database
from canonry.diagnosis.lines import shown
from canonry.failures import CommandFailed
from canonry.progress import ProgressLine
from canonry.wording import counted
from models.migrations import applied_revisions, known_revisions
from models.settings import Settings
from models.store.installation import InstalledOrganization, organizations
from models.store.verification.findings import Finding
from models.store.verification.installation import check_installation
from models.store.verification.organization import FAMILIES, Check
from models.store.verification.schema import check_schema
from models.store.verification.snapshot import Snapshot, reading

FOUND = 4
"""The exit code when something does not hold."""

SHOWN_A_CHECK = 20
"""One defect can show in every version after it; more of a kind are only counted."""


def run(settings: Settings) -> None:
    """Verify every organization, each on one snapshot, while the service runs; exit with 4 when something is found.

    Raises:
        CommandFailed: there is no database, it does not answer, or nothing in it can be read.
    """
    progress = ProgressLine(Console())
    began, number = time.monotonic(), 0
    with open_database(settings) as engine:
        found = _verify_installation(engine, progress)
        for organization in _organizations(engine):
            found += _verify(engine, organization, progress)
            number += 1
    progress.say(f"{_findings(found)} in {counted(number, 'organization')}, {time.monotonic() - began:.1f} s.")
    if found:
        sys.exit(FOUND)


def _verify_installation(engine: Engine, progress: ProgressLine) -> int:
    """Show where the database's schema is not this version's, and what is of no organization; how much that is."""
    with reading(engine) as connection:
        unknown = sorted(set(applied_revisions(connection)) - set(known_revisions()))
        if unknown:
            raise CommandFailed(
                f"The database was written by a newer Canonry ({shown(', '.join(unknown))}); verify with that one."
            )
        findings = list(check_schema(connection))
        if not findings:
            findings = list(check_installation(connection))
    for finding in findings:
        progress.say(str(finding))
    return len(findings)


def _organizations(engine: Engine) -> list[InstalledOrganization]:
    try:
        with engine.connect() as connection:
            return organizations(connection)
    except ProgrammingError as error:
        raise CommandFailed(f"The organizations cannot be read: {_said(error)}.") from error


def _verify(engine: Engine, organization: InstalledOrganization, progress: ProgressLine) -> int:
    """Verify one organization and show what is found; how much that is."""
    began, rows, found = time.monotonic(), 0, Counter[str]()
    title = shown(f"{organization.name} ({organization.org_id})")
    with progress.shown(), reading(engine) as connection:
        for family, check in FAMILIES.items():
            snapshot = Snapshot(connection, organization.org_id, _teller(progress, title, rows))
            for finding in _readable(connection, snapshot, family, check):
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


def _readable(connection: Connection, snapshot: Snapshot, family: str, check: Check) -> Iterator[Finding]:
    """What a family of checks finds, and one finding more where the database cannot read on for it."""
    attempt = connection.begin_nested()
    try:
        yield from check(snapshot)
    except OperationalError:
        raise  # it is gone, or stopped us
    except DBAPIError as error:
        attempt.rollback()
        what, where = "the rest of a check cannot be read", f"{family} of {snapshot.org_id}"
        yield Finding("database.unread", what, where, "rows", _said(error))
    else:
        attempt.commit()


def _said(error: DBAPIError) -> str:
    """The database's own sentence, without ours about it."""
    return shown(str(error.orig).partition("\n")[0])


def _findings(number: int) -> str:
    return counted(number, "finding") if number else "nothing found"


def _teller(progress: ProgressLine, title: str, before: int) -> Callable[[int], None]:
    """Tells how many rows of an organization have been read, those of former checks included."""
    return lambda read: progress.tell(title, before + read, 0)
