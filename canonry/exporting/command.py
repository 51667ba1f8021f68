"""`canonry export`: a snapshot as a folder of Markdown or a git repository (docs/how-to/export-a-snapshot.md)."""

import argparse
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from canonry.exporting.authors import known_authors
from canonry.exporting.choosing import choose_snapshot, history
from canonry.exporting.destination import new_folder, require_unused, write_file
from canonry.exporting.files import files_of
from canonry.exporting.git import GitHistory
from canonry.progress import ProgressLine
from canonry.remote import Remote
from canonry.servers import reached
from canonry.signals import stoppable
from canonry.snapshots import fetch_snapshot
from canonry.wording import counted
from models.schemas.commits import CommitBody, Snapshot
from models.settings import Settings


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What the command line says."""

    path: Path
    project: str | None
    commit: str | None
    plain: bool
    git: bool

    @classmethod
    def of(cls, chosen: argparse.Namespace) -> "ExportOptions":
        """The options of a parsed command line."""
        return cls(
            path=Path(chosen.path),
            project=chosen.project,
            commit=chosen.commit,
            plain=chosen.plain,
            git=chosen.git,
        )


def run(settings: Settings, options: ExportOptions) -> None:
    """Write the snapshot into a folder that is there as a whole or, if anything fails, not at all.

    Raises:
        CommandFailed: nothing is published, the commit or the project is unknown, or the folder cannot be made.
    """
    require_unused(options.path)
    progress = ProgressLine(Console(stderr=True))
    with stoppable(), reached(settings, progress.say) as remote, progress.shown():
        exported = _exported(remote, options, progress)
    print(exported)


def _exported(remote: Remote, options: ExportOptions, progress: ProgressLine) -> str:
    """Export, and say what is where."""
    snapshot = choose_snapshot(remote, project=options.project, commit=options.commit)
    with new_folder(options.path) as folder:
        if not options.git:
            return _write_folder(folder, snapshot, options, progress)
        commits = history(remote, snapshot.commit)
        del snapshot  # each version is read in its turn; one at a time is in memory
        return _write_repository(remote, folder, commits, options, progress)


def _write_folder(folder: Path, snapshot: Snapshot, options: ExportOptions, progress: ProgressLine) -> str:
    total = len(snapshot.tree.entries)
    for done, file in enumerate(files_of(snapshot, plain=options.plain)):
        write_file(folder, file.path, file.data)
        progress.tell("Writing", done, total)
    return f"{_memories(snapshot)} of {_described(snapshot.commit)} in {options.path}"


def _write_repository(
    remote: Remote, folder: Path, commits: Sequence[CommitBody], options: ExportOptions, progress: ProgressLine
) -> str:
    """Write the commits, of which there is at least one, oldest first."""
    with closing(GitHistory(folder, known_authors(remote, commits[-1].project_id))) as repository:
        for done, commit in enumerate(commits):
            progress.tell("Writing", done, len(commits))
            snapshot = fetch_snapshot(remote, commit.commit_id)
            repository.add(commit, files_of(snapshot, plain=options.plain))
        repository.finish(files_of(snapshot, plain=options.plain))
    publications = counted(len(commits), "commit")
    return f"{publications} up to {_described(commits[-1])}, {_memories(snapshot)}, in {options.path}"


def _memories(snapshot: Snapshot) -> str:
    return counted(sum(entry.path is not None for entry in snapshot.tree.entries), "Memory", "Memories")


def _described(commit: CommitBody) -> str:
    return f"version {commit.version} (commit {commit.commit_id})"
