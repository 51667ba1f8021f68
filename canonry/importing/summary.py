"""What an import came to, for the person who ran it: on standard output, without progress."""

from collections.abc import Sequence

from canonry.importing.base import Base
from canonry.wording import counted, printable
from models.errors import ReconciliationRequired
from models.rules.import_plans import ImportPlan
from models.schemas.imports import (
    ImportBody,
    ImportChange,
    ImportCountsBody,
    ImportFacts,
    ImportReportBody,
    ImportTrial,
)
from models.schemas.reviews import ReviewBody

SHOWN_DIGITS = 12

NEXT = {
    "open": "an owner or admin approves and merges it, by the same command with --merge or over the API.",
    "approved": "an owner or admin merges it, by the same command with --merge or over the API.",
    "merged": "it is published; projects that select these Memories read them now.",
    "rejected": "mend the files and run the command again.",
    "withdrawn": "run the command again for a new Review.",
}


def show_import(done: ImportBody, reports: Sequence[ImportReportBody], *, before: Sequence[str], base: Base) -> None:
    """Print what an import came to and what it left out, below what there is to know of earlier runs."""
    for line in before:
        print(line)
    _show_base(done, base)
    if done.counts is not None:
        print(f"The import: {_counted(done.counts)}")
    show_reports(reports)
    if done.review_id is None:
        print(f"There is nothing to review: {_why_not(reports)}.")


def _why_not(reports: Sequence[ImportReportBody]) -> str:
    if not reports:
        return "whatever is new here is published already"
    was = "was" if len(reports) == 1 else "were"
    return f"{counted(len(reports), 'file')} {was} left out, and nothing else differs"


def show_review(review: ReviewBody, server: str | None) -> None:
    """Print how the Review stands, where it can be read on the `server`, and what to do next."""
    print(f"Review {review.review_id} is {review.status}: {printable(review.title)}")
    if server is not None:
        print(f"What it changes: {server}/v1/api/reviews/{review.review_id}/diff")
    print(f"Next: {NEXT[review.status]}")


def show_preview(preview: ImportTrial, reports: Sequence[ImportReportBody], base: Base) -> None:
    """Print every change of a dry run, what would be left out, and the sums."""
    _show_base(preview, base)
    for change in preview.changes:
        print(_described(change))
    show_reports(reports)
    print(f"A dry run, nothing has changed: {_counted(preview.counts)}")


def show_foreseen(project: str, plan: ImportPlan, reports: Sequence[ImportReportBody]) -> None:
    """Print what an import into a project that is not there yet would create."""
    for change in plan.changes:
        print(f"{change.action:<7} {printable(change.path)}")
    show_reports(reports)
    created = f"{counted(plan.counts.created, 'file')} would be created"
    unchanged = f", {plan.counts.unchanged:,} unchanged" if plan.counts.unchanged else ""
    print(f"A dry run, nothing has changed: it would make the project {printable(project)}; {created}{unchanged}.")


def show_reports(reports: Sequence[ImportReportBody]) -> None:
    """Print each file that is left out, with code and reason, and what helps against the common one."""
    if reports:
        print(f"Left out, {len(reports)} of the files:")
    for report in reports:
        print(f"  {printable(report.path)}  {report.code}  {printable(report.detail)}")
    if any(report.code == ReconciliationRequired.code for report in reports):
        print("Others have published since: export again and carry your change over.")


def show_notes(notes: Sequence[ImportReportBody]) -> None:
    """Print what a person may want to mend in files that are taken all the same."""
    if notes:
        print(f"Taken as they are, but with a note, {len(notes)}:")
    for note in notes:
        print(f"  {printable(note.path)}  {note.code}  {printable(note.detail)}")


def _show_base(facts: ImportFacts, base: Base) -> None:
    if facts.base_commit_id is not None:
        is_import = base.imported and base.commit_id == facts.base_commit_id  # an import gone on with may have another
        became = "imported as" if is_import else "exported from"
        print(f"Compared with commit {facts.base_commit_id[:SHOWN_DIGITS]} that this folder was {became}.")


def _described(change: ImportChange) -> str:
    if change.from_path is not None:
        return f"{change.action:<7} {printable(change.from_path)} → {printable(change.path)}"
    return f"{change.action:<7} {printable(change.path)}"


def _counted(counts: ImportCountsBody) -> str:
    return (
        f"{counts.created} created, {counts.updated} updated, {counts.renamed} renamed, {counts.deleted} deleted,"
        f" {counts.unchanged} unchanged."
    )
