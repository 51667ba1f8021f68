"""Rebases: what they saved of a Draft is whole, and what it stands on beside its base is what it touches."""

from collections.abc import Iterator

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import RowMapping, text

from models.errors import OperationInvalid
from models.rules.bodies import accept_body
from models.schemas.drafts import DraftOperationBody
from models.store.verification.findings import Finding, shown
from models.store.verification.places import check_description, check_path
from models.store.verification.snapshot import Snapshot

REVISIONS_AT_ONCE = 10
"""One holds all texts of a Draft."""

REVISIONS = text("""
    select r.draft_id, r.version, r.operations, r.base_commit_id, r.base_version, r.candidate_id,
           d.version as present_version, coalesce(b.version, 0) as base_commit_version, c.draft_id as made_for,
           c.draft_version as made_for_version, c.base_version as made_for_base
    from draft_revisions r
    join drafts d on d.org_id = r.org_id and d.draft_id = r.draft_id
    left join commits b on b.org_id = r.org_id and b.commit_id = r.base_commit_id and b.scope = 'org'
    left join reconciliation_candidates c on c.org_id = r.org_id and c.candidate_id = r.candidate_id
    where r.org_id = :org_id order by r.draft_id, r.version
""")
OVERLAYS = text("""
    select s.draft_id, s.memory_id, s.path, s.description, o.memory_id is not null as touched,
           r.draft_id is not null as rebased
    from draft_base_states s
    left join (
        select distinct draft_id, memory_id from draft_operations where org_id = :org_id
    ) o on o.draft_id = s.draft_id and o.memory_id = s.memory_id
    left join (
        select distinct draft_id from draft_revisions where org_id = :org_id
    ) r on r.draft_id = s.draft_id
    where s.org_id = :org_id order by s.draft_id, s.memory_id
""")

# A rebase laid what earlier Drafts made under a Draft, as its candidate shows it, and no other does since. What they
# left as the organization had it is not missed.
LAID = text("""
    with rebases as (
        select r.draft_id, c.siblings, c.current_version, jsonb_array_elements(c.memories) as memory
        from (
            select draft_id, max(version) as version from draft_revisions where org_id = :org_id group by draft_id
        ) l
        join draft_revisions r on r.org_id = :org_id and r.draft_id = l.draft_id and r.version = l.version
        join reconciliation_candidates c on c.org_id = :org_id and c.candidate_id = r.candidate_id
    ),
    expected as (
        select draft_id, siblings, current_version, memory ->> 'memory_id' as memory_id,
               memory -> 'current' ->> 'path' as path, memory -> 'current' ->> 'description' as description,
               memory -> 'current' ->> 'blob_id' as blob_id
        from rebases
    )
    select e.draft_id, e.memory_id, e.path as expected, s.path as found, s.memory_id is not null as laid
    from expected e
    left join draft_base_states s
      on s.org_id = :org_id and s.draft_id = e.draft_id and s.memory_id = e.memory_id
    left join memory_versions v
      on v.org_id = :org_id and v.memory_id = e.memory_id
     and v.from_version <= e.current_version and (v.to_version is null or v.to_version > e.current_version)
    where case when s.memory_id is not null
          then (s.path, s.description, s.blob_id) is distinct from (e.path, e.description, e.blob_id)
          else e.siblings <> '[]' and (v.path, v.description, v.blob_id)
                   is distinct from (e.path, e.description, e.blob_id) end
    order by e.draft_id, e.memory_id
""")

OPERATIONS = TypeAdapter(list[DraftOperationBody])


def check_rebases(snapshot: Snapshot) -> Iterator[Finding]:
    """Every revision, and every state that goes before a base."""
    for row in snapshot.rows(REVISIONS, at_once=REVISIONS_AT_ONCE):
        where = f"revision {row['version']} of Draft {row['draft_id']}"
        yield from _check_origin(row, where)
        yield from _check_operations(row, where)
    for row in snapshot.rows(OVERLAYS):
        where = f"{row['memory_id']} under Draft {row['draft_id']}"
        if not row["touched"]:
            yield Finding("overlay.touched", "it stands on what it does not touch", where, "an operation", "none")
        if not row["rebased"]:
            what = "it stands on another Draft without a rebase"
            yield Finding("overlay.rebase", what, where, "a revision", "none")
        if row["path"] is not None:
            yield from check_path(row["path"], where)
            yield from check_description(row["description"] or "", where)
    for row in snapshot.rows(LAID):
        what = "it does not stand on what its last rebase laid under it"
        where, found = f"{row['memory_id']} under Draft {row['draft_id']}", shown(row["found"])
        yield Finding("overlay.state", what, where, shown(row["expected"]), found if row["laid"] else "no state")


def _check_origin(row: RowMapping, where: str) -> Iterator[Finding]:
    """A rebase saved it, by a candidate that was made for the Draft as it was."""
    if row["version"] >= row["present_version"]:
        what = "it is of a version that its Draft has not left"
        yield Finding("revision.version", what, where, f"below {row['present_version']}", str(row["version"]))
    if row["base_version"] != row["base_commit_version"]:
        what = "the base is no commit of the organization with its version"
        found = f"{shown(row['base_commit_id'])} at version {row['base_version']}"
        yield Finding("revision.base", what, where, f"version {row['base_commit_version']}", found)
    made_for = (row["made_for"], row["made_for_version"], row["made_for_base"])
    if made_for != (row["draft_id"], row["version"], row["base_version"]):
        what = "its candidate was not made for it"
        found = "nothing" if row["made_for"] is None else f"one for version {row['made_for_version']} of {made_for[0]}"
        yield Finding("revision.candidate", what, where, shown(row["candidate_id"]), found)


def _check_operations(row: RowMapping, where: str) -> Iterator[Finding]:
    try:
        operations = OPERATIONS.validate_python(row["operations"])
    except ValidationError:
        yield Finding("revision.operations", "its operations cannot be read", where, "operations", "something else")
        return
    indexes = [operation.index for operation in operations]
    if indexes != [*range(len(operations))]:
        what, found = "operations are missing", shown(str(indexes))
        yield Finding("revision.operations", what, where, f"0 to {len(operations) - 1}", found)
    for operation in operations:
        yield from _check_operation(operation, f"operation {operation.index} of {where}")


def _check_operation(operation: DraftOperationBody, where: str) -> Iterator[Finding]:
    for path in (operation.path, operation.new_path):
        if path is not None:
            yield from check_path(path, where)
    if operation.content is None:
        return
    if operation.content.description is not None:
        yield from check_description(operation.content.description, where)
    content = operation.content.content
    if content is not None and not _is_accepted(content):
        what = "a body is not as bodies are accepted"
        yield Finding("revision.text", what, where, "a normalized body", shown(content))


def _is_accepted(content: str) -> bool:
    try:
        return accept_body(content) == content
    except OperationInvalid:
        return False
