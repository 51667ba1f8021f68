"""Chapters of the library: a folder goes through the pipeline of `canonry import`, and is published."""

from pathlib import Path

from pydantic import JsonValue

from canonry.demo.desk import ask_to_merge
from canonry.demo.outage import publish_through_an_outage
from canonry.demo.people import JONAS, MIRA, PLATFORM, SUPPORT
from canonry.demo.scene import Scene
from canonry.demo.script import INCIDENT, LIBRARY_TITLE, RENAME_TITLE, SUPPORT_TITLE
from canonry.demo.snapshots import read_snapshot
from canonry.documents.folder import read_folder
from canonry.failures import CommandFailed
from canonry.importing.former import former_import
from canonry.importing.proposing import Proposal, stage, start
from canonry.importing.reviewing import read_review
from canonry.importing.survey import survey
from canonry.refusals import Refused
from canonry.wording import counted
from models.schemas.commits import SelectionBody
from models.schemas.imports import ImportBody
from models.schemas.operations import OperationView
from models.schemas.reviews import ReviewBody

DOCUMENTS = Path(__file__).parent / "documents"


def import_the_library(scene: Scene) -> ReviewBody:
    """A folder becomes one Review, which its author may not publish."""
    scene.display.chapter(
        "A folder of documents becomes one proposal",
        "Nobody edits what others read. A change is written as a Draft and read by others as a Review; "
        "approved and merged, it is published as a whole. An import is no exception.",
    )
    review = _propose(scene, folder="platform", project=PLATFORM, title=LIBRARY_TITLE)
    if review.status == "open":
        _may_not_publish(scene, review)
    return review if review.status == "merged" else scene.approve(review)


def publish_the_library(scene: Scene, review: ReviewBody) -> None:
    """It is published, while servers are killed."""
    scene.display.chapter(
        "Publishing it, with servers killed in the middle",
        "Postgres keeps what is true. Temporal and the worker carry a publication out, and may be lost at "
        "any moment: what was accepted ends, once.",
    )
    if not scene.published_before(review):
        publish_through_an_outage(scene, review)


def share_a_document(scene: Scene) -> None:
    """Support gets its own pages, and selects one that another project has made."""
    scene.display.chapter(
        "A second project reads one of the same documents",
        "A project selects documents by id and reads a version of its own. Nothing is copied.",
    )
    scene.publish(_propose(scene, folder="support", project=SUPPORT, title=SUPPORT_TITLE, prefix="support"))
    _select(scene)


def _propose(scene: Scene, *, folder: str, project: str, title: str, prefix: str = "") -> ReviewBody:
    """Mira imports a folder, unless that has been done."""
    found = scene.find(project, title)
    if found is not None:
        return scene.proposed_before(found)
    mira = scene.cast.mira
    with scene.display.step(MIRA, f"imports the folder {folder}/") as step:
        files = survey(lambda: read_folder(DOCUMENTS / folder), lambda number: step.advance(number, 0))
        proposal = Proposal(
            project_id=scene.projects[project], folder=folder, prefix=prefix, title=title, mirror=False, survey=files
        )

        def told(_: str, done: int, total: int) -> None:
            step.advance(done, total)

        going_on = former_import(mira, proposal, told).going_on
        done = going_on or start(mira, stage(mira, proposal, told).made, told)
        if done.review_id is None or done.counts is None or done.reports:
            raise CommandFailed(_not_ours(done))
        review = read_review(mira, done.review_id)
        step.ends(
            f"imports the folder {folder}/: {done.counts.created} files, one Review",
            f"“{review.title}”, {review.review_id}",
        )
    return review


def _not_ours(done: ImportBody) -> str:
    left_out = "".join(f" {report.path}: {report.detail}" for report in done.reports[:1])
    return (
        f"The folder's documents are here already, and are not the demonstration's.{left_out} Take another: --data DIR."
    )


def _may_not_publish(scene: Scene, review: ReviewBody) -> None:
    with scene.display.step(MIRA, "tries to publish it by herself") as step:
        try:
            ask_to_merge(scene.cast.mira, review)
        except Refused as refusal:
            step.ends(f"tries to publish it by herself: refused, {refusal.status} {refusal.code}", str(refusal))
        else:
            raise CommandFailed("A member's request to publish was accepted, and should have been refused.")


def _select(scene: Scene) -> None:
    """Jonas adds the incident runbook to what Support reads."""
    platform = read_snapshot(scene.cast.mira, scene.projects[PLATFORM])
    path = f"/projects/{scene.projects[SUPPORT]}/org-selections"
    selection = scene.cast.jonas.get(path, SelectionBody)
    shared = sorted(platform.paths.keys() & set(selection.resource_ids))
    if shared:
        scene.display.before(JONAS, f"selected for Support: {', '.join(platform.paths[each] for each in shared)}")
        return
    if scene.find(PLATFORM, RENAME_TITLE) is not None:  # it was shared once, and somebody took it back
        return
    incident = platform.at(INCIDENT)
    with scene.display.step(JONAS, f"selects {INCIDENT} for Support") as step:
        wanted: dict[str, JsonValue] = {"resource_ids": [*selection.resource_ids, incident]}
        operation = scene.cast.jonas.put(path, wanted, OperationView, version=selection.revision)
        selected = scene.cast.jonas.outcome(operation, SelectionBody)
        step.ends(f"selects {INCIDENT} for Support: it reads {counted(len(selected.memories), 'document')} now")
