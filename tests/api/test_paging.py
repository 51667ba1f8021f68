"""Lists are read whole, page by page, while others write (publication.md §6)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from sqlalchemy import Engine, text

from tests.client import Client, Json
from tests.proposals import a_draft, a_place, all_items


def many_drafts(engine: Engine, organization_id: str, user_id: str, project_id: str, count: int) -> set[str]:
    """So many open Drafts of a user, of which some were made at the same moment."""
    with engine.begin() as connection:
        rows = connection.execute(
            text("""
                insert into drafts (org_id, draft_id, project_id, author_id, title, status, version, base_version,
                                    created_at, updated_at)
                select :o, 'drf_' || md5(n::text || :o), :p, :u, '', 'open', 1, 0, at, at
                from generate_series(1, :count) as n, lateral (select now() - make_interval(secs => n / 7)) as t(at)
                returning draft_id
            """),
            {"o": organization_id, "p": project_id, "u": user_id, "count": count},
        )
        return set(rows.scalars())


def while_writing(write: Callable[[], object], read: Callable[[], list[Json]]) -> list[Json]:
    """What is read while something is written again and again."""
    done = Event()

    def go_on() -> int:
        written = 0
        while not done.is_set():
            write()
            written += 1
        return written

    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(go_on)
        try:
            found = read()
        finally:
            done.set()
        assert writing.result() > 0
    return found


def test_1000_drafts_page_completely_and_exactly_once_while_others_are_made(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    there = many_drafts(engine, organization.organization_id, organization.owner_id, project_id, 1_000)
    found = while_writing(lambda: a_draft(owner, project_id), lambda: all_items(owner, "/drafts", limit=90))
    names = [str(draft["draft_id"]) for draft in found]
    assert len(names) == len(set(names))
    assert there <= set(names)
    moments = [(str(draft["created_at"]), str(draft["draft_id"])) for draft in found]
    assert moments == sorted(moments, reverse=True)
