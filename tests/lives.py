"""An organization in which everything has happened that verification speaks of, made without the servers."""

from datetime import timedelta

from sqlalchemy import Engine

from activities.amendments import amend_review
from activities.batches import BatchedOperation, append_batch
from activities.catching_up import after_publication
from activities.comments import add_comment
from models.identifiers import MemoryId, ReviewId
from models.rules.hashes import content_hash
from models.rules.visibility import Place
from models.store.structured_removals import delete_memory, restore_memory
from models.store.tokens import issue_token
from tests.commands import (
    a_review,
    carried_out,
    decided,
    merged,
    published,
    resubmitted,
    result_of,
    review,
    selected,
    withdrawn,
)
from tests.imports import a_file, an_import, imported
from tests.policies import (
    expires_after,
    from_now,
    next_timer_at,
    reminds_after,
    scheduled,
    scheduled_merges,
    submitted_at,
    timers_run,
)
from tests.rebasing import a_candidate, offered, rebased
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    a_project,
    a_user,
    acting,
    an_organization,
    appended,
    creates,
    current,
    deletes,
    discarded,
    execute,
    renames,
    restores,
    updates,
)
from tests.structured import GLOBAL, a_connection, a_memory, an_actor, of_project, of_user, of_workstream, saved, seeing
from tests.workstreams import a_session_of, a_workstream_of, injected

DAY = 86_400


def a_lived_in_organization(engine: Engine) -> Somewhere:
    """Two projects; Memories that were changed, moved and deleted; Reviews, Drafts and imports in every state.

    In `a/` stand the Memories that last: `a/changed.md` (twice, selected by the second project), `a/moved.md`.
    `restored.md` was deleted once; of `lines.md` Drafts wait for a choice, or were brought up to date.
    Structured memories stand in every scope; `changed`, `deleted`, `restored` and `anew` are global.
    """
    place = an_organization(engine)
    with acting(place) as tx:
        issue_token(tx, user_id=place.owner, name="Token", permissions=["read"], expires_at=None)
    changed, deleted, moved = published(
        place, creates("a/changed.md", "one\n", "First"), creates("a/deleted.md"), creates("moved.md", "moved\n")
    )
    second = a_project(place)
    selected(place, second, [changed, deleted])
    selected(place, second, [changed, deleted, moved])
    published(place, updates(changed, "two\n"), deletes(deleted))
    published(place, renames(moved, "a/moved.md"), updates(changed, description="Second"))
    _decide_in_every_way(place, changed)
    discarded(place, a_draft(place, creates("discarded.md")))
    appended(
        place, a_draft(place, creates("open.md", "open\n")), updates(changed, "proposed\n"), renames(moved, "b.md")
    )
    _merge_what_has_converged(place, changed)
    imported(place, an_import(place, a_file("imported/one.md"), a_file("imported/two.md", "two of them\n")))
    _restore(place)
    (lines,) = published(place, creates("lines.md", "a\nb\nc\n"))
    _fall_behind(place, lines)
    _build_on_each_other(place, lines)
    _move_on_in_part(place, lines)
    _let_time_pass(place)
    _bring_along(place)
    _remember(place)
    return place


def _decide_in_every_way(place: Somewhere, changed: str) -> None:
    """Reviews that are approved and merged, approved, rejected, resubmitted, withdrawn, and open."""
    admin = a_user(place, "admin")
    approved = a_review(place, a_draft(place, creates("a/approved.md")), a_draft(place, creates("a/also.md")))
    decided(place, approved, "approved", actor=admin)
    merged(place, approved)
    waiting = a_review(place, a_draft(place, creates("waiting.md", "waiting\n", "Waits")))
    decided(place, waiting, "approved", actor=admin)
    rejected = a_review(place, a_draft(place, updates(changed, "rejected\n")))
    decided(place, rejected, "rejected", actor=admin)
    draft = a_draft(place, creates("again.md"))
    again = a_review(place, draft)
    decided(place, again, "approved", actor=admin)
    resubmitted(place, again, current(place, draft), a_draft(place, creates("more.md")))
    withdrawn(place, a_review(place, a_draft(place, creates("withdrawn.md"))))
    _talk_about(place, a_review(place, a_draft(place, creates("talked-about.md"))))


def _talk_about(place: Somewhere, review_id: ReviewId) -> None:
    with acting(place) as tx:
        add_comment(tx, review_id, body="Why?", anchor=None)
    with acting(place) as tx:
        version = review(place, review_id).version
        amend_review(tx, review_id, expected_version=version, title="Because", description=None)


def _merge_what_has_converged(place: Somewhere, changed: str) -> None:
    """A Review whose change others have published meanwhile: merged without a commit of its own."""
    review_id = a_review(place, a_draft(place, updates(changed, "the same\n")))
    published(place, updates(changed, "the same\n"))
    merged(place, review_id)


def _restore(place: Somewhere) -> None:
    """A Memory that is there again, and one that is to be."""
    back, gone = published(place, creates("back.md", "back\n"), creates("gone.md", "gone\n"))
    published(place, deletes(back), deletes(gone))
    merged(place, a_review(place, a_draft(place, restores(back, "restored.md"))))
    a_review(place, a_draft(place, restores(gone, content="again\n")))


def _fall_behind(place: Somewhere, lines: MemoryId) -> None:
    """Drafts with a candidate that is clean, with one that is not, and rebased; the last was filled by a batch."""
    clean = a_draft(place, updates(lines, "a\nb\nclean\n"), creates("clean.md"))
    waiting = a_draft(place, updates(lines, "contested\nb\nc\n"))
    chosen = a_draft(place)
    with acting(place) as tx:
        rewrite = BatchedOperation(0, "local-1", chosen.draft_id, chosen.version, updates(lines, "chosen\nb\nc\n"))
        append_batch(tx, [rewrite])
    chosen = current(place, chosen)
    published(place, updates(lines, "theirs\nb\nc\n"))
    for draft in (clean, waiting):
        a_candidate(place, draft)
    candidate = a_candidate(place, chosen)
    result_of(rebased(place, chosen, candidate, *offered(candidate, "both_draft_first")))
    with acting(place) as tx:
        added = BatchedOperation(0, "local-2", chosen.draft_id, current(place, chosen).version, creates("added.md"))
        append_batch(tx, [added])


def _build_on_each_other(place: Somewhere, lines: MemoryId) -> None:
    """A Review whose second Draft was rebased onto what the first makes of a Memory."""
    first = a_draft(place, updates(lines, "theirs\nb\nfirst\n"))
    second = a_draft(place, updates(lines, "second\nb\nc\n"))
    a_review(place, first, second)
    published(place, updates(lines, "published\nb\nc\n"))
    second = current(place, second)
    candidate = a_candidate(place, second)
    result_of(rebased(place, second, candidate, *offered(candidate, "both_current_first")))


def _move_on_in_part(place: Somewhere, lines: MemoryId) -> None:
    """A Review of which one Draft was brought up to date by itself, and the other has to be confirmed."""
    contested = a_draft(place, updates(lines, "published\nb\nanother\n"))
    a_review(place, a_draft(place, creates("moved-on.md")), contested)
    published(place, updates(lines, "again\nb\nc\n"))
    after_publication(place.engine, place.org_id, contested.draft_id)


def _let_time_pass(place: Somewhere) -> None:
    """Reviews that somebody is reminded of, that expire, and that are published at their time, then or not at all."""
    reminds_after(place, 30 * DAY)
    expires_after(place, 60 * DAY)
    reminded, expired, due, skipped, coming = (
        a_review(place, a_draft(place, creates(f"timed/{name}.md")))
        for name in ("reminded", "expired", "due", "skipped", "coming")
    )
    timers_run(place, reminded, at=submitted_at(place, reminded) + timedelta(days=30))
    timers_run(place, expired, at=submitted_at(place, expired) + timedelta(days=60))
    for review_id in (due, skipped, coming):
        scheduled(place, review_id, from_now(DAY))
    decided(place, due, "approved")
    for review_id in (due, skipped):
        timers_run(place, review_id, at=next_timer_at(place, review_id))
    (merge,) = scheduled_merges(place, due)
    result_of(carried_out(place, merge))


def _bring_along(place: Somewhere) -> None:
    """A resource of an older system."""
    execute(
        place,
        """
        insert into project_memories (org_id, project_id, memory_id, path, description, content, content_hash,
                                      created_at, updated_at)
        values (:o, :p, 'ctx_old', 'old.md', '', :content, :hash, now(), now())
        """,
        p=place.project_id,
        content="old\n",
        hash=content_hash("old\n"),
    )


def _remember(place: Somewhere) -> None:
    """Structured memories of every scope and history, and the sessions that they were saved in."""
    member = a_member(place)
    workstream_id = a_workstream_of(place, member, project_id=place.project_id)
    session = a_session_of(place, member, workstream_id, project_id=place.project_id)
    a_session_of(place, member, kind="coordinator")
    with a_connection(place) as connection:
        for where in (
            of_user(member),
            Place("coordinator", member),
            of_workstream(workstream_id),
            of_project(place.project_id),
        ):
            saved(connection, place, where, a_memory(f"of_{where.scope}"), actor=member)
        for name in ("changed", "deleted", "restored", "anew"):
            memory_id = saved(connection, place, memory=a_memory(name), actor=member).record.memory_id
            injected(place, session, memory_id)
        saved(connection, place, memory=a_memory("changed", "Changed.", description="Else.", type="feedback"))
        sees = seeing(place.org_id, GLOBAL)
        for name in ("deleted", "restored", "anew"):
            delete_memory(connection, an_actor(place), sees, GLOBAL, name)
        restore_memory(connection, an_actor(place), sees, GLOBAL, "restored")
        saved(connection, place, memory=a_memory("anew", "New."))
