"""Corruptions of structured memories, their history and trails, and of workstreams and sessions."""

# ruff: noqa: S608  (our own constants make these statements)

from tests.corruptions.breaking import breaks, first


def of_memory(name: str, change: str) -> str:
    """Change the row of a memory."""
    return f"update structured_memories set {change} where org_id = :o and name = '{name}'"


def of_revision(name: str, revision: int, change: str) -> str:
    """Change the row of one version."""
    rows = f"org_id = :o and name = '{name}' and revision = {revision}"
    return f"update structured_memory_revisions set {change} where {rows}"


def of_event(name: str, change: str) -> str:
    """Change what followers are told of the first version of a memory."""
    memory_id = first("memory_id", f"structured_memories where name = '{name}'")
    return f"update events set {change} where org_id = :o and resource_id = {memory_id} and version = 1"


def of_audit(name: str, change: str) -> str:
    """Change how the first version of a memory is audited."""
    memory_id = first("memory_id", f"structured_memories where name = '{name}'")
    return (
        f"update audit_events set {change} where org_id = :o and resource_id = {memory_id} and action = 'memory.save'"
    )


WORKSTREAM = first("workstream_id", "workstreams where true")
SESSION = first("session_id", "sessions where kind = 'interactive'")

MEMORIES = [
    *(
        breaks(
            f"a memory of a {scope} that is not there",
            "structured.owner",
            f"'of_{scope}'",
            of_memory(f"of_{scope}", "scope_id = 'xxx_nowhere'"),
            f"update structured_memory_revisions set scope_id = 'xxx_nowhere' where org_id = :o and scope = '{scope}'",
            also="" if scope == "coordinator" else "structured.told",
        )
        for scope in ("user", "coordinator", "workstream", "project")
    ),
    breaks(
        "a memory of a project that was deleted",
        "structured.owner",
        "'of_project'",
        "update projects set state = 'deleted' where org_id = :o"
        " and project_id = (select scope_id from structured_memories where org_id = :o and scope = 'project')",
        also="chain.ref",
    ),
    breaks(
        "a version that is missing in between",
        "structured.history",
        "'restored'",
        "delete from structured_memory_revisions where org_id = :o and name = 'restored' and revision = 2",
    ),
    breaks(
        "a memory that is ahead of its history",
        "structured.history",
        "'changed'",
        of_memory("changed", "revision = revision + 1"),
    ),
    breaks(
        "a text that was never saved",
        "structured.latest",
        "'changed'",
        of_memory("changed", "content = 'Another.'"),
        also="structured.hash",
    ),
    breaks(
        "a deleted memory whose history does not end with that",
        "structured.latest",
        "'deleted'",
        of_memory("deleted", "deleted_at = deleted_at + interval '1 s'"),
    ),
    breaks(
        "a hash of another text",
        "structured.hash",
        "'deleted'",
        of_memory("deleted", "content_hash = 'sha256:' || repeat('0', 64)"),
    ),
    breaks(
        "a name that no look-up finds",
        "structured.name",
        "'Of-User'",
        of_memory("of_user", "name = 'Of-User'"),
        "update structured_memory_revisions set name = 'Of-User' where org_id = :o and name = 'of_user'",
        also="structured.hash",
    ),
    breaks(
        "a memory that somebody else created",
        "structured.origin",
        "'anew'",
        of_memory("anew", "created_by = 'usr_nobody'"),
    ),
    breaks(
        "a memory that was restored before it was deleted",
        "structured.step",
        "'revision 2 of memory changed'",
        of_revision("changed", 2, "event = 'restored'"),
        also="structured.told structured.audit",
    ),
    breaks(
        "another memory under the same name, which was never deleted",
        "structured.step",
        "'revision 2 of memory changed'",
        of_revision("changed", 2, "memory_id = 'another'"),
        also="structured.latest structured.told structured.audit",
    ),
    breaks(
        "a history that does not begin",
        "structured.step",
        "'revision 1 of memory of_user'",
        of_revision("of_user", 1, "event = 'updated'"),
        also="structured.audit",
    ),
]

TRAILS = [
    breaks(
        "a save that followers are told of twice",
        "structured.told",
        "'of_user'",
        "insert into events (org_id, kind, resource_type, resource_id, project_id, user_id, version, at)"
        " select org_id, kind, resource_type, resource_id, project_id, user_id, version, at from events"
        " where org_id = :o and resource_id = (select memory_id from structured_memories where org_id = :o"
        " and name = 'of_user')",
    ),
    *(
        breaks(
            f"a save of a {scope} that everybody is told of",
            "structured.told",
            f"'of_{scope}'",
            of_event(f"of_{scope}", "project_id = null, user_id = null"),
        )
        for scope in ("user", "coordinator", "workstream", "project")
    ),
    breaks(
        "a save that was audited as somebody else's",
        "structured.audit",
        "'of_user'",
        of_audit("of_user", "actor = 'usr_nobody'"),
    ),
    breaks(
        "a save that was audited in a session it was not made in",
        "structured.audit",
        "'of_user'",
        of_audit("of_user", f"session_id = {SESSION}"),
    ),
    breaks(
        "a save that was audited twice",
        "structured.audit",
        "'of_user'",
        "insert into audit_events (org_id, event_id, at, actor, action, resource_type, resource_id, request_id, detail)"
        " select org_id, 'evt_another', at, actor, action, resource_type, resource_id, request_id, detail"
        " from audit_events where org_id = :o and resource_id = (select memory_id from structured_memories"
        " where org_id = :o and name = 'of_user')",
    ),
]

INJECTIONS = [
    breaks(
        "an injection of a memory that was cleared",
        "structured.injection",
        "'mem_cleared'",
        "update injected_memories set memory_id = 'mem_cleared' where org_id = :o",
    ),
]

SESSIONS = [
    breaks(
        "an interactive session without a workstream",
        "session.workstream",
        SESSION,
        f"update sessions set workstream_id = null where org_id = :o and session_id = {SESSION}",
    ),
    breaks(
        "a workstream that forgot its sessions",
        "session.first",
        WORKSTREAM,
        "update workstreams set had_session = false where org_id = :o",
    ),
    breaks(
        "a workstream with a project that never was",
        "reference.missing",
        WORKSTREAM,
        "update workstreams set project_id = 'prj_nowhere' where org_id = :o",
    ),
    breaks(
        "a session with a project that never was",
        "reference.missing",
        SESSION,
        f"update sessions set project_id = 'prj_nowhere' where org_id = :o and session_id = {SESSION}",
    ),
]

OF_STRUCTURED = [*MEMORIES, *TRAILS, *INJECTIONS, *SESSIONS]
