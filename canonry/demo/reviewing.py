"""Chapters of Reviews: a question, a rejection, a move across projects, and one that is left open."""

from collections.abc import Mapping

from pydantic import JsonValue

from canonry.demo import script
from canonry.demo.desk import (
    append,
    comment,
    comments,
    creation,
    draft,
    proposed,
    read_draft,
    reject,
    resolve,
    resubmit,
    submit,
)
from canonry.demo.people import JONAS, MIRA, PLATFORM, SUPPORT
from canonry.demo.scene import SHORT, Scene
from canonry.demo.snapshots import Reading, read_snapshot
from canonry.wording import counted
from models.schemas.drafts import DraftBody
from models.schemas.reviews import ReviewBody


def ask_and_answer(scene: Scene) -> None:
    """Two Drafts in one Review, with a question about a line."""
    scene.display.chapter(
        "Two Drafts in one Review, a question and an answer",
        "What belongs together is read together, and published together or not at all.",
    )
    review = scene.find(PLATFORM, script.ALERTS_TITLE)
    review = _propose_alerts(scene) if review is None else scene.proposed_before(review)
    if review.status in ("open", "approved"):
        _talk(scene, review)
    else:
        _recall(scene, review)
    scene.publish(review)


def reject_and_improve(scene: Scene) -> None:
    """A Review is sent back with a reason, and comes back better."""
    scene.display.chapter(
        "Rejected with a reason, and better the second time",
        "Every submission is kept, with a SHA-256 of what it comes to. An approval is bound to that hash: "
        "what was not read cannot be published.",
    )
    review = scene.find(PLATFORM, script.FLAGS_TITLE)
    review = _propose_flags(scene) if review is None else scene.proposed_before(review)
    if review.status == "open" and review.submission == 1:
        review = _reject(scene, review)
    if review.status == "rejected":
        review = _improve(scene, review)
    scene.publish(review)


def move_in_both_projects(scene: Scene) -> None:
    """A document gets another path and more to say; both projects that read it move with the same merge."""
    scene.display.chapter(
        "One document moves, and both projects with it",
        "A document is known by its id and not by its path. Whoever reads it keeps reading it.",
    )
    review = scene.find(PLATFORM, script.RENAME_TITLE)
    before = _readings(scene)
    review = _propose_move(scene, before[PLATFORM]) if review is None else scene.proposed_before(review)
    scene.publish(review)
    if review.status != "merged":
        for name, after in _readings(scene).items():
            _tell_of_move(scene, name, before[name], after)


def leave_open(scene: Scene) -> ReviewBody:
    """One Review waits for a decision, for whoever looks around afterwards."""
    scene.display.chapter("Your turn", "One Review waits for somebody to read it and decide.")
    found = scene.find(SUPPORT, script.OPEN_TITLE)
    if found is not None:
        return scene.proposed_before(found)
    with scene.display.step(MIRA, "proposes one more document") as step:
        page = creation(script.NAMES, "names.md", "How to write and say a resident's name")
        review = submit(scene.cast.mira, script.OPEN_TITLE, [_draft(scene, SUPPORT, script.OPEN_TITLE, page)])
        step.ends(f"proposes “{review.title}”: {review.status}", f"{review.review_id}, {script.NAMES}")
    return review


def _propose_alerts(scene: Scene) -> ReviewBody:
    with scene.display.step(MIRA, "writes two Drafts") as step:
        deploy = read_snapshot(scene.cast.mira, scene.projects[PLATFORM])
        text = deploy.texts[deploy.at(script.DEPLOY)] + proposed("deploy-and-alerts.md")
        page = creation(script.ALERTS, "alerts.md", "What is worth waking a person, and how to say it")
        more: JsonValue = {"action": "update", "path": script.DEPLOY, "content": {"content": text}}
        drafts = [
            _draft(scene, PLATFORM, "How to write an alert", page),
            _draft(scene, PLATFORM, "What a deploy may ring", more),
        ]
        review = submit(scene.cast.mira, script.ALERTS_TITLE, drafts)
        step.ends(
            f"proposes “{review.title}”: {counted(len(review.drafts), 'Draft')}",
            f"creates {script.ALERTS}, adds to {script.DEPLOY}; together {review.result_hash[:SHORT]}…",
        )
    return review


def _talk(scene: Scene, review: ReviewBody) -> None:
    jonas, mira = scene.cast.jonas, scene.cast.mira
    line = next(
        number
        for number, text in enumerate(proposed("alerts.md").splitlines(), start=1)
        if text.startswith(script.QUESTION_AT)
    )
    with scene.display.step(JONAS, "asks about a line") as step:
        question = comment(jonas, review, script.QUESTION, (script.ALERTS, line))
        step.ends(f"asks, at {question.anchor_path} line {question.anchor_line}: “{question.body}”")
    with scene.display.step(MIRA, "answers") as step:
        step.ends(f"answers: “{comment(mira, review, script.ANSWER).body}”")
    resolve(jonas, review, question)


def _recall(scene: Scene, review: ReviewBody) -> None:
    for said in comments(scene.cast.jonas, review):
        scene.display.before(scene.cast.name(said.author_id), f"“{said.body}”")


def _propose_flags(scene: Scene) -> ReviewBody:
    with scene.display.step(MIRA, "proposes a convention") as step:
        page = creation(script.FLAGS, "feature-flags.first.md", "How unfinished work goes out, and how a flag ends")
        review = submit(scene.cast.mira, script.FLAGS_TITLE, [_draft(scene, PLATFORM, script.FLAGS_TITLE, page)])
        step.ends(
            f"proposes “{review.title}”: submission {review.submission}, {review.result_hash[:SHORT]}…",
        )
    return review


def _reject(scene: Scene, review: ReviewBody) -> ReviewBody:
    with scene.display.step(JONAS, "reads it and sends it back") as step:
        rejected = reject(scene.cast.jonas, review, script.REASON)
        reason = next(event.reason for event in reversed(rejected.timeline) if event.event == "rejected")
        step.ends(f"rejects it: “{reason}”")
    return rejected


def _improve(scene: Scene, review: ReviewBody) -> ReviewBody:
    with scene.display.step(MIRA, "writes how a flag ends, and submits it again") as step:
        first = read_draft(scene.cast.mira, review.drafts[0].draft_id)
        better: JsonValue = {
            "action": "update",
            "memory_id": first.operations[0].memory_id,
            "content": {"content": proposed("feature-flags.md")},
        }
        second = append(scene.cast.mira, first, better) if len(first.operations) == 1 else first
        again = resubmit(scene.cast.mira, review, [second])
        step.ends(
            f"writes how a flag ends: submission {again.submission}, {again.result_hash[:SHORT]}…",
            f"Submission 1 can still be read, as {again.submissions[0].result_hash[:SHORT]}…",
        )
    return again


def _propose_move(scene: Scene, before: Reading) -> ReviewBody:
    """The document moves and gets a section; whatever links to it follows."""
    incident = before.at(script.INCIDENT)
    old, new = (path.rpartition("/")[2] for path in (script.INCIDENT, script.RENAMED))
    texts = {memory_id: text.replace(f"({old}", f"({new}") for memory_id, text in before.texts.items()}
    texts[incident] += proposed("incident-lesson.md")
    changed = {memory_id: text for memory_id, text in texts.items() if text != before.texts[memory_id]}
    with scene.display.step(MIRA, f"moves {script.INCIDENT}") as step:
        operations: list[JsonValue] = [
            {"action": "update", "memory_id": memory_id, "content": {"content": text}}
            for memory_id, text in changed.items()
        ]
        operations.append({"action": "rename", "memory_id": incident, "new_path": script.RENAMED})
        review = submit(
            scene.cast.mira, script.RENAME_TITLE, [_draft(scene, PLATFORM, script.RENAME_TITLE, *operations)]
        )
        links = counted(len(changed) - 1, "other document")
        step.ends(
            f"proposes “{review.title}”",
            f"It gets a section and becomes {new}; the link in {links} follows.",
        )
    return review


def _tell_of_move(scene: Scene, name: str, before: Reading, after: Reading) -> None:
    memory_id = after.at(script.RENAMED)
    places = f"{before.paths[memory_id]} → {after.paths[memory_id]}"
    scene.display.tell(
        name,
        f"version {before.commit.version} → {after.commit.version}: {places}",
        f"The same document as before: {memory_id}",
    )


def _readings(scene: Scene) -> Mapping[str, Reading]:
    return {name: read_snapshot(scene.cast.jonas, project_id) for name, project_id in scene.projects.items()}


def _draft(scene: Scene, project: str, title: str, *operations: JsonValue) -> DraftBody:
    return draft(scene.cast.mira, scene.projects[project], title, operations)
