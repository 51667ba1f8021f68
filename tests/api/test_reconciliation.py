"""Bringing Drafts up to date over HTTP: candidates, rebases, revisions, and what a publication does by itself."""

import time
from collections.abc import Callable

import pytest
from pydantic import JsonValue

from tests.client import Client, Json, a_member, a_person, a_token, items, ok, problem, refused_fields
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    all_items,
    append,
    creates,
    decide,
    inside,
    listed,
    merge,
    operations_of,
    published,
    reread,
    submit,
    updates,
    withdraw,
)
from tests.reconciliation_over_http import (
    a_draft_behind,
    candidates_of,
    confirming,
    make_candidate,
    rebase,
    submit_confirmed,
)

pytestmark = pytest.mark.usefixtures("worker")

BASE = "# Deploy\n\nBuild.\n\nShip.\n"
THEIRS = "# Deploying\n\nBuild.\n\nShip.\n"
OURS = "# Deploy\n\nBuild.\n\nShip it.\n"
BOTH = "# Deploying\n\nBuild.\n\nShip it.\n"
CLASHING = "# Deployment\n\nBuild.\n\nShip.\n"
PASS_LIMIT_S = 15.0


def a_clean_one(api: Client) -> tuple[Client, str, str, Json]:
    """A Draft whose body merges with what was published, its author, project and Memory."""
    organization, project_id = a_place(api)
    [memory_id] = published(organization.owner, project_id, creates("deploy.md", BASE))
    ours, theirs = updates(memory_id, OURS), updates(memory_id, THEIRS)
    return (
        organization.owner,
        project_id,
        memory_id,
        a_draft_behind(organization.owner, project_id, ours=[ours], theirs=[theirs]),
    )


def a_contested_one(api: Client) -> tuple[Client, str, str, Json]:
    """The same, with a body that clashes."""
    organization, project_id = a_place(api)
    [memory_id] = published(organization.owner, project_id, creates("deploy.md", BASE))
    ours, theirs = updates(memory_id, CLASHING), updates(memory_id, THEIRS)
    return (
        organization.owner,
        project_id,
        memory_id,
        a_draft_behind(organization.owner, project_id, ours=[ours], theirs=[theirs]),
    )


def a_state(memory_id: str, **changed: JsonValue) -> Json:
    return {
        "memory_id": memory_id,
        "exists": True,
        "path": "deploy.md",
        "description": "",
        "content": BOTH,
        **changed,
    }


def eventually(read: Callable[[], Json], holds: Callable[[Json], bool]) -> Json:
    """What is read once it holds."""
    deadline = time.monotonic() + PASS_LIMIT_S
    while not holds(value := read()):
        assert time.monotonic() < deadline, value
        time.sleep(0.1)
    return value


def test_a_candidate_shows_every_state_and_changes_nothing_of_the_draft(api: Client) -> None:
    author, _, memory_id, draft = a_clean_one(api)
    candidate = ok(make_candidate(author, draft))
    [memory] = listed(candidate, "memories")
    assert memory["memory_id"] == memory_id
    assert [inside(memory, side)["content"] for side in ("base", "current", "draft", "proposed")] == [
        BASE,
        THEIRS,
        OURS,
        BOTH,
    ]
    ref = inside(ok(author.get("/org/commit-state")), "ref")
    assert (candidate["draft_id"], candidate["draft_version"]) == (draft["draft_id"], draft["version"])
    assert (candidate["base_commit_id"], candidate["current_commit_id"]) == (draft["base_commit_id"], ref["commit_id"])
    assert (candidate["reconciliation"], candidate["conflicts"], candidate["stale"]) == ("clean", [], False)
    assert (candidate["engine"], candidate["approval_survives"]) == ("diff3-lines/1", None)
    now = reread(author, draft)
    assert {name for name in now if now[name] != draft[name]} == {"coordination"}
    assert inside(now, "coordination") == {
        "freshness": "behind",
        "reconciliation": "clean",
        "current_commit_id": ref["commit_id"],
        "candidate_id": candidate["candidate_id"],
        "has_upstream_changes": True,
    }


def test_the_same_question_gives_the_same_candidate_until_something_moves(api: Client) -> None:
    author, project_id, memory_id, draft = a_clean_one(api)
    candidate = ok(make_candidate(author, draft))
    path = f"/drafts/{draft['draft_id']}/reconciliation-candidates/{candidate['candidate_id']}"
    assert ok(make_candidate(author, draft)) == candidate
    assert ok(author.get(path)) == candidate
    published(author, project_id, updates(memory_id, description="How to deploy"))
    assert ok(author.get(path)) == {**candidate, "stale": True}
    assert ok(make_candidate(author, draft))["candidate_id"] != candidate["candidate_id"]
    problem(rebase(author, draft, candidate), 409, "candidate_stale")


def test_a_conflict_names_the_commit_and_its_author_and_shows_its_lines_counted_from_one(api: Client) -> None:
    author, _, memory_id, draft = a_contested_one(api)
    candidate = ok(make_candidate(author, draft))
    assert (candidate["reconciliation"], candidate["result_hash"]) == ("conflicts", None)
    [conflict] = listed(candidate, "conflicts")
    assert (conflict["code"], conflict["memory_id"], conflict["field"]) == ("body.overlap", memory_id, "body")
    assert conflict["hunks"] == [
        {
            "base": {"start": 1, "count": 1, "lines": ["# Deploy"]},
            "current": {"start": 1, "count": 1, "lines": ["# Deploying"]},
            "draft": {"start": 1, "count": 1, "lines": ["# Deployment"]},
        }
    ]
    latest = ok(author.get("/org/commits"))
    [commit, *_] = listed(latest, "items")
    assert conflict["other"] == {
        "commit_id": commit["commit_id"],
        "memory_id": memory_id,
        "author_id": commit["created_by"],
    }


def test_a_rebase_saves_the_draft_moves_its_base_and_expresses_its_result_anew(api: Client) -> None:
    author, _, memory_id, draft = a_clean_one(api)
    candidate = ok(make_candidate(author, draft))
    answer = rebase(author, draft, candidate)
    rebased = ok(answer)
    assert (answer.headers["etag"], rebased["version"]) == ('"2"', 2)
    assert rebased["base_commit_id"] == candidate["current_commit_id"]
    [operation] = operations_of(rebased)
    assert (operation["action"], operation["memory_id"]) == ("update", memory_id)
    assert inside(operation, "content") == {"content": BOTH}
    [revision] = items(author.get(f"/drafts/{draft['draft_id']}/revisions"))
    assert {name: revision[name] for name in ("version", "base_commit_id", "title", "operations", "candidate_id")} == {
        **{name: draft[name] for name in ("version", "base_commit_id", "title", "operations")},
        "candidate_id": candidate["candidate_id"],
    }
    problem(make_candidate(author, rebased), 409, "draft_already_current")
    problem(rebase(author, rebased, candidate), 409, "candidate_stale")


def test_revisions_come_newest_first_and_page_by_page(api: Client) -> None:
    author, project_id, memory_id, draft = a_clean_one(api)
    for number in range(3):
        draft = ok(rebase(author, draft, ok(make_candidate(author, draft))))
        published(author, project_id, updates(memory_id, description=f"Round {number}"))
    revisions = all_items(author, f"/drafts/{draft['draft_id']}/revisions", limit=2)
    assert [revision["version"] for revision in revisions] == [3, 2, 1]


def test_each_memory_with_a_conflict_is_resolved_exactly_once_and_as_any_input_is(api: Client) -> None:
    author, _, memory_id, draft = a_contested_one(api)
    candidate = ok(make_candidate(author, draft))
    missing = problem(rebase(author, draft, candidate), 422, "resolution_required")
    assert missing["memory_id"] == memory_id
    extra = rebase(author, draft, candidate, [a_state(memory_id), a_state("mem_other")])
    assert {field for field, _ in refused_fields(extra)} == {"resolved_state[1].memory_id"}
    for changed, field, rule in (
        ({"content": " \n"}, "content", "blank"),
        ({"content": "a\0"}, "content", "nul"),
        ({"path": "../deploy.md"}, "path", "dot_segment"),
        ({"description": "a\nb"}, "description", "line_break"),
    ):
        refused = rebase(author, draft, candidate, [a_state(memory_id, **changed)])
        document = problem(refused, 422, "operation_invalid")
        assert (document["field"], document["rule"]) == (f"resolved_state[0].{field}", rule)
    assert reread(author, draft)["version"] == draft["version"]
    rebased = ok(rebase(author, draft, candidate, [a_state(memory_id, content="Mine.", description=" Tidied ")]))
    assert inside(operations_of(rebased)[0], "content") == {"content": "Mine.\n", "description": "Tidied"}


def test_a_clean_candidate_takes_no_resolved_state(api: Client) -> None:
    author, _, memory_id, draft = a_clean_one(api)
    candidate = ok(make_candidate(author, draft))
    refused = rebase(author, draft, candidate, [a_state(memory_id)])
    assert {field for field, _ in refused_fields(refused)} == {"resolved_state[0].memory_id"}
    assert "location" in refused.headers


@pytest.mark.parametrize(
    ("state", "field", "rule"),
    [
        ({"memory_id": "mem_1"}, "resolved_state[0].exists", "missing"),
        ({"memory_id": "mem_1", "exists": True, "path": "a.md"}, "resolved_state[0]", "incomplete"),
        ({"memory_id": "mem_1", "exists": False, "path": "a.md"}, "resolved_state[0]", "gone"),
        ({"memory_id": "mem_1", "exists": False, "description": None}, "resolved_state[0].description", "null"),
        ({"memory_id": "mem_1", "exists": False, "more": 1}, "resolved_state[0].more", "unknown"),
        (a_state("mem_1", content=""), "resolved_state[0].content", "empty"),
        (a_state("mem_1", description="x" * 1_025), "resolved_state[0].description", "too_long"),
    ],
)
def test_what_a_schema_can_tell_of_resolved_states_is_refused_at_once(
    api: Client, state: Json, field: str, rule: str
) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    body = {"candidate_id": "", "expected_draft_version": 1, "resolved_state": [state]}
    refused = organization.owner.post(f"/drafts/{draft['draft_id']}/rebases", body)
    assert (field, rule) in refused_fields(refused)
    reference: Json = {"draft_id": draft["draft_id"], "expected_draft_version": 1, "resolved_state": [state]}
    submitted = submit(organization.owner, draft, drafts=[reference])
    assert (f"drafts[0].{field}", rule) in refused_fields(submitted)


def test_resolved_states_are_a_thousand_at_most_each_once_and_never_without_a_candidate(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    gone: list[JsonValue] = [{"memory_id": f"mem_{number}", "exists": False} for number in range(1_001)]
    body: Json = {"candidate_id": "", "expected_draft_version": 1}
    path = f"/drafts/{draft['draft_id']}/rebases"
    assert ("resolved_state", "too_long") in refused_fields(
        organization.owner.post(path, {**body, "resolved_state": gone})
    )
    twice = organization.owner.post(path, {**body, "resolved_state": gone[:1] * 2})
    assert ("resolved_state", "duplicate") in refused_fields(twice)
    reference: Json = {"draft_id": draft["draft_id"], "expected_draft_version": 1, "resolved_state": gone[:1]}
    assert refused_fields(submit(organization.owner, draft, drafts=[reference])) == {("drafts[0]", "needs_candidate")}


def test_a_candidate_that_is_not_the_drafts_is_not_found_at_once(api: Client) -> None:
    author, project_id, _, draft = a_clean_one(api)
    other = a_draft(author, project_id, creates("other.md"))
    candidate = ok(make_candidate(author, draft))
    unknown: Json = {"candidate_id": "cnd_unknown"}
    for named in (candidate, unknown):
        assert "location" not in rebase(author, other, named).headers
        problem(rebase(author, other, named), 404, "not_found")
        refused = submit_confirmed(author, (other, confirming(named)))
        assert problem(refused, 404, "not_found")["field"] == "drafts[0].candidate_id"
        assert "location" not in refused.headers
    path = f"/drafts/{other['draft_id']}/reconciliation-candidates/{candidate['candidate_id']}"
    problem(author.get(path), 404, "not_found")


def test_commands_on_a_draft_name_the_version_that_was_read_and_end_with_it(api: Client) -> None:
    author, project_id, _, draft = a_clean_one(api)
    candidate = ok(make_candidate(author, draft))
    older = {**draft, "version": 7}
    assert problem(make_candidate(author, older), 409, "version_conflict")["actual"] == 1
    assert problem(rebase(author, older, candidate), 409, "version_conflict")["expected"] == 7
    ok(author.delete(f"/drafts/{draft['draft_id']}", version=1))
    problem(make_candidate(author, draft), 409, "draft_closed")
    problem(rebase(author, draft, candidate), 409, "draft_closed")
    current = a_draft(author, project_id, creates("a.md"))
    problem(make_candidate(author, current), 409, "draft_already_current")
    project = ok(author.get(f"/projects/{project_id}"))
    ok(author.patch(f"/projects/{project_id}", {"state": "archived"}, version=int(str(project["version"]))))
    problem(make_candidate(author, current), 409, "project_archived")


def test_an_open_drafts_candidates_and_revisions_are_its_authors_alone(api: Client) -> None:
    organization, project_id = a_place(api)
    [memory_id] = published(organization.owner, project_id, creates("deploy.md", BASE))
    author, reader = a_member(organization, project_id), a_member(organization, project_id, "viewer")
    draft = a_draft(author.client, project_id, updates(memory_id, OURS))
    published(organization.owner, project_id, updates(memory_id, THEIRS))
    candidate = ok(make_candidate(author.client, draft))
    path = f"/drafts/{draft['draft_id']}"
    for other in (organization.owner, reader.client, a_person(organization).client):
        problem(other.get(f"{path}/reconciliation-candidates/{candidate['candidate_id']}"), 404, "not_found")
        problem(other.get(f"{path}/revisions"), 404, "not_found")
        problem(make_candidate(other, draft), 404, "not_found")
        problem(rebase(other, draft, candidate), 404, "not_found")
    only_reads = author.client.with_token(a_token(author.client, None, "read"))
    problem(make_candidate(only_reads, draft), 403, "forbidden")
    problem(rebase(only_reads, draft, candidate), 403, "forbidden")


def test_readers_of_a_review_read_the_candidates_of_what_was_submitted_and_of_nothing_before(api: Client) -> None:
    organization, project_id = a_place(api)
    [memory_id] = published(organization.owner, project_id, creates("deploy.md", BASE))
    author, reader = a_member(organization, project_id), a_member(organization, project_id, "viewer")
    draft = a_draft(author.client, project_id, updates(memory_id, "# Private\n"))
    published(organization.owner, project_id, updates(memory_id, THEIRS))
    private = ok(make_candidate(author.client, draft))
    draft = ok(rebase(author.client, draft, private, [a_state(memory_id, content=OURS)]))
    a_review(author.client, draft)
    published(organization.owner, project_id, updates(memory_id, BASE))
    shown = ok(make_candidate(author.client, reread(author.client, draft)))
    path = f"/drafts/{draft['draft_id']}/reconciliation-candidates"
    for other in (organization.owner, reader.client):
        assert ok(other.get(f"{path}/{shown['candidate_id']}")) == shown
        problem(other.get(f"{path}/{private['candidate_id']}"), 404, "not_found")
    problem(a_person(organization).client.get(f"{path}/{shown['candidate_id']}"), 404, "not_found")


def test_a_draft_on_an_older_base_is_unknown_until_somebody_asks(api: Client) -> None:
    organization, project_id = a_place(api)
    [memory_id] = published(organization.owner, project_id, creates("deploy.md", BASE))
    base = inside(ok(organization.owner.get("/org/commit-state")), "ref")["commit_id"]
    published(organization.owner, project_id, updates(memory_id, THEIRS))
    body: Json = {"project_id": project_id, "base_commit_id": base, "operations": [updates(memory_id, CLASHING)]}
    draft = ok(organization.owner.post("/drafts", body), 201)
    coordination = inside(draft, "coordination")
    assert [coordination[name] for name in ("freshness", "reconciliation", "candidate_id")] == [
        "behind",
        "unknown",
        None,
    ]
    candidate = ok(make_candidate(organization.owner, draft))
    [listed_one] = items(organization.owner.get("/drafts", status="open"))
    coordination = inside(listed_one, "coordination")
    assert coordination["reconciliation"] == "conflicts"
    assert coordination["candidate_id"] == candidate["candidate_id"]
    appended = ok(append(organization.owner, draft, updates(memory_id, description="More")))
    assert inside(appended, "coordination")["reconciliation"] == "unknown"


def test_after_a_publication_each_draft_is_brought_up_to_date_or_gets_its_candidate(api: Client) -> None:
    organization, project_id = a_place(api)
    owner, author = organization.owner, a_member(organization, project_id)
    merging, apart = published(owner, project_id, creates("merging.md", BASE), creates("apart.md", BASE))
    keeps, clean, contested, submitted = (
        a_draft(author.client, project_id, operation)
        for operation in (
            creates("new.md"),
            updates(merging, OURS),
            updates(merging, CLASHING),
            updates(apart, OURS),
        )
    )
    review = ok(decide(owner, a_review(author.client, submitted), "approved"))
    published(owner, project_id, updates(merging, THEIRS))

    ref = inside(ok(owner.get("/org/commit-state")), "ref")["commit_id"]
    moved = eventually(lambda: reread(author.client, keeps), lambda draft: draft["base_commit_id"] == ref)
    assert {name for name in moved if moved[name] != keeps[name]} == {"base_commit_id", "coordination"}
    for draft, expected in ((clean, "clean"), (contested, "conflicts")):
        found = eventually(
            lambda draft=draft: inside(reread(author.client, draft), "coordination"),  # type: ignore[misc]
            lambda coordination: coordination["candidate_id"] is not None,
        )
        assert (found["freshness"], found["reconciliation"]) == ("behind", expected)
        path = f"/drafts/{draft['draft_id']}/reconciliation-candidates/{found['candidate_id']}"
        assert ok(author.client.get(path))["stale"] is False
    eventually(lambda: reread(author.client, submitted), lambda draft: draft["base_commit_id"] == ref)
    assert {name: reread(owner, review)[name] for name in ("version", "status", "submission")} == {
        "version": review["version"],
        "status": "approved",
        "submission": 1,
    }
    events = items(author.client.get("/draft-events"))
    assert sorted(str(event["draft_id"]) for event in events if event["event_type"] == "base_moved") == sorted(
        str(draft["draft_id"]) for draft in (keeps, submitted)
    )


def test_a_submitted_draft_is_rebased_with_a_new_submission_and_its_review_says_how_it_stands(api: Client) -> None:
    author, project_id, memory_id, draft = a_clean_one(api)
    draft = ok(rebase(author, draft, ok(make_candidate(author, draft))))
    review = ok(decide(author, a_review(author, draft), "approved"))
    published(author, project_id, updates(memory_id, description="How to deploy"))
    candidate = ok(make_candidate(author, reread(author, draft)))
    assert (candidate["approval_survives"], candidate["reconciliation"]) == (False, "clean")
    [member] = listed(reread(author, review), "drafts")
    assert (member["freshness"], member["reconciliation"]) == ("behind", "clean")

    rebased = ok(rebase(author, reread(author, draft), candidate))
    now = reread(author, review)
    [member] = listed(now, "drafts")
    assert (now["status"], now["submission"], now["approvals"]) == ("open", 2, [])
    assert (member["draft_version"], member["freshness"]) == (rebased["version"], "current")
    assert {event["event"] for event in listed(now, "timeline")[-2:]} == {"rebased", "approval_dropped"}
    ok(merge(author, now))
    published_now = ok(author.get(f"/org/memories/{memory_id}"))
    assert (published_now["content"], inside(published_now, "memory")["description"]) == (BOTH, "How to deploy")


def test_a_rebase_that_keeps_the_result_keeps_the_approval(api: Client) -> None:
    author, project_id, _, draft = a_clean_one(api)
    draft = ok(rebase(author, draft, ok(make_candidate(author, draft))))
    review = ok(decide(author, a_review(author, draft), "approved"))
    published(author, project_id, creates("elsewhere.md"))
    candidate = ok(make_candidate(author, reread(author, draft)))
    assert (candidate["approval_survives"], candidate["result_hash"]) == (True, review["result_hash"])
    ok(rebase(author, reread(author, draft), candidate))
    now = reread(author, review)
    assert (now["status"], now["submission"], now["result_hash"]) == ("approved", 2, review["result_hash"])


def test_a_path_that_is_taken_refuses_the_rebase_of_a_submitted_draft_only(api: Client) -> None:
    organization, project_id = a_place(api)
    [memory_id] = published(organization.owner, project_id, creates("deploy.md", BASE))
    draft = a_draft(organization.owner, project_id, updates(memory_id, CLASHING))
    published(organization.owner, project_id, updates(memory_id, THEIRS), creates("taken.md"))
    candidate = ok(make_candidate(organization.owner, draft))
    taken = [a_state(memory_id, path="taken.md")]
    rebased = ok(rebase(organization.owner, draft, candidate, taken))
    [collision] = listed(ok(organization.owner.get(f"/drafts/{draft['draft_id']}/result")), "collisions")
    assert collision["path"] == "taken.md"
    problem(submit(organization.owner, rebased), 409, "path_collision")


def test_a_draft_that_was_rebased_onto_an_earlier_one_is_behind_without_it(api: Client) -> None:
    organization, project_id = a_place(api)
    [memory_id] = published(organization.owner, project_id, creates("deploy.md", BASE))
    first = a_draft(organization.owner, project_id, updates(memory_id, THEIRS))
    second = a_draft(organization.owner, project_id, updates(memory_id, CLASHING))
    refused = problem(submit(organization.owner, first, second), 409, "reconciliation_required")
    [candidate] = candidates_of(refused)
    confirmed = confirming(candidate, [a_state(memory_id, content=CLASHING + "\nMore.\n")])
    review = ok(submit_confirmed(organization.owner, (first, {}), (second, confirmed)), 201)
    assert [member["freshness"] for member in listed(review, "drafts")] == ["current", "current"]
    ok(withdraw(organization.owner, review))
    assert inside(reread(organization.owner, first), "coordination")["freshness"] == "current"
    assert inside(reread(organization.owner, second), "coordination")["freshness"] == "behind"
    again = ok(make_candidate(organization.owner, reread(organization.owner, second)))
    assert again["draft_id"] == second["draft_id"]


def test_candidates_and_rebases_are_repeated_by_their_key(api: Client) -> None:
    author, _, _, draft = a_clean_one(api)
    body: Json = {"expected_draft_version": draft["version"]}
    path = f"/drafts/{draft['draft_id']}/reconciliation-candidates"
    first = author.post(path, body, key="k1", headers={"Prefer": "wait=25"})
    again = author.post(path, body, key="k1", headers={"Prefer": "wait=25"})
    assert (ok(first), again.headers["idempotency-replayed"]) == (ok(again), "true")
    confirm: Json = {**body, **confirming(ok(first))}
    rebases = [
        author.post(f"/drafts/{draft['draft_id']}/rebases", confirm, key="k2", headers={"Prefer": "wait=25"})
        for _ in range(2)
    ]
    assert [ok(answer)["version"] for answer in rebases] == [2, 2]
