"""What rebases save: every Draft as it was before (publication.md §3)."""

from sqlalchemy import Engine

from models.schemas.reconciliation import RevisionBody
from models.store.draft_views import draft_body
from models.store.locks import DraftRow
from models.store.revisions import revisions
from tests.commands import published
from tests.rebasing import a_candidate, offered, rebased
from tests.rows import Somewhere, a_draft, an_organization, appended, creates, current, renames, updates


def saved(place: Somewhere, draft: DraftRow, *, before: int | None = None, limit: int = 10) -> list[RevisionBody]:
    with place.engine.connect() as connection:
        return revisions(connection, place.org_id, draft.draft_id, before=before, limit=limit)


def test_a_revision_is_the_whole_draft_as_it_was_before_the_rebase(engine: Engine) -> None:
    place = an_organization(engine)
    (one,) = published(place, creates("a.md", "text\n"))
    draft = a_draft(place, updates(one, "ours\n", "said"), renames(one, "b.md"), creates("c.md"))
    with place.engine.connect() as connection:
        before = draft_body(connection, draft)
    published(place, updates(one, "theirs\n"))
    candidate = a_candidate(place, draft)
    assert saved(place, draft) == []
    rebased(place, draft, candidate, *offered(candidate, "keep_draft"))
    (revision,) = saved(place, draft)
    assert (revision.version, revision.title) == (draft.version, draft.title)
    assert revision.base_commit_id == draft.base_commit_id
    assert revision.candidate_id == candidate["candidate_id"]
    assert revision.operations == before.operations


def test_revisions_are_read_newest_first_and_from_a_version_on(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    for number in range(3):
        published(place, creates(f"{number}.md"))
        draft = current(place, draft)
        rebased(place, draft, a_candidate(place, draft))
    assert [revision.version for revision in saved(place, draft)] == [3, 2, 1]
    assert [revision.version for revision in saved(place, draft, limit=2)] == [3, 2]
    assert [revision.version for revision in saved(place, draft, before=2)] == [1]


def test_the_operations_of_a_rebased_draft_have_ids_of_their_own_and_take_further_ones(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    published(place, creates("b.md"))
    rebased(place, draft, a_candidate(place, draft))
    draft = appended(place, current(place, draft), creates("c.md"))
    with place.engine.connect() as connection:
        after = draft_body(connection, draft)
    before = saved(place, draft)[0].operations
    assert [operation.index for operation in after.operations] == [0, 1]
    assert {operation.operation_id for operation in after.operations}.isdisjoint(
        operation.operation_id for operation in before
    )
