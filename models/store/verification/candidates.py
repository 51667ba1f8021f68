"""Candidates: each is named by what it was made for, and says one thing of its conflicts, texts and result."""

from collections.abc import Iterator, Mapping

from sqlalchemy import RowMapping, text

from models.identifiers import BlobId, DraftId, MemoryId, ProjectId, final_id
from models.rules.candidates import binding_of, candidate_id_of
from models.rules.conflicts import ENGINE
from models.rules.hashes import result_hash
from models.rules.states import Body, MemoryState, State
from models.store.candidates import made_for_of
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

CANDIDATES_AT_ONCE = 100
"""One may show some thousand states."""

# `introduced`: what its Draft and those before it create or restore, where all are as the candidate names them.
CANDIDATES = text("""
    with members as (
        select c.candidate_id, c.draft_id, c.draft_version from reconciliation_candidates c where c.org_id = :org_id
        union all
        select candidate_id, sibling ->> 'draft_id', cast(sibling ->> 'draft_version' as integer)
        from (
            select candidate_id, jsonb_array_elements(siblings) as sibling from reconciliation_candidates
            where org_id = :org_id
        ) s
    ),
    unchanged as (
        select m.candidate_id from members m
        left join drafts d on d.org_id = :org_id and d.draft_id = m.draft_id
        group by m.candidate_id having bool_and(d.version is not distinct from m.draft_version)
    ),
    introduced as (
        select m.candidate_id, array_agg(distinct o.memory_id) as memory_ids
        from members m join draft_operations o on o.org_id = :org_id and o.draft_id = m.draft_id
        where o.action in ('create', 'restore') group by m.candidate_id
    )
    select c.*, d.project_id, d.version as present_version, u.candidate_id is not null as unchanged,
           coalesce(i.memory_ids, cast('{}' as text[])) as introduced,
           coalesce(b.version, 0) as base_commit_version, coalesce(n.version, 0) as current_commit_version
    from reconciliation_candidates c
    join drafts d on d.org_id = c.org_id and d.draft_id = c.draft_id
    left join unchanged u on u.candidate_id = c.candidate_id
    left join introduced i on i.candidate_id = c.candidate_id
    left join commits b on b.org_id = c.org_id and b.commit_id = c.base_commit_id and b.scope = 'org'
    left join commits n on n.org_id = c.org_id and n.commit_id = c.current_commit_id and n.scope = 'org'
    where c.org_id = :org_id order by c.candidate_id
""")
# Every state has them, in the memories and in the conflicts, and nothing else has.
TEXTS = text("""
    select distinct s.candidate_id, s.state ->> 'blob_id' as blob_id, s.state ->> 'content_hash' as content_hash,
           b.content_hash as kept
    from (
        select candidate_id,
               jsonb_path_query(jsonb_build_array(memories, conflicts), 'strict $.** ? (exists(@.blob_id))') as state
        from reconciliation_candidates where org_id = :org_id
    ) s
    left join blobs b on b.org_id = :org_id and b.blob_id = s.state ->> 'blob_id'
    where b.content_hash is distinct from s.state ->> 'content_hash'
    order by 1, 2
""")
# Where no earlier Draft plays Current, it is what the organization had. Nothing is there of what a Draft creates.
CURRENTS = text("""
    select s.candidate_id, s.memory ->> 'memory_id' as memory_id, v.path as expected,
           s.memory -> 'current' ->> 'path' as found
    from (
        select candidate_id, current_version, jsonb_array_elements(memories) as memory from reconciliation_candidates
        where org_id = :org_id and siblings = '[]'
    ) s
    left join memory_versions v
      on v.org_id = :org_id and v.memory_id = s.memory ->> 'memory_id'
     and v.from_version <= s.current_version and (v.to_version is null or v.to_version > s.current_version)
    where s.memory ->> 'memory_id' not like 'prv%'
      and (v.path, v.description, v.blob_id) is distinct from (
          s.memory -> 'current' ->> 'path', s.memory -> 'current' ->> 'description',
          s.memory -> 'current' ->> 'blob_id')
    order by 1, 2
""")

SIDES = ("base", "current", "draft")


def check_candidates(snapshot: Snapshot) -> Iterator[Finding]:
    """Every candidate, live or stale."""
    for row in snapshot.rows(CANDIDATES, at_once=CANDIDATES_AT_ONCE):
        where = f"candidate {row['candidate_id']} of Draft {row['draft_id']}"
        yield from _check_name(row, where)
        yield from _check_versions(row, where)
        yield from _check_conflicts(row, where)
        if row["unchanged"] and row["reconciliation"] == "clean":
            yield from _check_result(row, where)
    for row in snapshot.rows(TEXTS):
        what = "a text that it shows is not there"
        where = f"blob {shown(row['blob_id'])} of candidate {row['candidate_id']}"
        yield Finding("candidate.text", what, where, shown(row["content_hash"]), shown(row["kept"]))
    for row in snapshot.rows(CURRENTS):
        what = "what it compares with is not what was published"
        where = f"{row['memory_id']} of candidate {row['candidate_id']}"
        yield Finding("candidate.current", what, where, shown(row["expected"]), shown(row["found"]))


def _check_name(row: RowMapping, where: str) -> Iterator[Finding]:
    """Its id is made of its binding, and that of what it was made for; other engines bind in ways of their own."""
    candidate_id = candidate_id_of(DraftId(row["draft_id"]), row["binding"])
    if row["candidate_id"] != candidate_id:
        yield Finding("candidate.name", "its id is not made of its binding", where, candidate_id, row["candidate_id"])
    current = {memory_id: sides["current"] for memory_id, sides in _memories(row).items()}
    binding = binding_of(made_for_of(row), current, row["conflicts"])
    if row["engine"] == ENGINE and row["binding"] != binding:
        what = "it is bound to something else than it was made for"
        yield Finding("candidate.binding", what, where, binding, shown(row["binding"]))


def _check_versions(row: RowMapping, where: str) -> Iterator[Finding]:
    if row["draft_version"] > row["present_version"]:
        what = "it was made for a version that its Draft has not reached"
        expected, found = f"at most {row['present_version']}", str(row["draft_version"])
        yield Finding("candidate.version", what, where, expected, found)
    for side in ("base", "current"):
        version, of_commit = row[f"{side}_version"], row[f"{side}_commit_version"]
        if version != of_commit:
            found = f"{shown(row[f'{side}_commit_id'])} at version {version}"
            what = f"its {side} is no commit of the organization with its version"
            yield Finding("candidate.commit", what, where, f"version {of_commit}", found)


def _check_conflicts(row: RowMapping, where: str) -> Iterator[Finding]:
    """It has conflicts when it says so, each about a Memory that it compares, in the states that it compares."""
    expected = "conflicts" if row["conflicts"] else "clean"
    if row["reconciliation"] != expected:
        what = "it does not say whether it has conflicts"
        yield Finding("candidate.reconciliation", what, where, expected, row["reconciliation"])
    compared = {memory["memory_id"]: memory for memory in row["memories"]}
    for conflict in row["conflicts"]:
        memory = compared.get(conflict["memory_id"], {})
        differing = [side for side in SIDES if memory.get(side) != conflict[side]]
        if differing:
            what = f"a conflict is not about what is compared, but has another {differing[0]}"
            found = f"{conflict['code']} of {conflict['memory_id']}"
            yield Finding("candidate.conflict", what, where, "the states that are compared", found)


def _check_result(row: RowMapping, where: str) -> Iterator[Finding]:
    states = {final_id(memory_id): sides["proposed"] for memory_id, sides in _memories(row).items()}
    introduced = {final_id(MemoryId(memory_id)) for memory_id in row["introduced"]}
    found = result_hash(states, ProjectId(row["project_id"]), introduced)
    if found != row["result_hash"]:
        what = "what it proposes does not hash to its result"
        yield Finding("candidate.result", what, where, shown(row["result_hash"]), found)


def _memories(row: RowMapping) -> dict[MemoryId, dict[str, State]]:
    """The sides of every Memory that is compared."""
    return {
        MemoryId(memory["memory_id"]): {side: _state(memory[side]) for side in (*SIDES, "proposed")}
        for memory in row["memories"]
    }


def _state(stored: Mapping[str, str] | None) -> State:
    if stored is None:
        return None
    body = Body(BlobId(stored["blob_id"]), stored["content_hash"])
    return MemoryState(stored["path"], stored["description"], body)
