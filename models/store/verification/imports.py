"""Imports: each ends with its operation, and leaves no texts and, failed, no open Draft behind."""

from collections.abc import Iterator

from sqlalchemy import RowMapping, text

from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

IMPORTS = text("""
    select i.import_id, i.operation_id, i.review_id, i.ended_at, i.staged,
           coalesce(o.status, i.outcome) as status,
           o.operation_id is not null or i.outcome is not null as accepted, r.review_id is not null as reviewed,
           coalesce(f.files, 0) as files, coalesce(f.texts, 0) as texts,
           coalesce(d.drafts, 0) as drafts, coalesce(d.lost, 0) as lost, coalesce(d.open, 0) as open
    from imports i
    left join operations o on o.org_id = i.org_id and o.operation_id = i.operation_id
    left join reviews r on r.org_id = i.org_id and r.review_id = i.review_id
    left join (
        select import_id, count(*) as files, count(content) as texts from import_files
        where org_id = :org_id group by import_id
    ) f on f.import_id = i.import_id
    left join (
        select m.import_id, count(*) as drafts, count(*) filter (where d.draft_id is null) as lost,
               count(*) filter (where d.status = 'open') as open
        from import_drafts m left join drafts d on d.org_id = m.org_id and d.draft_id = m.draft_id
        where m.org_id = :org_id group by m.import_id
    ) d on d.import_id = i.import_id
    where i.org_id = :org_id order by i.import_id
""")

ENDED = ("succeeded", "failed")


def check_imports(snapshot: Snapshot) -> Iterator[Finding]:
    """Every import; the texts that it has staged are checked with all others."""
    for row in snapshot.rows(IMPORTS):
        where = f"import {row['import_id']}"
        if row["staged"] != row["files"]:
            what = "its files are not as many as it counts"
            yield Finding("import.staged", what, where, str(row["files"]), str(row["staged"]))
        if row["operation_id"] is not None and not row["accepted"]:
            yield Finding("import.operation", "its operation is not there", where, row["operation_id"], "nothing")
            continue
        if row["review_id"] is not None and not row["reviewed"]:
            yield Finding("import.review", "its Review is not there", where, row["review_id"], "nothing")
        if row["lost"]:
            yield Finding("import.drafts", "its Drafts are not there", where, str(row["drafts"]), f"{row['lost']} less")
        yield from _check_end(row, where)


def _check_end(row: RowMapping, where: str) -> Iterator[Finding]:
    ended = row["status"] in ENDED
    if ended != (row["ended_at"] is not None):
        what = f"its end does not go with its operation, which is {shown(row['status'])}"
        yield Finding("import.end", what, where, "an end" if ended else "no end", shown(row["ended_at"]))
    elif ended and row["texts"]:
        yield Finding("import.texts", "it has ended, and keeps texts", where, "none", str(row["texts"]))
    if row["status"] == "failed" and row["open"]:
        yield Finding("import.drafts", "it failed, and left Drafts open", where, "none", str(row["open"]))
