"""What the command line of `canonry import` says."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from canonry.failures import CommandFailed
from models.rules.bodies import MAX_TITLE_CHARACTERS


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What the command line says."""

    path: Path
    project: str | None
    create_project: bool
    prefix: str
    revision: str | None
    title: str
    mirror: bool
    allow_empty: bool
    dry_run: bool
    approve: bool
    merge: bool

    @classmethod
    def of(cls, chosen: argparse.Namespace) -> "ImportOptions":
        """The options of a parsed command line.

        Raises:
            CommandFailed: they contradict each other.
        """
        if chosen.create_project and chosen.project is None:
            raise CommandFailed("--create-project needs the name: --project NAME.")
        if chosen.dry_run and (chosen.approve or chosen.merge):
            raise CommandFailed("--dry-run changes nothing, so there is nothing to approve or merge.")
        if chosen.allow_empty and not chosen.mirror:
            raise CommandFailed("--allow-empty belongs to --mirror.")
        path = Path(chosen.path)
        return cls(
            path=path,
            project=chosen.project,
            create_project=chosen.create_project,
            prefix=chosen.prefix,
            revision=chosen.revision,
            title=_title(path, chosen.revision) if chosen.title is None else chosen.title,
            mirror=chosen.mirror,
            allow_empty=chosen.allow_empty,
            dry_run=chosen.dry_run,
            approve=chosen.approve,
            merge=chosen.merge,
        )


def _title(path: Path, revision: str | None) -> str:
    name = path.resolve().name
    title = f"Import {name}" if revision is None else f"Import {name} at {revision}"
    return title if title.isprintable() and len(title) <= MAX_TITLE_CHARACTERS else "Import"
