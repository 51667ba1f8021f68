"""Which processes keep a search index, and on which task queue each repairs its own.

They are of the installation. The database's clock says who lives: those of the processes may differ.
"""

from typing import NamedTuple

import psycopg
from sqlalchemy import Connection, text

LIVES_S = 30
"""How long an owner counts as alive that does not say so any more; it says so three times as often."""

FORGOTTEN_S = 86_400
"""After how long a process that was killed is no row any more."""


class IndexOwner(NamedTuple):
    """A process with an index, and where it takes repairs from."""

    owner_id: str
    task_queue: str


RENEW = """
    with forgotten as (
        delete from index_owners
        where seen_at < now() - make_interval(secs => %(forgotten_s)s) and owner_id <> %(owner_id)s
    )
    insert into index_owners (owner_id, task_queue, seen_at)
    values (%(owner_id)s, %(task_queue)s, now())
    on conflict (owner_id) do update set seen_at = excluded.seen_at, task_queue = excluded.task_queue
"""
REMOVE = "delete from index_owners where owner_id = %(owner_id)s"

LIVING = text("""
    select owner_id, task_queue from index_owners where seen_at > now() - make_interval(secs => :lives_s)
    order by owner_id
""")


def renew_owner(connection: psycopg.Connection, owner: IndexOwner) -> None:
    """Say that an owner lives; forgets those that have not said so for a day."""
    connection.execute(RENEW, {**owner._asdict(), "forgotten_s": FORGOTTEN_S})


def remove_owner(connection: psycopg.Connection, owner: IndexOwner) -> None:
    """Say that an owner has ended; a second call does nothing."""
    connection.execute(REMOVE, owner._asdict())


def living_owners(connection: Connection) -> list[IndexOwner]:
    """The owners that said within 30 s that they live."""
    return [IndexOwner(*row) for row in connection.execute(LIVING, {"lives_s": LIVES_S})]
