"""An import on the server: found again, staged, tried or started."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Event

from pydantic import JsonValue

from canonry.failures import CommandFailed
from canonry.importing.reviewing import read_review
from canonry.importing.survey import Survey
from canonry.importing.upload import upload
from canonry.refusals import Refused
from canonry.remote import Remote
from models.schemas.imports import ImportBody, ImportListItem, ImportTrial
from models.schemas.operations import OperationView, Progress

REVIEWABLE = ("open", "approved")
"""The states of a Review that can still be merged."""

STARTED = "operation_in_progress"
Teller = Callable[[str, int, int], None]
"""Takes a step, how much of it is done, and of how much."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A survey on its way to a project; `source` names both, so that an interrupted run finds what it has done."""

    project_id: str
    prefix: str
    title: str
    mirror: bool
    survey: Survey

    @property
    def source(self) -> str:
        """Equal for an equal folder with equal options."""
        return self.survey.source(self.prefix, self.title, mirror=self.mirror)


def former_import(remote: Remote, proposal: Proposal, tell: Teller) -> ImportBody | None:
    """The newest import of the same source that was started, at its end, if its Review can still be merged."""
    mine = remote.items("/imports", ImportListItem, project_id=proposal.project_id, source=proposal.source)
    newest = next((each for each in mine if each.status != "staging"), None)
    if newest is None or newest.status == "failed":
        return None
    # Joining one that runs: by the time that we asked for another it could have ended, and there would be two.
    done = start(remote, newest, tell)
    if done.review_id is None or read_review(remote, done.review_id).status not in REVIEWABLE:
        return None
    return done


def stage(remote: Remote, proposal: Proposal, tell: Teller) -> ImportBody:
    """Make the import, or find the one that has not ended yet, and send what is missing there."""
    made = _made(remote, proposal, proposal.source)
    if made.status == "staging":
        try:
            _send(remote, made, proposal, tell)
        except Refused as refusal:
            if refusal.code != STARTED:  # another run of this command was quicker
                raise
    return made


def try_out(remote: Remote, proposal: Proposal, tell: Teller) -> ImportTrial:
    """What an import would do. Nothing of what is staged for that stays, and no other import has a part in it."""
    tried = _made(remote, proposal, f"try:{proposal.source}")
    over = Event()
    try:
        _send(remote, tried, proposal, tell)
        return remote.post(f"/imports/{tried.import_id}/start", {}, ImportTrial, query={"dry_run": "true"})
    except BaseException:
        over.set()  # whoever interrupts does not wait for a server that is away
        raise
    finally:
        with suppress(CommandFailed):
            remote.delete(f"/imports/{tried.import_id}", unless=over)


def _made(remote: Remote, proposal: Proposal, source: str) -> ImportBody:
    body: dict[str, JsonValue] = {
        "project_id": proposal.project_id,
        "title": proposal.title,
        "mirror": proposal.mirror,
        "prefix": proposal.prefix,
        "source": source,
    }
    return remote.post("/imports", body, ImportBody)


def _send(remote: Remote, made: ImportBody, proposal: Proposal, tell: Teller) -> None:
    total = len(proposal.survey.files)
    upload(remote, made.import_id, proposal.survey, lambda done: tell("Sending files", done, total))


def start(remote: Remote, staged: ImportListItem, tell: Teller) -> ImportBody:
    """Start the import, or join it where it was started, and wait for its end; one that has ended is read."""

    def told(step: Progress) -> None:
        tell(f"Importing ({step.step})", step.done, step.total)

    operation = remote.post(f"/imports/{staged.import_id}/start", {}, OperationView)
    return remote.outcome(operation, ImportBody, told=told)
