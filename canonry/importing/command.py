"""`canonry import`: propose a folder of Markdown as one Review (docs/how-to/import-a-folder.md)."""

import sys
from collections.abc import Sequence

from rich.console import Console

from canonry.documents.folder import read_folder
from canonry.documents.repository import read_revision
from canonry.failures import CommandFailed
from canonry.importing.base import Base, find_base, remember_import
from canonry.importing.former import former_import
from canonry.importing.options import ImportOptions
from canonry.importing.proposing import Proposal, stage, start, try_out
from canonry.importing.reviewing import approve, merge, read_review
from canonry.importing.summary import show_foreseen, show_import, show_notes, show_preview, show_reports, show_review
from canonry.importing.survey import Reader, Survey, survey
from canonry.importing.unmade import foresee
from canonry.progress import ProgressLine
from canonry.projects import choose_project, would_make_project
from canonry.remote import Remote
from canonry.servers import reached
from models.rules.import_plans import ImportPlan
from models.schemas.imports import ImportReportBody
from models.schemas.reviews import ReviewBody
from models.schemas.tenancy import ProjectView
from models.settings import Settings

LEFT_OUT = 3
"""The exit code when all is done but files were left out."""


def run(settings: Settings, options: ImportOptions) -> None:
    """Stage what differs, make Drafts and one Review of it, and say how that stands.

    Run again after an interruption it goes on where it was; run again later it imports what has changed since.

    Raises:
        CommandFailed: nothing can be read, reached or proposed, or the role does not allow what was asked.
        SystemExit: 3, all is done but files were left out.
    """
    progress = ProgressLine(Console(stderr=True))
    with progress.shown():
        found = _surveyed(options, progress)
    with reached(settings, progress.say, makes=not options.dry_run) as remote:
        left_out = (
            _previewed(remote, options, found, progress)
            if options.dry_run
            else _imported(remote, options, found, progress)
        )
    if left_out:
        sys.exit(LEFT_OUT)


def _surveyed(options: ImportOptions, progress: ProgressLine) -> Survey:
    """What is to be imported.

    Raises:
        CommandFailed: it cannot be read, nothing is there, or a mirror would delete what it cannot see.
    """
    found = survey(_reader(options), lambda files: progress.tell("Reading files", files, 0))
    if options.mirror and not found.complete:
        show_reports(found.reports)
        raise CommandFailed("--mirror would delete what lies in the folders that could not be read.")
    if not (found.files or found.reports or options.allow_empty):
        remedy = (
            "; --mirror would delete everything, and --allow-empty says that this is meant" if options.mirror else ""
        )
        raise CommandFailed(f"There is no Markdown file (.md, .mdc) in {options.path}{remedy}.")
    return found


def _reader(options: ImportOptions) -> Reader:
    revision = options.revision
    if revision is None:
        return lambda: read_folder(options.path)
    return lambda: read_revision(options.path, revision)


def _previewed(remote: Remote, options: ImportOptions, found: Survey, progress: ProgressLine) -> bool:
    """Show what would happen; whether files would be left out."""
    if options.create_project and options.project is not None and would_make_project(remote, options.project):
        plan = foresee(remote, found, prefix=options.prefix, base=find_base(remote, options, found))
        return _foreseen(options.project, found, plan)
    with progress.shown():
        project = choose_project(remote, options.project, create=False)
        base = find_base(remote, options, found)
        tried = try_out(remote, _proposal(options, project, found, base), progress.tell)
    reports = _all_reports(tried.survey, tried.trial.reports)
    show_notes(found.notes)
    show_preview(tried.trial, reports, base)
    return bool(reports)


def _foreseen(name: str, found: Survey, plan: ImportPlan) -> bool:
    """Show what would happen in a project that is not there yet; whether files would be left out."""
    answered = [ImportReportBody(path=each.path, code=each.code, detail=each.detail) for each in plan.reports]
    reports = _all_reports(found, answered)
    show_notes(found.notes)
    show_foreseen(name, plan, reports)
    return bool(reports)


def _imported(remote: Remote, options: ImportOptions, found: Survey, progress: ProgressLine) -> bool:
    """Bring what was found into a Review, and that as far as the options say; whether files were left out."""
    with progress.shown():
        project = choose_project(remote, options.project, create=options.create_project)
        base = find_base(remote, options, found)
        proposal = _proposal(options, project, found, base)
        former = former_import(remote, proposal, progress.tell)
        done = former.going_on
        if done is None:
            staged = stage(remote, proposal, progress.tell)
            done, found = start(remote, staged.made, progress.tell), staged.survey
    reports = _all_reports(found, done.reports)
    show_notes(found.notes)
    remember_import(options, found, {report.path for report in reports})
    show_import(done, reports, before=former.told, base=base)
    if done.review_id is not None:
        review = _decided(remote, options, read_review(remote, done.review_id))
        show_review(review, remote.url if remote.lasts else None)
    return bool(reports)


def _decided(remote: Remote, options: ImportOptions, review: ReviewBody) -> ReviewBody:
    if options.approve:
        review = approve(remote, review)
    if options.merge:
        review = merge(remote, review)
    return review


def _proposal(options: ImportOptions, project: ProjectView, found: Survey, base: Base) -> Proposal:
    return Proposal(
        project_id=project.project_id,
        folder=str(options.path.resolve()),
        prefix=options.prefix,
        title=options.title,
        mirror=options.mirror,
        survey=found,
        base=base.commit_id,
    )


def _all_reports(found: Survey, answered: Sequence[ImportReportBody]) -> list[ImportReportBody]:
    """Ours and the server's by path; of a file that we could not read the server knows less than we do."""
    ours = {report.path for report in found.reports}
    return sorted([*found.reports, *(each for each in answered if each.path not in ours)], key=lambda each: each.path)
