"""Sessions: an interactive one has a workstream, and workstreams remember that they had one."""

from collections.abc import Iterator

from sqlalchemy import text

from models.store.verification.findings import Finding
from models.store.verification.snapshot import Snapshot

HOMELESS = text("""
    select session_id from sessions
    where org_id = :org_id and kind = 'interactive' and workstream_id is null order by session_id
""")
FORGOTTEN = text("""
    select distinct w.workstream_id
    from workstreams w join sessions s on s.org_id = w.org_id and s.workstream_id = w.workstream_id
    where w.org_id = :org_id and not w.had_session order by w.workstream_id
""")


def check_sessions(snapshot: Snapshot) -> Iterator[Finding]:
    """Every session of the organization against its workstream."""
    for row in snapshot.rows(HOMELESS):
        where = f"session {row['session_id']}"
        yield Finding("session.workstream", "it is interactive and has no workstream", where, "one", "none")
    for row in snapshot.rows(FORGOTTEN):
        where = f"workstream {row['workstream_id']}"
        yield Finding("session.first", "it has sessions and says it never had one", where, "had one", "never")
