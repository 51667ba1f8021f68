"""Corruptions of what brings Drafts up to date, of restores, and of what happens by itself at its time."""

# ruff: noqa: S608  (our own constants make these statements)

from tests.corruptions.breaking import (
    DELETED,
    FIRST_PROJECT,
    TALKED_ABOUT,
    ZEROS,
    breaks,
    draft_of,
    first,
    review_of,
)

CLEAN = first("candidate_id", f"reconciliation_candidates where draft_id = {draft_of('clean.md')}")
CONTESTED = first(
    "candidate_id",
    "reconciliation_candidates where reconciliation = 'conflicts' and siblings = '[]'"
    " and candidate_id not in (select candidate_id from draft_revisions)",
)
REBASED = draft_of("added.md")
"""An open Draft that was rebased alone; its operations came in batches."""

OVERLAID = first("draft_id", "draft_base_states where true")
LINES = first("memory_id", "memory_versions where path = 'lines.md'")
BACK = first("memory_id", "memory_versions where path = 'restored.md'")
DELETING = first("review_id", f"review_submission_states where path is null and memory_id = {DELETED}")
RESTORING = review_of("restored.md")
ANOTHER = first("user_id", "users where role = 'admin'")
REMINDED = review_of("timed/reminded.md")
PUBLISHED = review_of("timed/due.md")
OLD = "'ctx_old'"


def of_candidate(candidate_id: str, change: str) -> str:
    """Change the row of a candidate."""
    return f"update reconciliation_candidates set {change} where org_id = :o and candidate_id = {candidate_id}"


CANDIDATES = [
    breaks(
        "a candidate under another name",
        "candidate.name",
        "'cnd_another'",
        of_candidate(CLEAN, "candidate_id = 'cnd_another'"),
    ),
    breaks(
        "a candidate that is bound to something else",
        "candidate.binding",
        CLEAN,
        of_candidate(CLEAN, f"binding = {ZEROS}"),
        also="candidate.name",
    ),
    breaks(
        "a candidate that was made for another base",
        "candidate.commit",
        CLEAN,
        of_candidate(CLEAN, "base_version = base_version - 1"),
        also="candidate.binding",
    ),
    breaks(
        "a candidate for a later version of its Draft",
        "candidate.version",
        CLEAN,
        of_candidate(CLEAN, "draft_version = draft_version + 1"),
        also="candidate.binding",
    ),
    breaks(
        "a candidate that was compared with something else",
        "candidate.current",
        f"{LINES} || ' of candidate ' || {CLEAN}",
        of_candidate(CLEAN, "memories = jsonb_set(memories, '{0,current,path}', '\"another.md\"')"),
        also="candidate.binding",
    ),
    breaks(
        "a candidate that proposes another description",
        "candidate.result",
        CLEAN,
        of_candidate(CLEAN, "memories = jsonb_set(memories, '{0,proposed,description}', '\"Another\"')"),
    ),
    breaks(
        "a candidate with another result",
        "candidate.result",
        CLEAN,
        of_candidate(CLEAN, f"result_hash = {ZEROS}"),
    ),
    breaks(
        "a candidate that shows a text which is not there",
        "candidate.text",
        CONTESTED,
        of_candidate(CONTESTED, f"memories = jsonb_set(memories, '{{0,proposed,blob_id}}', to_jsonb({ZEROS}))"),
    ),
    breaks(
        "a candidate that says it is clean and is not",
        "candidate.reconciliation",
        CONTESTED,
        of_candidate(CONTESTED, f"reconciliation = 'clean', result_hash = {ZEROS}"),
        also="candidate.result",
    ),
    breaks(
        "a candidate that has lost its conflicts",
        "candidate.reconciliation",
        CONTESTED,
        of_candidate(CONTESTED, "conflicts = '[]'"),
        also="candidate.binding",
    ),
    breaks(
        "a conflict about another state",
        "candidate.conflict",
        CONTESTED,
        of_candidate(CONTESTED, "conflicts = jsonb_set(conflicts, '{0,draft,description}', '\"Another\"')"),
        also="candidate.binding",
    ),
    breaks(
        "a conflict about another Memory",
        "candidate.conflict",
        CONTESTED,
        of_candidate(CONTESTED, "conflicts = jsonb_set(conflicts, '{0,memory_id}', '\"mem_another\"')"),
        also="candidate.binding",
    ),
]

REBASES = [
    breaks(
        "a revision that its Draft has not left",
        "revision.version",
        REBASED,
        f"update draft_revisions set version = 99 where org_id = :o and draft_id = {REBASED}",
        also="revision.candidate",
    ),
    breaks(
        "a revision's base",
        "revision.base",
        REBASED,
        f"update draft_revisions set base_version = base_version - 1 where org_id = :o and draft_id = {REBASED}",
        also="revision.candidate",
    ),
    breaks(
        "a revision whose candidate is gone",
        "revision.candidate",
        REBASED,
        f"delete from reconciliation_candidates where org_id = :o and draft_id = {REBASED}",
    ),
    breaks(
        "a revision by another Draft's candidate",
        "revision.candidate",
        REBASED,
        f"update draft_revisions set candidate_id = {CLEAN} where org_id = :o and draft_id = {REBASED}",
    ),
    breaks(
        "a revision whose operations are no list",
        "revision.operations",
        OVERLAID,
        f"update draft_revisions set operations = '[{{}}]' where org_id = :o and draft_id = {OVERLAID}",
    ),
    breaks(
        "a revision that has lost an operation",
        "revision.operations",
        OVERLAID,
        "update draft_revisions set operations = jsonb_set(operations, '{0,index}', '1')"
        f" where org_id = :o and draft_id = {OVERLAID}",
    ),
    breaks(
        "a saved body that is not normalized",
        "revision.text",
        OVERLAID,
        "update draft_revisions set operations = jsonb_set(operations, '{0,content,content}', '\"no end\"')"
        f" where org_id = :o and draft_id = {OVERLAID}",
    ),
    breaks(
        "a saved path that is not accepted",
        "path.accepted",
        OVERLAID,
        "update draft_revisions set operations = jsonb_set(operations, '{0,path}', '\"/a.md\"')"
        f" where org_id = :o and draft_id = {OVERLAID}",
    ),
    breaks(
        "a revision that is gone",
        "overlay.rebase",
        OVERLAID,
        f"delete from draft_revisions where org_id = :o and draft_id = {OVERLAID}",
        also="audit.count event.draft",
    ),
    breaks(
        "a rebase that nobody was told of",
        "event.draft",
        REBASED,
        f"delete from events where org_id = :o and kind = 'draft.rebased' and resource_id = {REBASED}",
    ),
    breaks(
        "a rebase without an audit row",
        "audit.count",
        f"'draft.rebase of ' || {REBASED}",
        f"delete from audit_events where org_id = :o and action = 'draft.rebase' and resource_id = {REBASED}",
    ),
    breaks(
        "a Draft that stands on what it does not touch",
        "overlay.touched",
        OVERLAID,
        "insert into draft_base_states select org_id, draft_id, 'mem_another', path, description, blob_id"
        f" from draft_base_states where org_id = :o and draft_id = {OVERLAID}",
    ),
    breaks(
        "a Draft that stands on another text",
        "overlay.state",
        f"{LINES} || ' under Draft ' || {OVERLAID}",
        f"update draft_base_states set description = 'Another' where org_id = :o and draft_id = {OVERLAID}",
    ),
    breaks(
        "a Draft that does not stand on what it was rebased onto",
        "overlay.state",
        f"{LINES} || ' under Draft ' || {OVERLAID}",
        f"delete from draft_base_states where org_id = :o and draft_id = {OVERLAID}",
    ),
    breaks(
        "a Draft that was compared with what is to come",
        "draft.compared",
        REBASED,
        f"update drafts set reconciled_version = 9999 where org_id = :o and draft_id = {REBASED}",
    ),
]

RECEIPTS = [
    breaks(
        "a receipt of somebody else",
        "receipt.draft",
        "'local-1'",
        f"update draft_operation_receipts set user_id = {ANOTHER} where org_id = :o and local_operation_id = 'local-1'",
    ),
    breaks(
        "a receipt of a later version",
        "receipt.version",
        "'local-1'",
        "update draft_operation_receipts set draft_version = 99 where org_id = :o and local_operation_id = 'local-1'",
    ),
    breaks(
        "a receipt of an operation that was replaced",
        "receipt.operation",
        "'local-1'",
        "update draft_revisions set operations = jsonb_set(operations, '{0,operation_id}', '\"dop_another\"')"
        f" where org_id = :o and draft_id = {REBASED}",
    ),
    breaks(
        "a receipt of an operation that is gone",
        "receipt.operation",
        "'local-2'",
        "update draft_operations set operation_id = 'dop_another'"
        f" where org_id = :o and draft_id = {REBASED} and path = 'added.md'",
    ),
]

RESTORES = [
    breaks(
        "a restore that is not for a project",
        "submission.hash",
        RESTORING,
        f"update review_submission_states set created_for = null where org_id = :o and review_id = {RESTORING}",
        also="memory.interval merge.published",
    ),
    breaks(
        "a Memory that is created although it does not exist in the end",
        "submission.created",
        DELETING,
        f"update review_submission_states set created_for = {FIRST_PROJECT}"
        f" where org_id = :o and review_id = {DELETING} and path is null",
    ),
    breaks(
        "a restored Memory that its project does not select",
        "merge.selected",
        f"{BACK} || ' of Review ' || {RESTORING}",
        f"delete from projection_versions where org_id = :o and memory_id = {BACK} and path = 'restored.md'",
        also="selection.entry tree.bucket tree.id",
    ),
]

TIMERS = [
    breaks(
        "a Review that wakes at another time",
        "review.timer",
        TALKED_ABOUT,
        "update reviews set next_timer_at = next_timer_at + interval '1 day'"
        f" where org_id = :o and review_id = {TALKED_ABOUT}",
    ),
    breaks(
        "a Review that does not wake",
        "review.timer",
        TALKED_ABOUT,
        f"update reviews set next_timer_at = null where org_id = :o and review_id = {TALKED_ABOUT}",
    ),
    breaks(
        "a policy that its Reviews have not followed",
        "review.timer",
        TALKED_ABOUT,
        "update organizations set review_reminder_after = 60 where org_id = :o",
    ),
    breaks(
        "a reminder of a submission that is to come",
        "review.reminded",
        REMINDED,
        f"update reviews set reminded_submission = 2 where org_id = :o and review_id = {REMINDED}",
    ),
    breaks(
        "a reminder that nobody had",
        "review.reminded",
        TALKED_ABOUT,
        "update reviews set reminded_submission = 1, next_timer_at ="
        " (select created_at from review_submissions s where s.org_id = :o and s.review_id = reviews.review_id"
        " and s.number = submission) + interval '60 days'"
        f" where org_id = :o and review_id = {TALKED_ABOUT}",
    ),
    breaks(
        "a scheduled publication without a time",
        "review.publishing",
        PUBLISHED,
        f"update reviews set publish_at = null where org_id = :o and review_id = {PUBLISHED}",
    ),
    breaks(
        "a scheduled publication of another Review",
        "review.publishing",
        PUBLISHED,
        f"update reviews set publish_operation_id = {first('operation_id', 'operations where true')}"
        f" where org_id = :o and review_id = {PUBLISHED}",
    ),
]

KEPT = [
    breaks(
        "an event from before the feed begins",
        "event.floor",
        first("id", "events where true"),
        "insert into feed_floors select org_id, xid, id, timestamptz '2000-01-01' from events where org_id = :o"
        " order by xid, id limit 1",
    ),
    breaks(
        "a text of an older system",
        "text.content_hash",
        OLD,
        "update project_memories set content = 'odl' || chr(10) where org_id = :o",
    ),
    breaks(
        "a resource of a project that is not there",
        "reference.missing",
        OLD,
        "update project_memories set project_id = 'prj_nowhere' where org_id = :o",
    ),
]

OF_RECONCILIATION = [*CANDIDATES, *REBASES, *RECEIPTS, *RESTORES, *TIMERS, *KEPT]
