"""Drafts as commands name them: the actor's own, and as they were seen (publication.md §4)."""

from collections.abc import Sequence

from activities.requests import DraftReference
from models.errors import (
    DraftClosed,
    DraftSubmitted,
    DuplicateId,
    JsonValue,
    NotFound,
    OperationInvalid,
    Problem,
    VersionConflict,
)
from models.identifiers import DraftId, ProjectId, ReviewId
from models.store.locks import DraftRow
from models.store.transaction import Transaction


def named_drafts(
    tx: Transaction, references: Sequence[DraftReference], locked: dict[DraftId, DraftRow]
) -> list[DraftRow]:
    """The actor's Drafts that a submission names, in its order.

    Raises:
        NotFound: the actor has no such Draft (`field`).
    """
    for position, reference in enumerate(references):
        draft = locked.get(reference.draft_id)
        if draft is None or draft.author_id != tx.actor_id:
            raise NotFound("There is no such Draft.", field=f"drafts[{position}].draft_id")
    return [locked[reference.draft_id] for reference in references]


def draft_problems(
    references: Sequence[DraftReference], drafts: Sequence[DraftRow], project_id: ProjectId, review_id: ReviewId
) -> list[Problem]:
    """Why Drafts cannot be submitted to a Review as they were named: closed, elsewhere, changed, of another project."""
    problems: list[Problem] = []
    seen: set[DraftId] = set()
    for position, (reference, draft) in enumerate(zip(references, drafts, strict=True)):
        field = f"drafts[{position}].draft_id"
        if draft.draft_id in seen:
            problems.append(DuplicateId("A Draft stands once in a Review.", field=field, draft_id=draft.draft_id))
        seen.add(draft.draft_id)
        if draft.status in ("merged", "discarded"):
            problems.append(DraftClosed(f"The Draft is {draft.status}.", draft_id=draft.draft_id, field=field))
        if draft.status == "submitted" and draft.review_id != review_id:
            problems.append(DraftSubmitted("The Draft is in another Review.", draft_id=draft.draft_id, field=field))
        if draft.version != reference.expected_draft_version:
            named = f"drafts[{position}].expected_draft_version"
            problems.append(changed_draft(draft, reference.expected_draft_version, field=named))
        if draft.project_id != project_id:
            problems.append(
                OperationInvalid(
                    "The Drafts of a Review belong to one project.", field=field, rule="other_project", index=position
                )
            )
    return problems


def changed_draft(draft: DraftRow, expected_version: int, **where: JsonValue) -> VersionConflict:
    """The refusal of a Draft that has another version than a command names.

    Args:
        draft: as it is now.
        expected_version: the command's.
        where: what in the command names it, as `field` or `index`.
    """
    return VersionConflict(
        "The Draft has changed.", draft_id=draft.draft_id, **where, expected=expected_version, actual=draft.version
    )
