"""Submissions: numbered without gaps, and each hashes to the result that people approved or rejected."""

from collections.abc import Iterator
from itertools import groupby

from sqlalchemy import RowMapping, text

from models.identifiers import MemoryId, ProjectId
from models.rules.hashes import result_hash
from models.rules.states import Body, MemoryState, State
from models.store.verification.findings import Finding
from models.store.verification.places import check_description, check_path
from models.store.verification.snapshot import Snapshot

NUMBERS = text("""
    select r.review_id, r.submission, count(s.number) as submissions, coalesce(min(s.number), 1) as first,
           coalesce(max(s.number), 0) as last
    from reviews r left join review_submissions s on s.org_id = r.org_id and s.review_id = r.review_id
    where r.org_id = :org_id group by r.review_id, r.submission
    having count(s.number) <> r.submission or coalesce(max(s.number), 0) <> r.submission or min(s.number) <> 1
    order by r.review_id
""")
STATES = text("""
    select s.review_id, s.number, s.result_hash, r.project_id, t.memory_id, t.path, t.description, t.blob_id,
           b.content_hash, t.created_for
    from review_submissions s
    join reviews r on r.org_id = s.org_id and r.review_id = s.review_id
    left join review_submission_states t on t.org_id = s.org_id and t.review_id = s.review_id and t.number = s.number
    left join blobs b on b.org_id = :org_id and b.blob_id = t.blob_id
    where s.org_id = :org_id order by s.review_id, s.number, t.memory_id
""")


def check_submissions(snapshot: Snapshot) -> Iterator[Finding]:
    """Every submission of every Review, from the states that it fixed."""
    for row in snapshot.rows(NUMBERS):
        what = "submissions are missing"
        found = f"{row['submissions']} from {row['first']} to {row['last']}"
        yield Finding("submission.number", what, f"Review {row['review_id']}", f"1 to {row['submission']}", found)
    for (review_id, number), rows in groupby(snapshot.rows(STATES), key=lambda row: (row["review_id"], row["number"])):
        yield from _check_submission(f"submission {number} of Review {review_id}", rows)


def _check_submission(where: str, rows: Iterator[RowMapping]) -> Iterator[Finding]:
    states: dict[MemoryId, State] = {}
    created: set[MemoryId] = set()
    for row in rows:
        expected, project_id = row["result_hash"], ProjectId(row["project_id"])
        if row["memory_id"] is None:
            continue
        memory_id = MemoryId(row["memory_id"])
        states[memory_id] = state_of(row)
        if row["created_for"] is not None and row["path"] is None:
            what = "a Memory is created that does not exist in the end"
            yield Finding("submission.created", what, f"{memory_id} in {where}", "nothing", row["created_for"])
        if row["created_for"] == project_id:
            created.add(memory_id)
        elif row["created_for"] is not None:
            what = "a Memory is created for another project than the Review's"
            yield Finding("submission.project", what, f"{memory_id} in {where}", project_id, row["created_for"])
        if row["path"] is not None:
            yield from check_path(row["path"], f"{memory_id} in {where}")
            yield from check_description(row["description"] or "", f"{memory_id} in {where}")
    found = result_hash(states, project_id, created)
    if found != expected:
        what = "what was submitted does not hash to the result"
        yield Finding("submission.hash", what, where, expected, found)


def state_of(row: RowMapping) -> State:
    """A state as rows hold it; None where the Memory does not exist."""
    if row["path"] is None:
        return None
    return MemoryState(row["path"], row["description"], Body(row["blob_id"], row["content_hash"]))
