"""What the command line of `canonry import` says."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from canonry.failures import CommandFailed
from models.errors import OperationInvalid
from models.rules.bodies import MAX_TITLE_CHARACTERS
from models.rules.paths import accept_path


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
            CommandFailed: they contradict each other, or one breaks a rule that the server would refuse it by.
        """
        if chosen.create_project and chosen.project is None:
            raise CommandFailed("--create-project needs the name: --project NAME.")
        if chosen.dry_run and (chosen.approve or chosen.merge):
            raise CommandFailed("--dry-run changes nothing, so there is nothing to approve or merge.")
        if chosen.allow_empty and not chosen.mirror:
            raise CommandFailed("--allow-empty belongs to --mirror.")
        if chosen.project == "":
            raise CommandFailed("--project: the name is empty; leave the option out where there is only one project.")
        path = Path(chosen.path)
        return cls(
            path=path,
            project=chosen.project,
            create_project=chosen.create_project,
            prefix=_prefix(chosen.prefix),
            revision=chosen.revision,
            title=_default_title(path, chosen.revision) if chosen.title is None else _title(chosen.title),
            mirror=chosen.mirror,
            allow_empty=chosen.allow_empty,
            dry_run=chosen.dry_run,
            approve=chosen.approve,
            merge=chosen.merge,
        )


def _default_title(path: Path, revision: str | None) -> str:
    name = path.resolve().name
    title = f"Import {name}" if revision is None else f"Import {name} at {revision}"
    return title if title.isprintable() and len(title) <= MAX_TITLE_CHARACTERS else "Import"


def _title(given: str) -> str:
    if not given.strip() or len(given) > MAX_TITLE_CHARACTERS:
        raise CommandFailed(f"--title: accepted are 1 to {MAX_TITLE_CHARACTERS} characters that are not blank.")
    return given


def _prefix(given: str) -> str:
    if not given:
        return ""
    try:
        return accept_path(given if given == "/" else given.removesuffix("/"))
    except OperationInvalid as problem:
        raise CommandFailed(f"--prefix: {problem.detail} (rule {problem.context['rule']})") from problem
