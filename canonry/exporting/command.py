"""`canonry export`: a snapshot as a folder of Markdown or a git repository (docs/how-to/export-a-snapshot.md)."""

import argparse
import sys
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from canonry.exporting.authors import known_authors
from canonry.exporting.choosing import choose_commit, history
from canonry.exporting.destination import new_folder, remove_abandoned, require_unused, write_file
from canonry.exporting.files import Files, LeftOut, files_of
from canonry.exporting.git import GitHistory
from canonry.progress import ProgressLine
from canonry.remote import Remote
from canonry.servers import reached
from canonry.signals import stoppable
from canonry.snapshots import fetch_next, fetch_snapshot
from canonry.wording import counted
from models.schemas.commits import CommitBody, Snapshot
from models.settings import Settings

LEFT_OUT = 3
"""The exit code when some Memories could not be written as files."""


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


@dataclass(frozen=True, slots=True)
class _Exported:
    """What is where, as a sentence, and what has no file there, each Memory once for each of its paths."""

    sentence: str
    left_out: Collection[LeftOut]


def run(settings: Settings, options: ExportOptions) -> None:
    """Write the snapshot into a folder that is there as a whole or, if anything fails, not at all.

    Exits with 3 when Memories are left out of it, and names them.

    Raises:
        CommandFailed: nothing is published, the commit or the project is unknown, or the folder cannot be made.
    """
    require_unused(options.path)
    progress = ProgressLine(Console(stderr=True))
    for kept in remove_abandoned(options.path):
        progress.say(f"{kept} is there: another export writes it, or it cannot be removed.")
    with stoppable(), reached(settings, progress.say) as remote, progress.shown():
        exported = _exported(remote, options, progress)
    print(exported.sentence)
    for each in exported.left_out:
        print(each, file=sys.stderr)
    if exported.left_out:
        sys.exit(LEFT_OUT)


def _exported(remote: Remote, options: ExportOptions, progress: ProgressLine) -> _Exported:
    """Export, and say what is where."""
    commit = choose_commit(remote, project=options.project, commit=options.commit)
    with new_folder(options.path) as folder:
        if options.git:
            return _write_repository(remote, folder, history(remote, commit), options, progress)
        return _write_folder(folder, fetch_snapshot(remote, commit.commit_id), options, progress)


def _write_folder(folder: Path, snapshot: Snapshot, options: ExportOptions, progress: ProgressLine) -> _Exported:
    chosen = files_of(snapshot, plain=options.plain)
    for done, file in enumerate(chosen.files):  # the last is the manifest, which is no Memory
        progress.tell("Writing Memories", done, chosen.memories)
        write_file(folder, file.path, file.data)
    memories = _memories(chosen)
    return _Exported(f"{memories} of {_described(snapshot.commit)} in {options.path}", chosen.left_out)


def _write_repository(
    remote: Remote, folder: Path, commits: Sequence[CommitBody], options: ExportOptions, progress: ProgressLine
) -> _Exported:
    """Write the commits, of which there is at least one: the oldest is read whole, each other by what it changed."""
    left_out: dict[LeftOut, None] = {}
    snapshot = fetch_snapshot(remote, commits[0].commit_id)
    with closing(GitHistory(folder, known_authors(remote, commits[-1].project_id))) as repository:
        for done, commit in enumerate(commits):
            progress.tell("Writing commits", done, len(commits))
            if commit.commit_id != snapshot.commit.commit_id:
                snapshot = fetch_next(remote, snapshot, commit.commit_id)
            chosen = files_of(snapshot, plain=options.plain)
            left_out |= dict.fromkeys(chosen.left_out)
            repository.add(commit, chosen.files)
        repository.finish(files_of(snapshot, plain=options.plain).files)
    publications, memories = counted(len(commits), "commit"), _memories(chosen)
    return _Exported(f"{publications} up to {_described(commits[-1])}, {memories}, in {options.path}", left_out)


def _memories(chosen: Files) -> str:
    return counted(chosen.memories, "Memory", "Memories")


def _described(commit: CommitBody) -> str:
    return f"version {commit.version} (commit {commit.commit_id})"
