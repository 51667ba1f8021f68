"""What a submission fixed: the base and the result of every Memory that it touches."""

from sqlalchemy import Connection, RowMapping, text

from models.identifiers import MemoryId, OrganizationId, ReviewId
from models.rules.states import Body, MemoryState, State

STATES = text("""
    select s.memory_id, s.path, s.description, s.blob_id, b.content_hash,
           s.base_path, s.base_description, s.base_blob_id, a.content_hash as base_content_hash
    from review_submission_states s
    left join blobs b on b.org_id = s.org_id and b.blob_id = s.blob_id
    left join blobs a on a.org_id = s.org_id and a.blob_id = s.base_blob_id
    where s.org_id = :org_id and s.review_id = :review_id and s.number = :number
    order by s.memory_id
""")


def submitted_states(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, number: int
) -> dict[MemoryId, tuple[State, State]]:
    """The base and the result of every touched Memory, as a submission fixed them."""
    rows = connection.execute(STATES, {"org_id": org_id, "review_id": review_id, "number": number}).mappings()
    return {row["memory_id"]: (_state(row, "base_"), _state(row, "")) for row in rows}


def _state(row: RowMapping, side: str) -> State:
    if row[f"{side}path"] is None:
        return None
    body = Body(row[f"{side}blob_id"], row[f"{side}content_hash"])
    return MemoryState(path=row[f"{side}path"], description=row[f"{side}description"], body=body)
