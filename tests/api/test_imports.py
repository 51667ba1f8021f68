"""Imports are opened, staged and read by their author (publication.md §6)."""

import json

import pytest
from sqlalchemy import Engine

from tests.client import (
    Client,
    Json,
    a_member,
    a_person,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.held_lane import a_held_lane
from tests.imports_over_http import a_file, an_import, carried_out, path_of, reported, stage, staged_files
from tests.proposals import a_place, all_items, creates, inside, published


def test_an_import_is_opened_with_everything_the_contract_names(api: Client) -> None:
    organization, project_id = a_place(api)
    made = ok(organization.owner.post("/imports", {"project_id": project_id}), 201)
    expected: Json = {
        "import_id": made["import_id"],
        "project_id": project_id,
        "title": "Import",
        "mirror": False,
        "prefix": "",
        "source": None,
        "base_commit_id": None,
        "status": "staging",
        "staged": 0,
        "progress": {"step": "staging", "done": 0, "total": 0},
        "reports": [],
        "review_id": None,
        "operation_id": None,
        "counts": None,
        "created_at": made["created_at"],
        "updated_at": made["created_at"],
    }
    assert made == expected
    assert ok(organization.owner.get(path_of(made))) == made


def latest_commit(client: Client, owner: str) -> str:
    """The newest commit of the organization or of a project."""
    return str(inside(ok(client.get(f"{owner}/commit-state")), "latest")["commit_id"])


@pytest.mark.parametrize(
    ("members", "refused"),
    [
        ({"title": ""}, ("title", "blank")),
        ({"title": "t" * 201}, ("title", "too_long")),
        ({"mirror": "true"}, ("mirror", "type")),
        ({"prefix": None}, ("prefix", "null")),
        ({"prefix": "p" * 513}, ("prefix", "too_long")),
        ({"source": ""}, ("source", "too_short")),
        ({"source": "s" * 201}, ("source", "too_long")),
        ({"source": "a\tb"}, ("source", "invisible")),
        ({"source": " "}, ("source", "invisible")),
    ],
)
def test_what_the_schema_can_tell_is_refused(api: Client, members: Json, refused: tuple[str, str]) -> None:
    organization, project_id = a_place(api)
    response = organization.owner.post("/imports", {"project_id": project_id, **members})
    assert refused_fields(response) == {refused}


def test_a_prefix_is_a_path_and_one_trailing_slash_is_dropped(api: Client) -> None:
    organization, project_id = a_place(api)
    assert an_import(organization.owner, project_id, prefix="doce\u0301s/")["prefix"] == "doc\u00e9s"
    for prefix, rule in (("/", "absolute"), ("/docs", "absolute"), ("docs//", "empty_segment"), ("a\\b", "backslash")):
        refused = organization.owner.post("/imports", {"project_id": project_id, "prefix": prefix})
        document = problem(refused, 422, "operation_invalid")
        assert (document["field"], document["rule"]) == ("prefix", rule)


def test_the_same_source_is_the_same_import_until_it_has_ended(api: Client) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, project_id).client
    first = an_import(organization.owner, project_id, a_file("a.md"), source="laptop", title="T")
    again = an_import(organization.owner, project_id, source="laptop", title="T")
    assert (again["import_id"], again["staged"]) == (first["import_id"], 1)
    assert an_import(member, project_id, source="laptop", title="T")["import_id"] != first["import_id"]
    assert an_import(organization.owner, project_id, title="T")["import_id"] != first["import_id"]
    for other in ({"title": "U"}, {"title": "T", "mirror": True}, {"title": "T", "prefix": "p"}):
        refused = organization.owner.post("/imports", {"project_id": project_id, "source": "laptop", **other})
        assert problem(refused, 409, "already_exists")["import_id"] == first["import_id"]


@pytest.mark.usefixtures("worker")
def test_a_base_is_a_commit_of_the_organization_or_the_project_and_part_of_what_a_source_asked_for(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    published(owner, project_id, creates("a.md"))
    bases = [latest_commit(owner, "/org"), latest_commit(owner, f"/projects/{project_id}")]
    for base in bases:
        assert an_import(owner, project_id, source="s", base_commit_id=base)["base_commit_id"] == base
        assert owner.delete(path_of(an_import(owner, project_id, source="s", base_commit_id=base))).status_code == 204
    made = an_import(owner, project_id, source="s")
    refused = owner.post("/imports", {"project_id": project_id, "source": "s", "base_commit_id": bases[0]})
    assert problem(refused, 409, "already_exists")["import_id"] == made["import_id"]


@pytest.mark.usefixtures("worker")
def test_a_base_that_is_unknown_or_foreign_is_not_found_before_the_rest_is_judged(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    published(owner, project_id, creates("a.md"))
    other = ok(owner.post("/projects", {"name": "Other"}), 201)
    elsewhere, its_project = a_place(api)
    published(elsewhere.owner, its_project, creates("a.md"))
    foreign = [latest_commit(owner, f"/projects/{project_id}"), latest_commit(elsewhere.owner, "/org"), "0" * 64]
    for base in foreign:
        body: Json = {"project_id": other["project_id"], "base_commit_id": base, "x": 1}
        assert problem(owner.post("/imports", body), 404, "not_found")["field"] == "base_commit_id"


def test_who_proposes_a_draft_opens_an_import(api: Client) -> None:
    organization, project_id = a_place(api)
    body: Json = {"project_id": project_id}
    ok(a_member(organization, project_id).client.post("/imports", body), 201)
    problem(a_member(organization, project_id, "viewer").client.post("/imports", body), 403, "forbidden")
    problem(a_person(organization).client.post("/imports", body), 404, "not_found")
    problem(organization.owner.post("/imports", {"project_id": "prj_unknown", "x": 1}), 404, "not_found")


def test_files_are_staged_by_path_and_another_text_replaces(api: Client) -> None:
    organization, project_id = a_place(api)
    made = an_import(organization.owner, project_id, a_file("e\u0301.md", "\ufeffone\r\n"), a_file("a.md"))
    assert (made["staged"], made["progress"]) == (2, {"step": "staging", "done": 2, "total": 2})
    first = staged_files(organization.owner, made)
    assert [file["path"] for file in first] == ["a.md", "\u00e9.md"]
    again = stage(
        organization.owner,
        made,
        a_file("\u00e9.md", "one\n"),
        a_file("a.md", "two\n", description=" d ", memory_id="ctx_1"),
    )
    assert again["staged"] == 2
    second = staged_files(organization.owner, made)
    assert second[1] == first[1]
    assert second[0]["content_hash"] != first[0]["content_hash"]
    assert (second[0]["description"], second[0]["memory_id"]) == ("d", "ctx_1")
    assert (first[0]["description"], first[0]["memory_id"]) == (None, None)


@pytest.mark.parametrize("other", ["\u00e9.md", "e\u0301.md"], ids=["the same", "another spelling"])
def test_files_of_one_request_at_one_path_are_reported_once_and_none_is_taken(api: Client, other: str) -> None:
    organization, project_id = a_place(api)
    files = [a_file("\u00e9.md", "one\n"), a_file("a.md"), a_file(other, "two\n")]
    made = an_import(organization.owner, project_id, *files)
    assert (made["staged"], reported(made)) == (2, [("\u00e9.md", "path_collision")])
    hashes = [file["content_hash"] is None for file in staged_files(organization.owner, made)]
    assert hashes == [False, True]
    mended = stage(organization.owner, made, a_file("\u00e9.md"))
    assert (mended["staged"], mended["reports"]) == (2, [])


def test_staged_files_are_listed_by_path_page_by_page(api: Client) -> None:
    organization, project_id = a_place(api)
    paths = [f"{number:02}.md" for number in range(7)]
    made = an_import(organization.owner, project_id, *(a_file(path) for path in reversed(paths)))
    found = all_items(organization.owner, f"{path_of(made)}/files", limit=3)
    assert [file["path"] for file in found] == paths


def test_what_breaks_a_rule_of_content_is_reported_and_left_out(api: Client) -> None:
    organization, project_id = a_place(api)
    files: list[Json] = [
        a_file("good.md"),
        a_file("a\\b.md"),
        a_file("blank.md", ""),
        a_file("big.md", "x" * 262_144),
        a_file("nul\0.md"),
        a_file("lone.md", "\ud800"),
        a_file("line.md", description="a\nb"),
        a_file("id.md", memory_id="prv_1"),
    ]
    made = an_import(organization.owner, project_id)
    response = organization.owner.request(
        "POST",
        f"{path_of(made)}/files",
        content=json.dumps({"files": files}).encode(),
        headers={"Content-Type": "application/json"},
    )
    body = ok(response)
    assert body["staged"] == len(files)
    assert reported(body) == [
        ("a\\b.md", "operation_invalid"),
        ("big.md", "too_large"),
        ("blank.md", "operation_invalid"),
        ("id.md", "operation_invalid"),
        ("line.md", "operation_invalid"),
        ("lone.md", "operation_invalid"),
        ("nul\\u0000.md", "operation_invalid"),
    ]
    hashes = {str(file["path"]): file["content_hash"] for file in staged_files(organization.owner, made)}
    assert [path for path, content_hash in hashes.items() if content_hash is not None] == ["good.md"]
    mended = stage(organization.owner, made, a_file("blank.md"))
    assert "blank.md" not in dict(reported(mended))


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({"files": []}, ("files", "too_short")),
        ({"files": [{"path": "a", "content": "x"}] * 1_001}, ("files", "too_long")),
        ({"files": [{"path": 1, "content": "x"}]}, ("files[0].path", "type")),
        ({"files": [{"path": "a"}]}, ("files[0].content", "missing")),
        ({"files": [{"path": "a", "content": None}]}, ("files[0].content", "null")),
        ({"files": [{"path": "a", "content": "x", "description": None}]}, ("files[0].description", "null")),
        ({"files": [{"path": "a", "content": "x", "kind": "k"}]}, ("files[0].kind", "unknown")),
    ],
)
def test_the_shape_of_files_is_that_of_the_request(api: Client, body: Json, refused: tuple[str, str]) -> None:
    organization, project_id = a_place(api)
    made = an_import(organization.owner, project_id)
    assert refused_fields(organization.owner.post(f"{path_of(made)}/files", body)) == {refused}


def test_an_archived_project_takes_no_import_and_no_files(api: Client) -> None:
    organization, project_id = a_place(api)
    made = an_import(organization.owner, project_id)
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    body: Json = {"project_id": project_id, "prefix": "/broken"}
    problem(organization.owner.post("/imports", body), 409, "project_archived")
    problem(organization.owner.post(f"{path_of(made)}/files", {"files": [a_file("a.md")]}), 409, "project_archived")
    problem(organization.owner.post(f"{path_of(made)}/start?dry_run=true", {}), 409, "project_archived")
    assert ok(organization.owner.get(path_of(made)))["status"] == "staging"


def test_lists_show_the_callers_own_newest_first_without_reports(api: Client) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, project_id).client
    mine = [str(an_import(member, project_id)["import_id"]) for _ in range(3)]
    an_import(organization.owner, project_id)
    shown = all_items(member, "/imports", limit=2)
    assert [listed["import_id"] for listed in shown] == mine[::-1]
    assert "reports" not in shown[0]
    assert len(items(member.get("/imports", project_id=project_id, status="staging"))) == 3
    assert items(member.get("/imports", project_id="prj_unknown")) == []
    assert items(member.get("/imports", status="running")) == items(member.get("/imports", status="failed")) == []
    assert refused_fields(member.get("/imports", status="open")) == {("status", "not_allowed")}


def test_nobody_else_sees_an_import(api: Client) -> None:
    organization, project_id = a_place(api)
    person = a_member(organization, project_id)
    path = path_of(an_import(person.client, project_id, a_file("a.md")))
    for other in (organization.owner, an_organization(api).owner, a_member(organization, project_id, "admin").client):
        problem(other.get(path), 404, "not_found")
        problem(other.get(f"{path}/files"), 404, "not_found")
        problem(other.post(f"{path}/files", {"files": [a_file("b.md")]}), 404, "not_found")
        problem(other.post(f"{path}/start", {}), 404, "not_found")
    membership = f"/projects/{project_id}/members/{person.user_id}"
    assert organization.owner.delete(membership).status_code == 204
    hidden = problem(person.client.get(path), 404, "not_found")
    assert hidden["detail"] == problem(person.client.get("/imports/imp_unknown"), 404, "not_found")["detail"]
    assert items(person.client.get("/imports")) == []


def test_what_was_staged_can_be_taken_back_until_it_is_started(api: Client) -> None:
    organization, project_id = a_place(api)
    person = a_member(organization, project_id)
    made = an_import(person.client, project_id, a_file("a.md"), source="laptop")
    problem(organization.owner.delete(path_of(made)), 404, "not_found")
    problem(person.client.with_token(None).delete(path_of(made)), 401, "unauthenticated")
    assert person.client.delete(path_of(made)).status_code == 204
    problem(person.client.get(path_of(made)), 404, "not_found")
    problem(person.client.delete(path_of(made)), 404, "not_found")
    assert an_import(person.client, project_id, source="laptop")["staged"] == 0


def test_what_was_staged_can_be_taken_back_from_a_project_that_takes_no_writes(api: Client) -> None:
    organization, project_id = a_place(api)
    made = an_import(organization.owner, project_id, a_file("a.md"))
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    assert organization.owner.delete(path_of(made)).status_code == 204


def test_an_import_that_was_started_cannot_be_taken_back(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    made = an_import(organization.owner, project_id)
    with a_held_lane(engine, organization):
        operation = ok(organization.owner.post(f"{path_of(made)}/start", {}), 202)
        document = problem(organization.owner.delete(path_of(made)), 409, "operation_in_progress")
    assert document["operation_id"] == operation["operation_id"]


@pytest.mark.usefixtures("worker")
def test_an_import_that_has_ended_cannot_be_taken_back(api: Client) -> None:
    organization, project_id = a_place(api)
    made = carried_out(organization.owner, an_import(organization.owner, project_id))
    document = problem(organization.owner.delete(path_of(made)), 409, "version_conflict")
    assert (document["expected"], document["actual"]) == ("staging", "succeeded")


def test_lists_are_asked_for_a_source(api: Client) -> None:
    organization, project_id = a_place(api)
    for source in ("laptop", "desk"):
        an_import(organization.owner, project_id, source=source)
    an_import(organization.owner, project_id)
    assert [each["source"] for each in items(organization.owner.get("/imports", source="desk"))] == ["desk"]
    assert items(organization.owner.get("/imports", source="Desk")) == []
    assert refused_fields(organization.owner.get("/imports", source="")) == {("source", "too_short")}


def test_an_author_who_became_a_viewer_stages_and_starts_nothing_more(api: Client) -> None:
    organization, project_id = a_place(api)
    person = a_member(organization, project_id)
    path = path_of(an_import(person.client, project_id, a_file("a.md")))
    ok(organization.owner.patch(f"/projects/{project_id}/members/{person.user_id}", {"role": "viewer"}))
    problem(person.client.post(f"{path}/files", {"files": [a_file("b.md")]}), 403, "forbidden")
    problem(person.client.post(f"{path}/start", {}), 403, "forbidden")
    assert ok(person.client.get(path))["staged"] == 1
