from sqlalchemy import Engine, text

from models.identifiers import final_id
from models.rules.hashes import bucket_digest, bucket_of, tree_id
from tests.commands import a_review, merged, published, selected
from tests.invariants import check_invariants
from tests.rows import (
    a_draft,
    a_project,
    an_organization,
    creates,
    deletes,
    fetch,
    provisional_ids,
    renames,
    updates,
)


def test_a_merge_publishes_one_commit_and_steps_the_ref_once(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"), creates("b/c.md", description="About c"))
    outcome = merged(place, a_review(place, draft))
    assert outcome.status == "succeeded"
    assert outcome.result is not None
    assert outcome.result["applied_operation_count"] == 2
    with engine.connect() as connection:
        ref = connection.execute(
            text("select commit_id, version from organization_refs where org_id = :o"), {"o": place.org_id}
        ).one()
        commits = connection.execute(
            text("select count(*) from commits where org_id = :o and scope = 'org'"), {"o": place.org_id}
        ).scalar_one()
    assert (ref.commit_id, ref.version, commits) == (outcome.result["commit_id"], 1, 1)


def test_what_a_draft_creates_gets_its_final_id_from_the_provisional_one(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    outcome = merged(place, a_review(place, draft))
    provisional = provisional_ids(place, draft.draft_id)[0]
    assert outcome.result is not None
    assert outcome.result["created"] == [
        {
            "draft_id": draft.draft_id,
            "provisional_id": provisional,
            "memory_id": final_id(provisional),
            "path": "a.md",
        }
    ]


def test_paths_swap_in_one_publication(engine: Engine) -> None:
    place = an_organization(engine)
    first, second = published(place, creates("a.md", "one\n"), creates("b.md", "two\n"))
    published(place, renames(first, "b.md"), renames(second, "a.md"))
    with engine.connect() as connection:
        rows = connection.execute(
            text("select memory_id, path from memory_versions where org_id = :o and to_version is null"),
            {"o": place.org_id},
        )
        assert {(row.memory_id, row.path) for row in rows} == {(first, "b.md"), (second, "a.md")}


def test_a_deleted_memory_leaves_every_selection_and_projection(engine: Engine) -> None:
    place = an_organization(engine)
    kept, gone = published(place, creates("kept.md"), creates("gone.md"))
    other = a_project(place)
    assert selected(place, other, [kept, gone]).status == "succeeded"
    published(place, deletes(gone))
    with engine.connect() as connection:
        selections = connection.execute(
            text("select project_id, memory_id from org_selections where org_id = :o"), {"o": place.org_id}
        ).all()
        entries = connection.execute(
            text("select memory_id from projection_versions where project_id = :p and to_version is null"), {"p": other}
        ).scalars()
        assert {tuple(row) for row in selections} == {(place.project_id, kept), (other, kept)}
        assert set(entries) == {kept, "project_org_selection"}


def test_the_tree_id_of_rows_and_sql_is_that_of_the_rules(engine: Engine) -> None:
    place = an_organization(engine)
    ids = published(place, *(creates(f"{number}.md", f"text {number}\n") for number in range(40)))
    published(place, *(deletes(memory_id) for memory_id in ids[:7]), updates(ids[8], "other\n"))
    for owner, table, scope in (
        ("", "memory_versions", "and true"),
        (place.project_id, "projection_versions", f"and project_id = '{place.project_id}'"),
    ):
        with engine.connect() as connection:
            rows = connection.execute(
                text(f"select memory_id, entry_digest from {table} where org_id = :o and to_version is null {scope}"),  # noqa: S608
                {"o": place.org_id},
            ).all()
            newest = connection.execute(
                text("""
                    select tree_id from commits where org_id = :o and coalesce(project_id, '') = :p
                    order by version desc limit 1
                """),
                {"o": place.org_id, "p": owner},
            ).scalar_one()
        buckets: dict[int, list[tuple[str, bytes]]] = {}
        for row in rows:
            buckets.setdefault(bucket_of(row.memory_id), []).append((row.memory_id, row.entry_digest))
        assert newest == tree_id({bucket: bucket_digest(members) for bucket, members in buckets.items()})


def test_a_project_whose_memories_did_not_change_gets_no_commit(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    other = a_project(place)
    selected(place, other, [one])
    published(place, updates(two, "changed\n"))
    with engine.connect() as connection:
        versions = connection.execute(text("select version from project_refs where project_id = :p"), {"p": other})
        assert versions.scalar_one() == 1


def test_an_organization_whose_last_memory_was_deleted_has_the_hash_of_the_empty_tree(engine: Engine) -> None:
    place = an_organization(engine)
    other = a_project(place)
    (one,) = published(place, creates("1.md"))
    selected(place, other, [one])
    published(place, deletes(one))
    newest = "select tree_id from commits where org_id = :o and scope = 'org' order by version desc limit 1"
    assert fetch(place, newest)[0].tree_id == tree_id({})
    owners = fetch(place, "select distinct owner_id from tree_buckets where org_id = :o")
    assert {row.owner_id for row in owners} == {place.project_id, other}  # a projection keeps its selection's entry
    check_invariants(engine, place.org_id)
