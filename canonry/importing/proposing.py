"""An import on the server: staged, tried or started."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event

from pydantic import JsonValue

from canonry.failures import CommandFailed
from canonry.importing.survey import Survey
from canonry.importing.upload import upload
from canonry.refusals import Refused
from canonry.remote import Remote
from models.errors import Forbidden, OperationInProgress
from models.schemas.imports import ImportBody, ImportListItem, ImportTrial
from models.schemas.operations import OperationView, Progress

DRAFTS = "drafts"
"""The step that takes long, and counts what it has made."""

LABEL = "files:"
PLACE_DIGITS = 16

Teller = Callable[[str, int, int], None]
"""Takes a step, how much of it is done, and of how much."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A survey on its way to a project. `folder` says where it comes from, in words that are the same next time.

    `base` is the commit that its files were exported from, as far as that is known.
    """

    project_id: str
    folder: str
    prefix: str
    title: str
    mirror: bool
    survey: Survey
    base: str | None = None

    @property
    def source(self) -> str:
        """The label of an import of this: equal for an equal folder with equal options, so that a run goes on."""
        return f"{self._place}:{(self.base or '')[:PLACE_DIGITS]}:{self._digest}"

    def is_just_this(self, source: str | None) -> bool:
        """Whether an import with this label is of equal files with equal options, wherever they lay."""
        return source is not None and source.startswith(LABEL) and source.endswith(f":{self._digest}")

    def is_same_folder(self, source: str | None) -> bool:
        """Whether an import with this label is of this folder, whatever was in it."""
        return source is not None and source.startswith(f"{self._place}:")

    @property
    def _place(self) -> str:
        return f"{LABEL}{_digest_of([self.folder, self.prefix, self.mirror])[:PLACE_DIGITS]}"

    @property
    def _digest(self) -> str:
        return _digest_of(["canonry-import/1", self.prefix, self.title, self.mirror, self.survey.digest()])


@dataclass(frozen=True, slots=True)
class Staged:
    """An import on the server, and the survey that it is of: files that changed meanwhile are left out."""

    made: ImportBody
    survey: Survey


@dataclass(frozen=True, slots=True)
class Tried:
    """What an import of the survey would do."""

    trial: ImportTrial
    survey: Survey


def stage(remote: Remote, proposal: Proposal, tell: Teller) -> Staged:
    """Make the import, or find the one that has not ended yet, and send what is missing there."""
    while True:
        made = _made(remote, proposal)
        changed = _sent(remote, made, proposal.survey, tell)
        if not changed:
            return Staged(made, proposal.survey)
        # Under its label nobody may find what is not that: it is made anew, without the files that changed.
        with suppress(Refused):
            remote.delete(f"/imports/{made.import_id}")
        proposal = replace(proposal, survey=proposal.survey.without(changed))


def try_out(remote: Remote, proposal: Proposal, tell: Teller) -> Tried:
    """What an import would do. Nothing of what is staged for that stays, and no other import has a part in it."""
    tried = _made(remote, proposal, "try:")
    survey, over = proposal.survey, Event()
    try:
        while changed := _sent(remote, tried, survey, tell):
            survey = survey.without(changed)
        trial = remote.post(f"/imports/{tried.import_id}/start", {}, ImportTrial, query={"dry_run": "true"})
        return Tried(trial, survey)
    except BaseException:
        over.set()  # whoever interrupts does not wait for a server that is away
        raise
    finally:
        with suppress(CommandFailed):
            remote.delete(f"/imports/{tried.import_id}", unless=over)


def _made(remote: Remote, proposal: Proposal, before: str = "") -> ImportBody:
    """A new import, or the one of the same label that has not ended; `before` begins the label."""
    body: dict[str, JsonValue] = {
        "project_id": proposal.project_id,
        "title": proposal.title,
        "mirror": proposal.mirror,
        "prefix": proposal.prefix,
        "source": before + proposal.source,
    }
    if proposal.base is not None:
        body["base_commit_id"] = proposal.base
    try:
        return remote.post("/imports", body, ImportBody)
    except Refused as refusal:
        if refusal.problem.get("field") == "base_commit_id":  # it is a commit of another organization
            return _made(remote, replace(proposal, base=None), before)
        if refusal.code == Forbidden.code and "permission" not in refusal.problem:
            raise CommandFailed(f"{refusal} Ask one of the project's admins to make you a member.") from refusal
        raise


def _sent(remote: Remote, made: ImportBody, survey: Survey, tell: Teller) -> set[str]:
    """Send what is missing; the paths of files that have changed since."""
    if made.status != "staging":
        return set()
    try:
        return upload(remote, made.import_id, survey, lambda done, total: tell("Sending files", done, total))
    except Refused as refusal:
        if refusal.code != OperationInProgress.code:  # another run of this command was quicker
            raise
        return set()


def start(remote: Remote, staged: ImportListItem, tell: Teller) -> ImportBody:
    """Start the import, or join it where it was started, and wait for its end; one that has ended is read."""

    def told(step: Progress) -> None:
        if step.step == DRAFTS:
            tell("Making Drafts", step.done, step.total)
        else:
            tell(f"Importing: {step.step}", 0, 0)

    operation = remote.post(f"/imports/{staged.import_id}/start", {}, OperationView)
    return remote.outcome(operation, ImportBody, told=told)


def _digest_of(words: JsonValue) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()
