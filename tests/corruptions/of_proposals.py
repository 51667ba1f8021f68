"""Corruptions of what is proposed and decided: Drafts, Reviews, approvals, operations, imports, events and audit."""

# ruff: noqa: S608  (our own constants make these statements)

from tests.corruptions.breaking import (
    APPROVED,
    MERGED,
    OPEN_DRAFT,
    REJECTED,
    SECOND_PROJECT,
    TALKED_ABOUT,
    ZEROS,
    breaks,
    draft_of,
    first,
    organization_commit,
    review_of,
)

WAITING = draft_of("waiting.md")
MERGE = first("operation_id", f"operations where kind = 'review.merge' and review_id = {MERGED}")
IMPORT = first("import_id", "imports where true")
APPROVAL = first("approval_id", f"review_approvals where review_id = {MERGED}")
SELECT = first("operation_id", "operations where kind = 'selection.replace'")
WITHDRAW = first("operation_id", "operations where kind = 'review.withdraw'")
RESUBMIT = first("operation_id", "operations where kind = 'review.resubmit'")

DRAFTS = [
    breaks(
        "a Draft that is merged without a Review",
        "draft.status",
        OPEN_DRAFT,
        f"update drafts set status = 'merged' where org_id = :o and draft_id = {OPEN_DRAFT}",
    ),
    breaks(
        "a merged Draft that is open",
        "draft.status",
        draft_of("a/approved.md"),
        f"update drafts set status = 'open', review_id = null"
        f" where org_id = :o and draft_id = {draft_of('a/approved.md')}",
    ),
    breaks(
        "a Draft that names another Review",
        "draft.review",
        WAITING,
        f"update drafts set review_id = {MERGED} where org_id = :o and draft_id = {WAITING}",
    ),
    breaks(
        "a submitted Draft's version",
        "draft.version",
        WAITING,
        f"update drafts set version = version + 1 where org_id = :o and draft_id = {WAITING}",
    ),
    breaks(
        "a Draft's base",
        "draft.base",
        OPEN_DRAFT,
        f"update drafts set base_commit_id = {ZEROS} where org_id = :o and draft_id = {OPEN_DRAFT}",
    ),
    breaks(
        "an operation that is gone",
        "draft.operations",
        OPEN_DRAFT,
        f"delete from draft_operations where org_id = :o and draft_id = {OPEN_DRAFT} and index = 1",
    ),
    breaks(
        "an operation on what never was",
        "draft.target",
        OPEN_DRAFT,
        f"update draft_operations set memory_id = 'mem_never'"
        f" where org_id = :o and draft_id = {OPEN_DRAFT} and index = 2",
    ),
    breaks(
        "a byte of a proposed body",
        "text.id",
        OPEN_DRAFT,
        f"update draft_operations set content = 'opem' || chr(10)"
        f" where org_id = :o and draft_id = {OPEN_DRAFT} and index = 0",
        also="text.content_hash",
    ),
    breaks(
        "a proposed path that is not accepted",
        "path.accepted",
        OPEN_DRAFT,
        f"update draft_operations set new_path = '/b.md' where org_id = :o and draft_id = {OPEN_DRAFT} and index = 2",
    ),
    breaks(
        "an operation that says something else than what was approved",
        "submission.replay",
        APPROVED,
        f"update draft_operations set description = 'Wajts' where org_id = :o and draft_id = {WAITING}",
    ),
]

SUBMISSIONS = [
    breaks(
        "a submission that is gone",
        "submission.number",
        APPROVED,
        f"delete from review_submissions where org_id = :o and review_id = {APPROVED}",
        also="reference.missing",
    ),
    breaks(
        "a submission's hash",
        "submission.hash",
        REJECTED,
        f"update review_submissions set result_hash = {ZEROS} where org_id = :o and review_id = {REJECTED}",
        also="review.result",
    ),
    breaks(
        "a submitted description",
        "submission.hash",
        APPROVED,
        f"update review_submission_states set description = 'Wajts' where org_id = :o and review_id = {APPROVED}",
    ),
    breaks(
        "a submitted Memory that is gone",
        "submission.hash",
        MERGED,
        f"delete from review_submission_states where org_id = :o and review_id = {MERGED} and path = 'a/changed.md'",
        also="merge.published merge.untouched",
    ),
    breaks(
        "a Memory that is created for another project",
        "submission.project",
        APPROVED,
        f"update review_submission_states set created_for = {SECOND_PROJECT}"
        f" where org_id = :o and review_id = {APPROVED}",
        also="submission.hash",
    ),
    breaks(
        "a member of a submission that is gone",
        "draft.status",
        WAITING,
        f"delete from review_submission_drafts where org_id = :o and review_id = {APPROVED}",
    ),
    breaks(
        "a member of two Reviews",
        "draft.review",
        WAITING,
        f"insert into review_submission_drafts"
        f" select org_id, {TALKED_ABOUT}, 1, 1, draft_id, draft_version from review_submission_drafts"
        f" where org_id = :o and review_id = {APPROVED}",
        also="submission.replay",
    ),
]

REVIEWS = [
    breaks(
        "a Review's result",
        "review.result",
        TALKED_ABOUT,
        f"update reviews set result_hash = {ZEROS} where org_id = :o and review_id = {TALKED_ABOUT}",
        also="submission.replay",
    ),
    breaks(
        "a merged Review without a commit",
        "review.commit",
        MERGED,
        f"update reviews set merged_commit_id = {ZEROS} where org_id = :o and review_id = {MERGED}",
        also="audit.merge",
    ),
    breaks(
        "a merged Review that lost its commit",
        "review.commit",
        MERGED,
        f"update reviews set merged_commit_id = null where org_id = :o and review_id = {MERGED}",
        also="audit.merge merge.published operation.effect",
    ),
    breaks(
        "a commit whose Review is gone",
        "reference.missing",
        organization_commit(1),
        f"delete from reviews where org_id = :o and review_id = {MERGED}",
        also="draft.status operation.effect",
    ),
    breaks(
        "a status that nothing led to",
        "review.status",
        TALKED_ABOUT,
        f"update reviews set status = 'rejected' where org_id = :o and review_id = {TALKED_ABOUT}",
        also="draft.status",
    ),
    breaks(
        "a timeline's event that is gone",
        "review.timeline",
        MERGED,
        f"delete from review_timeline where org_id = :o and review_id = {MERGED} and position = 0",
        also="audit.count event.review",
    ),
    breaks(
        "an approval of another result",
        "approval.hash",
        APPROVAL,
        f"update review_approvals set result_hash = {ZEROS} where org_id = :o and approval_id = {APPROVAL}",
    ),
    breaks(
        "a merged Review's approval that is gone",
        "approval.missing",
        MERGED,
        f"delete from review_approvals where org_id = :o and review_id = {MERGED}",
    ),
    breaks(
        "an approval that was dropped and stands",
        "approval.standing",
        review_of("more.md"),
        f"update review_approvals set dropped_at = null where org_id = :o and review_id = {review_of('more.md')}",
    ),
    breaks(
        "a rejected Review's approval that stands",
        "approval.standing",
        REJECTED,
        f"insert into review_approvals select org_id, 'apr_stands', review_id, author_id, 1, result_hash, created_at"
        f" from reviews where org_id = :o and review_id = {REJECTED}",
    ),
]

OPERATIONS = [
    breaks(
        "progress of an operation that ended",
        "operation.outcome",
        MERGE,
        f"update operations set progress_done = 0 where org_id = :o and operation_id = {MERGE}",
    ),
    breaks(
        "an operation that succeeded without a result",
        "operation.outcome",
        WITHDRAW,
        "alter table operations drop constraint ck_operations_success_has_result",
        f"update operations set result = null where org_id = :o and operation_id = {WITHDRAW}",
    ),
    breaks(
        "a merge that names another commit",
        "operation.effect",
        MERGE,
        f"update operations set result = jsonb_set(result, '{{commit_id}}', to_jsonb({ZEROS}))"
        f" where org_id = :o and operation_id = {MERGE}",
    ),
    breaks(
        "a merge that is gone",
        "operation.merge",
        MERGED,
        f"delete from operations where org_id = :o and operation_id = {MERGE}",
    ),
    breaks(
        "a withdrawal that withdrew nothing",
        "operation.effect",
        WITHDRAW,
        f"update operations set review_id = {TALKED_ABOUT} where org_id = :o and operation_id = {WITHDRAW}",
    ),
    breaks(
        "a submission that made no Review",
        "operation.effect",
        first("operation_id", f"operations where kind = 'review.submit' and review_id = {TALKED_ABOUT}"),
        f"update operations set review_id = 'rev_nowhere'"
        f" where org_id = :o and kind = 'review.submit' and review_id = {TALKED_ABOUT}",
    ),
    breaks(
        "a resubmission that added nothing",
        "operation.effect",
        RESUBMIT,
        f"update operations set review_id = {TALKED_ABOUT} where org_id = :o and operation_id = {RESUBMIT}",
    ),
    breaks(
        "a decision that decided nothing",
        "operation.effect",
        first("operation_id", f"operations where kind = 'review.decide' and review_id = {REJECTED}"),
        f"update operations set review_id = {TALKED_ABOUT}"
        f" where org_id = :o and kind = 'review.decide' and review_id = {REJECTED}",
    ),
    breaks(
        "a selection that selected nothing",
        "operation.effect",
        SELECT,
        f"update operations set result = jsonb_set(result, '{{revision}}', '99')"
        f" where org_id = :o and operation_id = {SELECT}",
    ),
]

IMPORTS = [
    breaks(
        "an import without its operation",
        "import.operation",
        IMPORT,
        f"update imports set operation_id = 'opn_nowhere' where org_id = :o and import_id = {IMPORT}",
    ),
    breaks(
        "an import without its Review",
        "import.review",
        IMPORT,
        f"update imports set review_id = 'rev_nowhere' where org_id = :o and import_id = {IMPORT}",
    ),
    breaks(
        "an import that did not end with its operation",
        "import.end",
        IMPORT,
        f"update imports set ended_at = null where org_id = :o and import_id = {IMPORT}",
    ),
    breaks(
        "an import that lost count of its files",
        "import.staged",
        IMPORT,
        f"update imports set staged = staged + 1 where org_id = :o and import_id = {IMPORT}",
    ),
    breaks(
        "an import that keeps texts",
        "import.texts",
        IMPORT,
        f"update import_files set content = 'text' || chr(10)"
        f" where org_id = :o and import_id = {IMPORT} and path like '%one.md'",
    ),
    breaks(
        "an import whose Draft is gone",
        "import.drafts",
        IMPORT,
        f"update import_drafts set draft_id = 'drf_nowhere' where org_id = :o and import_id = {IMPORT}",
    ),
]

EVENTS = [
    breaks(
        "an event that is missing",
        "event.commit",
        organization_commit(2),
        f"delete from events where org_id = :o and resource_id = {organization_commit(2)}",
    ),
    breaks(
        "an event without a commit",
        "event.commit",
        "'event ' || (select max(id) + 1 from events)",
        "insert into events (org_id, kind, resource_type, resource_id, version, at)"
        f" values (:o, 'commit.published', 'commit', {ZEROS}, 99, now())",
    ),
    breaks(
        "events in another order",
        "event.order",
        organization_commit(1),
        "update events e set resource_id = c.commit_id, version = c.version from commits c where e.org_id = :o"
        " and e.kind = 'commit.published' and c.org_id = :o and c.project_id is null"
        " and e.version in (1, 2) and c.version = 3 - e.version",
    ),
    breaks(
        "an event of a Review that is missing",
        "event.review",
        MERGED,
        f"delete from events where org_id = :o and kind = 'review.merged' and resource_id = {MERGED}",
    ),
]

AUDIT = [
    breaks(
        "an audit row that is missing",
        "audit.count",
        f"'review.merge of ' || {MERGED}",
        f"delete from audit_events where org_id = :o and action = 'review.merge' and resource_id = {MERGED}",
    ),
    breaks(
        "an audit row that is there twice",
        "audit.count",
        f"'review.submit of ' || {MERGED}",
        "insert into audit_events (org_id, event_id, at, actor, action, resource_type, resource_id, request_id, detail)"
        " select org_id, 'aud_twice', at, actor, action, resource_type, resource_id, request_id, detail"
        f" from audit_events where org_id = :o and action = 'review.submit' and resource_id = {MERGED}",
    ),
    breaks(
        "an audit row of a discard, a comment and a selection that are missing",
        "audit.count",
        "'draft.discard'",
        "delete from audit_events"
        " where org_id = :o and action in ('draft.discard', 'comment.create', 'selection.replace', 'review.amend')",
    ),
    breaks(
        "an audit row that names another commit",
        "audit.merge",
        MERGED,
        f"update audit_events set after_hash = {ZEROS}"
        f" where org_id = :o and action = 'review.merge' and resource_id = {MERGED}",
    ),
]

OF_PROPOSALS = [*DRAFTS, *SUBMISSIONS, *REVIEWS, *OPERATIONS, *IMPORTS, *EVENTS, *AUDIT]
