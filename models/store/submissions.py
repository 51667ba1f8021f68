"""Immutable submissions of Reviews: their Drafts and the states that they propose."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, text

from models.identifiers import DraftId, MemoryId, OrganizationId, ProjectId, ReviewId, final_id
from models.rules.paths import path_key
from models.rules.states import State
from models.store.locks import ReviewRow
from models.store.review_timers import settle_timer
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Member:
    """A Draft of a submission as it was then, in the Review's order."""

    draft_id: DraftId
    draft_version: int
    title: str


# By arrays: row by row, the tens of thousands of an import took longer than all else of its submission.
STATES = text("""
    insert into review_submission_states
        (org_id, review_id, number, memory_id, path, description, blob_id,
         base_path, base_description, base_blob_id, path_key, base_path_key, created_for)
    select :org_id, :review_id, :number, s.*
    from unnest(
        cast(:memory_ids as text[]), cast(:paths as text[]), cast(:descriptions as text[]), cast(:blob_ids as text[]),
        cast(:base_paths as text[]), cast(:base_descriptions as text[]), cast(:base_blob_ids as text[]),
        cast(:path_keys as text[]), cast(:base_path_keys as text[]), cast(:created_for as text[])
    ) as s
""")


def insert_submission(
    tx: Transaction,
    review_id: ReviewId,
    number: int,
    *,
    result_hash: str,
    project_id: ProjectId,
    members: Sequence[Member],
    states: Mapping[MemoryId, State],
    bases: Mapping[MemoryId, State],
    created: Collection[MemoryId],
) -> None:
    """Store an immutable submission, from which its Review's timers count; the bodies it names are blobs already.

    Args:
        tx: the transaction.
        review_id: the Review.
        number: the submission's number, from 1.
        result_hash: the hash of `states`.
        project_id: for which project creates will be selected.
        members: the Drafts with their versions and titles, in the Review's order.
        states: final states by provisional or existing id.
        bases: the same at the Drafts' bases.
        created: the final ids of what the Drafts create.
    """
    scope = {"org_id": tx.org_id, "review_id": review_id, "number": number}
    tx.connection.execute(
        text("""
            insert into review_submissions (org_id, review_id, number, result_hash, org_version, created_by, created_at)
            select :org_id, :review_id, :number, :result_hash, version, :created_by, :created_at
            from organization_refs where org_id = :org_id
        """),
        scope | {"result_hash": result_hash, "created_by": tx.actor_id, "created_at": tx.now},
    )
    if members:
        tx.connection.execute(
            text("""
                insert into review_submission_drafts
                    (org_id, review_id, number, position, draft_id, draft_version, title)
                values (:org_id, :review_id, :number, :position, :draft_id, :draft_version, :title)
            """),
            [scope | asdict(member) | {"position": position} for position, member in enumerate(members)],
        )
    ends = [final_id(memory_id) for memory_id in states]
    tx.connection.execute(
        STATES,
        scope
        | {"memory_ids": ends, "created_for": [project_id if memory_id in created else None for memory_id in ends]}
        | _columns(list(states.values()), "")
        | _columns([bases.get(memory_id) for memory_id in states], "base_"),
    )
    settle_timer(tx, review_id)


def _columns(states: Sequence[State], side: str) -> dict[str, list[str | None]]:
    return {
        f"{side}paths": [None if state is None else state.path for state in states],
        f"{side}path_keys": [None if state is None else path_key(state.path) for state in states],
        f"{side}descriptions": [None if state is None else state.description for state in states],
        f"{side}blob_ids": [None if state is None else state.body.blob_id for state in states],
    }


def members_of(
    connection: Connection, org_id: OrganizationId, review_ids: Collection[ReviewId]
) -> dict[tuple[ReviewId, int], list[Member]]:
    """The Drafts of every submission of Reviews, by (Review, number) and in order."""
    rows = connection.execute(
        text("""
            select review_id, number, draft_id, draft_version, title from review_submission_drafts
            where org_id = :org_id and review_id = any(:review_ids) order by review_id, number, position
        """),
        {"org_id": org_id, "review_ids": list(review_ids)},
    )
    found: dict[tuple[ReviewId, int], list[Member]] = {}
    for row in rows:
        found.setdefault((row.review_id, row.number), []).append(Member(row.draft_id, row.draft_version, row.title))
    return found


def latest_members(connection: Connection, review: ReviewRow) -> list[Member]:
    """The Drafts of a Review's latest submission, in order."""
    rows = connection.execute(
        text("""
            select draft_id, draft_version, title from review_submission_drafts
            where org_id = :org_id and review_id = :review_id and number = :number order by position
        """),
        {"org_id": review.org_id, "review_id": review.review_id, "number": review.submission},
    )
    return [Member(row.draft_id, row.draft_version, row.title) for row in rows]
