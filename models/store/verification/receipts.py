"""Receipts: what a client was told that its operation became is there, in a Draft of its own."""

from collections.abc import Iterator

from sqlalchemy import text

from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

# An operation that a rebase has replaced stands in what that saved of the Draft.
RECEIPTS = text("""
    with accepted as (
        select draft_id, operation_id from draft_operations where org_id = :org_id
        union
        select draft_id, jsonb_array_elements(operations) ->> 'operation_id' from draft_revisions
        where org_id = :org_id
    )
    select r.local_operation_id, r.user_id, r.operation_id, r.draft_id, r.draft_version, d.author_id, d.version,
           o.operation_id is not null as kept
    from draft_operation_receipts r
    left join drafts d on d.org_id = r.org_id and d.draft_id = r.draft_id
    left join accepted o on o.draft_id = r.draft_id and o.operation_id = r.operation_id
    where r.org_id = :org_id
      and (d.author_id is distinct from r.user_id or r.draft_version > d.version or o.operation_id is null)
    order by r.user_id, r.local_operation_id
""")


def check_receipts(snapshot: Snapshot) -> Iterator[Finding]:
    """Every receipt."""
    for row in snapshot.rows(RECEIPTS):
        where = f"receipt {shown(row['local_operation_id'])} of {row['user_id']} for Draft {row['draft_id']}"
        if row["author_id"] != row["user_id"]:
            what = "it is for another Draft than one of its user"
            yield Finding("receipt.draft", what, where, row["user_id"], shown(row["author_id"]))
        elif row["draft_version"] > row["version"]:
            what = "its Draft has not reached that version"
            yield Finding("receipt.version", what, where, f"at most {row['version']}", str(row["draft_version"]))
        if not row["kept"]:
            what = "its operation was never accepted"
            yield Finding("receipt.operation", what, where, shown(row["operation_id"]), "nothing")
