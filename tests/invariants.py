"""What holds of an organization after anything at all; every stress and fault test ends with `check_invariants`.

The checks read rows and `models.rules.hashes`, and nothing of the code that wrote the rows.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from sqlalchemy import Engine

from activities.recording import AUDIT_ACTIONS
from models.identifiers import CommitId, MemoryId, OrganizationId, ProjectId, ReviewId, TreeId, UserId
from models.rules.hashes import (
    SELECTION_ENTRY_ID,
    CommitFields,
    blob_id,
    bucket_digest,
    bucket_of,
    commit_id,
    content_hash,
    entry_digest,
    result_hash,
    selection_body,
    tree_id,
)
from models.rules.paths import ancestor_keys, path_key
from models.rules.states import Body, MemoryState
from tests.organization_rows import OrganizationRows, Row, read_rows

ORGANIZATION = ""
"""The owner of the organization's own chain; a project's is its id."""

AUDITED = (*AUDIT_ACTIONS.values(), "draft.discard", "selection.replace")


def check_invariants(engine: Engine, org_id: OrganizationId) -> None:
    """Assert every invariant of one organization, on one snapshot."""
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        rows = read_rows(connection, org_id)
    for check in CHECKS:
        check(rows)


def blobs_hash_to_their_ids(rows: OrganizationRows) -> None:
    for blob in rows["blobs"]:
        assert blob["blob_id"] == blob_id(blob["content"])
        assert blob["content_hash"] == content_hash(blob["content"])


def every_chain_is_linear_and_ends_at_its_ref(rows: OrganizationRows) -> None:
    """No gap, no fork: each commit's parent is the version before it, and the ref is the last."""
    for owner, ref in rows.refs().items():
        commits = rows.chain(owner)
        assert [commit["version"] for commit in commits] == list(range(1, ref["version"] + 1)), owner
        parents = [commit["parent_commit_id"] for commit in commits]
        assert parents == [None, *(commit["commit_id"] for commit in commits)][: len(commits)], owner
        assert ref["commit_id"] == (commits[-1]["commit_id"] if commits else None), owner
        times = [commit["created_at"] for commit in commits]
        assert times == sorted(times), owner
    owners = {commit["project_id"] or ORGANIZATION for commit in rows["commits"]}
    assert owners <= rows.refs().keys()


def every_commit_hashes_to_its_id(rows: OrganizationRows) -> None:
    for commit in rows["commits"]:
        assert commit["commit_id"] == commit_id(_fields(commit)), commit["commit_id"]


def _fields(commit: Row) -> CommitFields:
    return CommitFields(
        scope=commit["scope"],
        org_id=OrganizationId(commit["org_id"]),
        project_id=None if commit["project_id"] is None else ProjectId(commit["project_id"]),
        version=commit["version"],
        parent_commit_id=None if commit["parent_commit_id"] is None else CommitId(commit["parent_commit_id"]),
        tree_id=TreeId(commit["tree_id"]),
        message=commit["message"],
        review_id=None if commit["review_id"] is None else ReviewId(commit["review_id"]),
        created_by=UserId(commit["created_by"]),
        created_at=commit["created_at"],
        org_commit_id=None if commit["org_commit_id"] is None else CommitId(commit["org_commit_id"]),
        selection_revision=commit["selection_revision"],
    )


def every_tree_hashes_to_its_id(rows: OrganizationRows) -> None:
    """At every version, past ones included, from the entries alone; the stored buckets are those of the head."""
    for owner in rows.refs():
        members: dict[int, dict[str, bytes]] = {}
        digests: dict[int, bytes] = {}
        commits = rows.chain(owner)
        previous = None
        for commit, (closed, opened) in zip(commits, _steps(rows, owner), strict=True):
            for entry in closed:
                del members[bucket_of(entry["memory_id"])][entry["memory_id"]]
            for entry in opened:
                members.setdefault(bucket_of(entry["memory_id"]), {})[entry["memory_id"]] = _digest(entry)
            for bucket in {bucket_of(entry["memory_id"]) for entry in [*closed, *opened]}:
                digests.pop(bucket, None)
                if members[bucket]:
                    digests[bucket] = bucket_digest(members[bucket].items())
            assert commit["tree_id"] == tree_id(digests), (owner, commit["version"])
            assert commit["tree_id"] != previous, f"version {commit['version']} of {owner!r} changes nothing"
            previous = commit["tree_id"]
        stored = {row["bucket"]: row["digest"] for row in rows["tree_buckets"] if row["owner_id"] == owner}
        assert stored == digests, owner


def _digest(entry: Row) -> bytes:
    digest = entry_digest(
        memory_id=entry["memory_id"],
        path=entry["path"],
        description=entry["description"],
        blob_id=entry["blob_id"],
    )
    assert entry["entry_digest"] == digest, entry["memory_id"]
    assert entry["bucket"] == bucket_of(entry["memory_id"])
    return digest


def _steps(rows: OrganizationRows, owner: str) -> Iterator[tuple[list[Row], list[Row]]]:
    """For each version of a chain, the entries that it closes and those that it opens."""
    closed: dict[int, list[Row]] = {}
    opened: dict[int, list[Row]] = {}
    versions = rows.refs()[owner]["version"]
    for entry in rows.entries(owner):
        opened.setdefault(entry["from_version"], []).append(entry)
        if entry["to_version"] is not None:
            closed.setdefault(entry["to_version"], []).append(entry)
    assert max([0, *opened, *closed]) <= versions, owner
    for version in range(1, versions + 1):
        yield closed.get(version, []), opened.get(version, [])


def no_version_holds_two_memories_that_no_disk_could(rows: OrganizationRows) -> None:
    """Neither equal path keys nor a file that is a folder, at any version."""
    files: dict[str, str] = {}
    folders: Counter[str] = Counter()
    for closed, opened in _steps(rows, ORGANIZATION):
        for entry in closed:
            del files[entry["path_key"]]
            folders.subtract(ancestor_keys(entry["path_key"]))
        for entry in opened:
            key = entry["path_key"]
            assert key == path_key(entry["path"])
            assert key not in files, entry["path"]
            files[key] = entry["memory_id"]
            folders.update(ancestor_keys(key))
        for entry in opened:
            assert not folders[entry["path_key"]], entry["path"]
            assert not files.keys() & set(ancestor_keys(entry["path_key"])), entry["path"]


def every_identity_lives_once(rows: OrganizationRows) -> None:
    """Without restores, a Memory's versions follow each other without a gap, and its revision counts them."""
    for memory in rows["memories"]:
        versions = rows.versions_of(memory["memory_id"])
        for before, after in pairwise(versions):
            assert before["to_version"] == after["from_version"], memory["memory_id"]
        active = versions[-1]["to_version"] is None
        assert memory["status"] == ("active" if active else "archived"), memory["memory_id"]
        assert memory["revision"] == len(versions) + (0 if active else 1), memory["memory_id"]


def every_projection_is_selection_times_organization(rows: OrganizationRows) -> None:
    """At every version of every project; and a project moved whenever a Memory it selects changed, and only then."""
    versions = {commit["commit_id"]: commit["version"] for commit in rows.chain(ORGANIZATION)}
    changes = [{entry["memory_id"] for entry in [*closed, *opened]} for closed, opened in _steps(rows, ORGANIZATION)]
    contents = {blob["blob_id"]: blob["content"] for blob in rows["blobs"]}
    for project in rows["project_refs"]:
        owner = project["project_id"]
        selection: set[str] = set()
        entries: dict[str, Row] = {}
        seen, revision = 0, 0
        for commit, (closed, opened) in zip(rows.chain(owner), _steps(rows, owner), strict=True):
            stands_on = versions[commit["org_commit_id"]]
            assert stands_on >= seen, owner
            for passed in changes[seen : stands_on - 1]:
                assert not passed & selection, f"{owner} did not move with a Memory that it selects"
            for entry in closed:
                del entries[entry["memory_id"]]
            entries |= {entry["memory_id"]: entry for entry in opened}
            text = contents[entries[SELECTION_ENTRY_ID]["blob_id"]]
            now = set(_ids_in(text))
            assert text == selection_body(now)
            assert commit["selection_revision"] - revision == (now != selection), owner
            assert entries.keys() - {SELECTION_ENTRY_ID} == now, owner
            touched = {entry["memory_id"] for entry in opened} | set().union(*changes[seen:stands_on])
            for memory_id in (touched & now) - {SELECTION_ENTRY_ID}:
                assert _shown(entries[memory_id]) == _shown(rows.version_at(memory_id, stands_on)), memory_id
            selection, seen, revision = now, stands_on, commit["selection_revision"]
        assert not set().union(*changes[seen:]) & selection, f"{owner} is behind"
        selected = {row["memory_id"] for row in rows["org_selections"] if row["project_id"] == owner}
        assert selected == selection, owner
        assert project["selection_revision"] == revision, owner


def _ids_in(selection: str) -> list[str]:
    return [] if selection == "[]" else [part.strip('"') for part in selection[1:-1].split(",")]


def _shown(entry: Row | None) -> tuple[object, ...]:
    assert entry is not None
    return entry["path"], entry["description"], entry["blob_id"]


def every_merge_has_one_commit_and_every_commit_one_merge(rows: OrganizationRows) -> None:
    merges: Counter[str] = Counter()
    made: dict[str, str] = {}
    for operation in rows["operations"]:
        if operation["kind"] == "review.merge" and operation["status"] == "succeeded":
            merges[operation["review_id"]] += 1
            if not operation["result"]["already_published"]:
                made[operation["review_id"]] = operation["result"]["commit_id"]
    assert set(merges.values()) <= {1}, merges
    assert merges.keys() == {review["review_id"] for review in rows["reviews"] if review["status"] == "merged"}
    assert made == {commit["review_id"]: commit["commit_id"] for commit in rows.chain(ORGANIZATION)}


def what_was_approved_is_what_was_published(rows: OrganizationRows) -> None:
    """A merged Review's hash is that of the final states at the version it was merged at."""
    versions = {commit["commit_id"]: commit["version"] for commit in rows.chain(ORGANIZATION)}
    hashes = {blob["blob_id"]: blob["content_hash"] for blob in rows["blobs"]}
    for review in rows["reviews"]:
        if review["status"] != "merged":
            continue
        touched = rows.submission_states(review["review_id"], review["submission"])
        version = versions.get(review["merged_commit_id"], 0)
        states = {
            MemoryId(state["memory_id"]): _state(rows.version_at(state["memory_id"], version), hashes)
            for state in touched
        }
        created = {MemoryId(state["memory_id"]) for state in touched if state["created_for"] is not None}
        assert result_hash(states, ProjectId(review["project_id"]), created) == review["result_hash"]


def every_submission_hashes_to_its_hash(rows: OrganizationRows) -> None:
    hashes = {blob["blob_id"]: blob["content_hash"] for blob in rows["blobs"]}
    projects = {review["review_id"]: ProjectId(review["project_id"]) for review in rows["reviews"]}
    for submission in rows["review_submissions"]:
        touched = rows.submission_states(submission["review_id"], submission["number"])
        states = {MemoryId(state["memory_id"]): _state(state, hashes) for state in touched}
        created = {MemoryId(state["memory_id"]) for state in touched if state["created_for"] is not None}
        project_id = projects[submission["review_id"]]
        assert {state["created_for"] for state in touched} <= {None, project_id}
        assert submission["result_hash"] == result_hash(states, project_id, created)


def _state(row: Row | None, hashes: dict[str, str]) -> MemoryState | None:
    if row is None or row["path"] is None:
        return None
    return MemoryState(row["path"], row["description"], Body(row["blob_id"], hashes[row["blob_id"]]))


def every_review_agrees_with_its_submissions_approvals_and_drafts(rows: OrganizationRows) -> None:
    """Numbers without gaps, approvals of what they name, and members in the state that the Review's status asks for."""
    drafts = {draft["draft_id"]: draft for draft in rows["drafts"]}
    holders: Counter[str] = Counter()
    for review in rows["reviews"]:
        review_id = review["review_id"]
        submissions = [row for row in rows["review_submissions"] if row["review_id"] == review_id]
        by_number = {row["number"]: row["result_hash"] for row in submissions}
        assert sorted(by_number) == list(range(1, review["submission"] + 1)), review_id
        assert review["result_hash"] == by_number[review["submission"]], review_id
        standing = [row for row in rows["review_approvals"] if row["review_id"] == review_id]
        for approval in standing:
            assert approval["result_hash"] == by_number[approval["submission"]], review_id
            assert approval["dropped_at"] is not None or approval["result_hash"] == review["result_hash"], review_id
        alive = [approval for approval in standing if approval["dropped_at"] is None]
        assert not alive or review["status"] in ("open", "approved", "merged"), review_id
        for member in rows.members(review_id, review["submission"]):
            draft = drafts[member["draft_id"]]
            if review["status"] in ("open", "approved"):
                holders[draft["draft_id"]] += 1
                assert (draft["status"], draft["review_id"]) == ("submitted", review_id)
                assert draft["version"] == member["draft_version"]
            if review["status"] == "merged":
                assert (draft["status"], draft["review_id"]) == ("merged", review_id)
                assert draft["version"] == member["draft_version"] + 1
        ended = [row["event"] for row in rows["review_timeline"] if row["review_id"] == review_id][-1]
        assert (review["status"] == "merged") == (ended == "merged"), review_id
    for draft in drafts.values():
        assert holders[draft["draft_id"]] == (draft["status"] == "submitted"), draft["draft_id"]
        if draft["status"] == "merged":
            member_ids = {member["draft_id"] for member in rows.latest_members(draft["review_id"])}
            assert draft["draft_id"] in member_ids
            assert rows.review(draft["review_id"])["status"] == "merged"
        if draft["status"] in ("open", "discarded"):
            assert draft["review_id"] is None


def every_operation_that_ended_has_one_outcome(rows: OrganizationRows) -> None:
    for operation in rows["operations"]:
        finished = operation["status"] in ("succeeded", "failed")
        assert finished == (operation["next_delivery_at"] is None)
        assert (operation["result"] is not None) == (operation["status"] == "succeeded")
        assert (operation["problem"] is not None) == (operation["status"] == "failed")
        assert not finished or operation["progress_done"] == operation["progress_total"]


def every_state_change_is_audited_once(rows: OrganizationRows) -> None:
    changes: Counter[tuple[str, str]] = Counter(
        (AUDIT_ACTIONS[event["event"]], event["review_id"])
        for event in rows["review_timeline"]
        if event["event"] in AUDIT_ACTIONS
    )
    changes.update(("draft.discard", draft["draft_id"]) for draft in rows["drafts"] if draft["status"] == "discarded")
    changes.update(
        ("selection.replace", commit["project_id"])
        for commit in rows["commits"]
        if commit["scope"] == "project" and commit["review_id"] is None
    )
    kept = rows.refs()
    audited = Counter(
        (event["action"], event["resource_id"])
        for event in rows["audit_events"]
        if event["action"] in AUDITED and (event["action"] != "selection.replace" or event["resource_id"] in kept)
    )
    assert audited == changes


def every_commit_is_told_once(rows: OrganizationRows) -> None:
    kept = rows.refs()
    told = Counter(
        event["resource_id"]
        for event in rows["events"]
        if event["kind"] in ("commit.published", "projection.moved") and (event["project_id"] or ORGANIZATION) in kept
    )
    assert told == Counter(commit["commit_id"] for commit in rows["commits"])


CHECKS: Sequence[Callable[[OrganizationRows], None]] = (
    blobs_hash_to_their_ids,
    every_chain_is_linear_and_ends_at_its_ref,
    every_commit_hashes_to_its_id,
    every_tree_hashes_to_its_id,
    no_version_holds_two_memories_that_no_disk_could,
    every_identity_lives_once,
    every_projection_is_selection_times_organization,
    every_merge_has_one_commit_and_every_commit_one_merge,
    what_was_approved_is_what_was_published,
    every_submission_hashes_to_its_hash,
    every_review_agrees_with_its_submissions_approvals_and_drafts,
    every_operation_that_ended_has_one_outcome,
    every_state_change_is_audited_once,
    every_commit_is_told_once,
)
