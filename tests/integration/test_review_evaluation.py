"""What an evaluation finds in the database: overlays, texts, free paths, and what other Drafts create."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

import pytest
from sqlalchemy import Engine, event, text

from models.identifiers import MemoryId
from models.rules.conflicts import ConflictCode
from models.rules.evaluation import Confirmed, Evaluation
from models.rules.hashes import body_of
from models.rules.states import MemoryState
from models.store.draft_bases import standing_at, starting_states
from models.store.effective import list_effective
from models.store.locks import DraftRow
from models.store.memories import each_at, last_changed
from models.store.merge_texts import TEXTS, TextReader
from models.store.provisional import NOTHING_ELSEWHERE, made_beside
from models.store.review_evaluation import evaluate_drafts
from models.store.standing import free_paths
from tests.commands import published
from tests.rows import (
    Somewhere,
    a_draft,
    an_organization,
    creates,
    deletes,
    execute,
    provisional_ids,
    ref_of,
    renames,
    updates,
)

LINES = "1\n2\n3\n4\n5\n"


def evaluated(
    place: Somewhere, *drafts: DraftRow, confirmed: Confirmed | None = None, alone: bool = False, **texts: str
) -> Evaluation:
    with place.engine.connect() as connection:
        return evaluate_drafts(
            connection,
            place.org_id,
            place.project_id,
            ref_of(place)[1],
            drafts,
            confirmed=confirmed or {},
            texts={body_of(content).blob_id: content for content in texts.values()},
            elsewhere=made_beside(connection, drafts) if alone else NOTHING_ELSEWHERE,
        )


def is_laid_over(place: Somewhere, draft: DraftRow, memory_id: MemoryId, path: str | None) -> None:
    """The Draft stands on what an earlier one made of a Memory; its text is as Current has it."""
    execute(
        place,
        """
        insert into draft_base_states (org_id, draft_id, memory_id, path, description, blob_id)
        select org_id, :draft_id, memory_id, cast(:path as text), case when :path is null then null else '' end,
               case when :path is null then null else blob_id end
        from memory_versions where org_id = :o and memory_id = :memory_id and to_version is null
        """,
        draft_id=draft.draft_id,
        memory_id=memory_id,
        path=path,
    )


@contextmanager
def watched(engine: Engine) -> Iterator[list[str]]:
    """The statements that are executed meanwhile."""
    seen: list[str] = []

    def see(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", see)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", see)


def test_a_draft_starts_from_what_it_was_rebased_onto(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    draft = a_draft(place, updates(one, "mine\n"), updates(two, "mine\n"))
    is_laid_over(place, draft, one, "x.md")
    first, second = evaluated(place, draft).reconciliations[draft.draft_id].comparisons
    assert first.base == MemoryState("x.md", "", body_of("text\n"))
    assert second.base == second.current == MemoryState("2.md", "", body_of("text\n"))
    assert first.proposed == MemoryState("1.md", "", body_of("mine\n"))


def test_paths_and_states_of_a_draft_are_those_that_it_starts_from(engine: Engine) -> None:
    place = an_organization(engine)
    one, two, three = published(place, creates("1.md"), creates("2.md"), creates("3.md"))
    draft = a_draft(place)
    is_laid_over(place, draft, one, "x.md")
    is_laid_over(place, draft, two, None)
    published(place, renames(three, "later.md"))
    other = a_draft(place, creates("new.md"))
    (made,) = provisional_ids(place, other.draft_id)
    with place.engine.connect() as connection:
        states = starting_states(connection, draft, [one, two, three, made])
        standing = standing_at(connection, draft, ["1.md", "2.md", "3.md", "x.md", "later.md"])
    assert {memory_id: state.path for memory_id, state in states.items()} == {
        one: "x.md",
        three: "3.md",
        made: "new.md",
    }
    assert standing == {"x.md": one, "3.md": three}


def test_before_it_is_submitted_a_draft_is_judged_with_what_the_authors_other_drafts_create(engine: Engine) -> None:
    place = an_organization(engine)
    first = a_draft(place, creates("new.md", LINES))
    (made,) = provisional_ids(place, first.draft_id)
    second = a_draft(place, updates(made, "more\n"))
    assert [problem.code for problem in evaluated(place, second).blockers] == ["target_missing"]
    alone = evaluated(place, second, alone=True)
    assert alone.blockers == []
    assert alone.results[second.draft_id] == {made: MemoryState("new.md", "", body_of("more\n"))}


def test_texts_come_from_current_from_drafts_from_merging_and_from_what_is_confirmed(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", LINES))
    behind = a_draft(place, updates(one, LINES.replace("1", "1, mine")))
    published(place, updates(one, LINES.replace("1", "1, theirs")))
    siblings = [a_draft(place, updates(one, LINES.replace("1", "1, theirs").replace(n, f"{n}, too"))) for n in "35"]
    assert behind.draft_id in evaluated(place, behind, *siblings).needs_reconciliation
    chosen = LINES.replace("1", "1, both")
    confirmed = {behind.draft_id: {one: MemoryState("a.md", "", body_of(chosen))}}
    evaluation = evaluated(place, behind, *siblings, confirmed=confirmed, chosen=chosen)
    # Each of the siblings has the first line of its own base, which the confirmed text has changed.
    assert evaluation.needs_reconciliation == set()
    merged = chosen.replace("3", "3, too").replace("5", "5, too")
    assert evaluation.final_states == {one: MemoryState("a.md", "", body_of(merged))}
    assert evaluation.texts[body_of(merged).blob_id] == merged


def test_a_text_is_read_only_where_three_bodies_differ(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md", LINES), creates("2.md", LINES))
    behind = a_draft(place, updates(one, LINES.replace("1", "1, mine")))
    moved = a_draft(place, renames(two, "x.md"))
    published(place, updates(two, "theirs\n"))
    with watched(engine) as statements:
        assert evaluated(place, behind, moved).needs_reconciliation == {moved.draft_id}
    assert not any("content from" in statement for statement in statements)
    published(place, updates(one, LINES.replace("5", "5, theirs")))
    with watched(engine) as statements:
        evaluated(place, behind, moved)
    assert len([statement for statement in statements if "content from" in statement]) == 1
    assert "content from" in TEXTS.text


def test_many_texts_that_are_merged_cost_as_many_statements_as_few(engine: Engine) -> None:
    place = an_organization(engine)
    kept = [LINES.replace("3", f"{number}") for number in range(20)]
    memories = published(place, *(creates(f"{number}.md", content) for number, content in enumerate(kept)))
    mine = [updates(one, content.replace("1", "1, mine")) for one, content in zip(memories, kept, strict=True)]
    few, many = a_draft(place, *mine[:2]), a_draft(place, *mine)
    overlap = [content.replace("1", "1, theirs") for content in kept]
    published(place, *(updates(one, content) for one, content in zip(memories, overlap, strict=True)))
    taken = []
    for draft in (few, many):
        with watched(engine) as statements:
            conflicts = evaluated(place, draft).reconciliations[draft.draft_id].conflicts
        assert {conflict.code for conflict in conflicts} == {ConflictCode.BODY_OVERLAP}
        taken.append((len(conflicts), len(statements)))
    assert taken == [(2, taken[0][1]), (20, taken[0][1])]


def test_texts_are_read_ahead_in_pieces_and_those_asked_for_longest_ago_are_dropped(engine: Engine) -> None:
    place = an_organization(engine)
    contents = [f"{number}".ljust(99, "x") + "\n" for number in range(10)]
    published(place, *(creates(f"{number}.md", content) for number, content in enumerate(contents[:5])))
    draft = a_draft(place, *(creates(f"{number}.md", content) for number, content in enumerate(contents[5:], start=5)))
    ids = [body_of(content).blob_id for content in contents]
    with place.engine.connect() as connection, watched(engine) as statements:
        reader = TextReader(connection, place.org_id, [draft.draft_id], ids[:9], piece_bytes=300, kept_characters=700)
        assert [reader.read(blob_id) for blob_id in ids[:9]] == contents[:9]
        assert len(statements) == 3
        assert reader.read(ids[6]) == contents[6]
        assert len(statements) == 3
        assert [reader.read(ids[0]), reader.read(ids[9])] == [contents[0], contents[9]]
        assert len(statements) == 5
        with pytest.raises(KeyError):
            reader.read(body_of("nowhere\n").blob_id)


def test_many_drafts_cost_as_many_statements_as_two(engine: Engine) -> None:
    place = an_organization(engine)
    memories = published(place, *(creates(f"{number}.md") for number in range(12)))
    drafts = [a_draft(place, updates(one, f"{number}\n")) for number, one in zip(count(), memories, strict=False)]
    published(place, creates("other.md"))
    taken = []
    for few in (drafts[:2], drafts):
        with watched(engine) as statements:
            assert evaluated(place, *few).blockers == []
        taken.append(len(statements))
    assert taken[0] == taken[1]


def test_drafts_of_many_bases_cost_as_many_statements_as_those_of_two(engine: Engine) -> None:
    place = an_organization(engine)
    memories = published(place, *(creates(f"{number}.md") for number in range(6)))
    drafts: list[DraftRow] = []
    read = []
    for number, one in enumerate(memories):
        drafts.append(a_draft(place, updates(one, "mine\n"), creates(f"new {number}.md")))
        published(place, creates(f"new {number}.md"))
        with place.engine.connect() as connection, watched(engine) as statements:
            shown = list_effective(
                connection, place.org_id, place.project_id, place.owner, after=("", ""), limit=len(drafts)
            )
        assert len(shown) == len(drafts)
        read.append(len(statements))
    taken = []
    for few in (drafts[:2], drafts):
        with watched(engine) as statements:
            assert evaluated(place, *few).needs_reconciliation == {draft.draft_id for draft in few}
        taken.append(len(statements))
    assert (taken[0], read[1]) == (taken[1], read[5])


def test_what_is_asked_about_a_version_is_told_as_it_was_then(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("1.md"), creates("2.md"))
    published(place, renames(one, "x.md"), deletes(two))
    published(place, updates(one, "more\n"))
    _, version = ref_of(place)
    with place.engine.connect() as connection:
        then = each_at(connection, place.org_id, [(one, version - 2), (two, version - 2), (one, version - 1)])
        gone = each_at(connection, place.org_id, [(two, version), (one, 0)])
        changed = last_changed(connection, place.org_id, [one, two], version - 2)
    text = body_of("text\n")
    assert then == {
        version - 2: {one: MemoryState("1.md", "", text), two: MemoryState("2.md", "", text)},
        version - 1: {one: MemoryState("x.md", "", text)},
    }
    assert gone == {version: {}, 0: {}}
    assert changed == {one: version, two: version - 1}


def test_an_offered_path_is_free_in_current_and_in_the_review(engine: Engine) -> None:
    place = an_organization(engine)
    (gone,) = published(place, creates("a-3.md"))
    draft = a_draft(place, creates("a.md"), renames(gone, "elsewhere.md"))
    published(place, creates("a.md"), creates("A-2.md"))
    (conflict,) = evaluated(place, draft).reconciliations[draft.draft_id].conflicts
    assert conflict.code is ConflictCode.PATH_BOTH_CREATED
    assert conflict.identical is True
    offers = {resolution.name: resolution.state for resolution in conflict.resolutions}
    # The third path is still taken in Current, but not once this Review is published.
    assert offers["move"] == MemoryState("a-3.md", "", body_of("text\n"))


def test_many_paths_that_were_taken_meanwhile_cost_as_many_statements_as_one(engine: Engine) -> None:
    place = an_organization(engine)
    few, many = (
        a_draft(place, *(creates(f"{folder}/{number}.md", "mine\n") for number in range(size)))
        for folder, size in (("few", 1), ("many", 20))
    )
    published(place, *(creates(f"{folder}/{number}.md") for folder in ("few", "many") for number in range(20)))
    taken = []
    for draft in (few, many):
        with watched(engine) as statements:
            conflicts = evaluated(place, draft).reconciliations[draft.draft_id].conflicts
        assert all("move" in {resolution.name for resolution in conflict.resolutions} for conflict in conflicts)
        taken.append((len(conflicts), len(statements)))
    assert taken == [(1, taken[0][1]), (20, taken[0][1])]


def test_a_path_is_free_unless_a_memory_stands_there_or_above_or_inside_it(engine: Engine) -> None:
    place = an_organization(engine)
    a, inside, _ = published(place, creates("a.md"), creates("folder/inside.md"), creates("folder/other.md"))
    asked = ["A.md", "a.md/x", "a.mdx", "folder", "folder/x", "FOLDER/Inside.md/x", "folder-2", "b.md"]
    with place.engine.connect() as connection:
        free = partial(free_paths, connection, place.org_id, asked)
        assert free(besides=[]) == {"a.mdx", "folder/x", "folder-2", "b.md"}
        assert free(besides=[a, inside]) == set(asked) - {"folder"}


def test_an_evaluation_in_a_transaction_without_the_lock_writes_nothing(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", LINES))
    draft = a_draft(place, updates(one, "mine\n"))
    published(place, updates(one, "theirs\n"))
    with place.engine.connect() as connection:
        connection.execute(text("set transaction read only"))
        evaluation = evaluate_drafts(connection, place.org_id, place.project_id, ref_of(place)[1], [draft])
    assert [problem.code for problem in evaluation.blockers] == ["reconciliation_required"]
