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
STEP = first("operation_id", f"draft_operations where draft_id = {OPEN_DRAFT}")
COMMENT = first("comment_id", "review_comments where true")

DRAFTS = [
    breaks(
        "a Draft that is merged without a Review",
        "draft.status",
        OPEN_DRAFT,
        f"update drafts set status = 'merged' where org_id = :o and draft_id = {OPEN_DRAFT}",
        also="event.draft",
    ),
    breaks(
        "a merged Draft that is open",
        "draft.status",
        draft_of("a/approved.md"),
        f"update drafts set status = 'open', review_id = null"
        f" where org_id = :o and draft_id = {draft_of('a/approved.md')}",
        also="event.draft",
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
        also="reference.missing review.timer",
    ),
    breaks(
        "a submission's hash",
        "submission.hash",
        REJECTED,
        f"update review_submissions set result_hash = {ZEROS} where org_id = :o and review_id = {REJECTED}",
        also="record.hash review.result",
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
        f" select org_id, {TALKED_ABOUT}, 1, 1, draft_id, draft_version, title from review_submission_drafts"
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
        also="audit.merge record.audit",
    ),
    breaks(
        "a merged Review that lost its commit",
        "review.commit",
        MERGED,
        f"update reviews set merged_commit_id = null where org_id = :o and review_id = {MERGED}",
        also="audit.merge merge.published operation.effect record.audit",
    ),
    breaks(
        "a commit whose Review is gone",
        "reference.missing",
        organization_commit(1),
        f"delete from reviews where org_id = :o and review_id = {MERGED}",
        also="draft.status event.address operation.effect",
    ),
    breaks(
        "a status that nothing led to",
        "review.status",
        TALKED_ABOUT,
        f"update reviews set status = 'rejected' where org_id = :o and review_id = {TALKED_ABOUT}",
        also="draft.status review.timer",
    ),
    breaks(
        "a timeline's event that is gone",
        "review.timeline",
        MERGED,
        f"delete from review_timeline where org_id = :o and review_id = {MERGED} and position = 0",
        also="audit.count event.review record.submission",
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
        also="record.approval",
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
        also="operation.workflow",
    ),
    breaks(
        "a submission that made no Review",
        "operation.effect",
        first("operation_id", f"operations where kind = 'review.submit' and review_id = {TALKED_ABOUT}"),
        f"update operations set review_id = 'rev_nowhere'"
        f" where org_id = :o and kind = 'review.submit' and review_id = {TALKED_ABOUT}",
        also="operation.workflow",
    ),
    breaks(
        "a resubmission that added nothing",
        "operation.effect",
        RESUBMIT,
        f"update operations set review_id = {TALKED_ABOUT} where org_id = :o and operation_id = {RESUBMIT}",
        also="operation.workflow",
    ),
    breaks(
        "a decision that decided nothing",
        "operation.effect",
        first("operation_id", f"operations where kind = 'review.decide' and review_id = {REJECTED}"),
        f"update operations set review_id = {TALKED_ABOUT}"
        f" where org_id = :o and kind = 'review.decide' and review_id = {REJECTED}",
        also="operation.workflow",
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
        also="operation.workflow",
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
        also="record.audit",
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
        also="comment.author record.selection",
    ),
    breaks(
        "an audit row that names another commit",
        "audit.merge",
        MERGED,
        f"update audit_events set after_hash = {ZEROS}"
        f" where org_id = :o and action = 'review.merge' and resource_id = {MERGED}",
        also="record.audit",
    ),
]

ANOTHER = first("user_id", "users where role = 'admin'")
"""Somebody who has done nothing but decide."""

RECORDS = [
    breaks(
        "a merge by somebody else",
        "record.commit",
        organization_commit(1),
        f"update review_timeline set actor_id = {ANOTHER} where org_id = :o and review_id = {MERGED}"
        " and event = 'merged'",
        f"update audit_events set actor = {ANOTHER} where org_id = :o and resource_id = {MERGED}"
        " and action = 'review.merge'",
        f"update review_approvals set actor_id = {ANOTHER} where org_id = :o and review_id = {MERGED}",
    ),
    breaks(
        "an audit row of somebody else",
        "record.audit",
        MERGED,
        f"update audit_events set actor = {ANOTHER} where org_id = :o and resource_id = {MERGED}"
        " and action = 'review.merge'",
    ),
    breaks(
        "a timeline's time",
        "record.audit",
        TALKED_ABOUT,
        f"update review_timeline set at = at - interval '1 day' where org_id = :o and review_id = {TALKED_ABOUT}",
        also="record.submission",
    ),
    breaks(
        "a timeline's result",
        "record.hash",
        TALKED_ABOUT,
        f"update review_timeline set new_hash = {ZEROS} where org_id = :o and review_id = {TALKED_ABOUT}",
    ),
    breaks(
        "a submission by somebody else",
        "record.submission",
        TALKED_ABOUT,
        f"update review_submissions set created_by = {ANOTHER} where org_id = :o and review_id = {TALKED_ABOUT}",
    ),
    breaks(
        "a submission's time",
        "record.submission",
        TALKED_ABOUT,
        "update review_submissions set created_at = created_at + interval '1 day'"
        f" where org_id = :o and review_id = {TALKED_ABOUT}",
        also="review.timer",
    ),
    breaks(
        "a Review of somebody else",
        "record.submission",
        TALKED_ABOUT,
        f"update reviews set author_id = {ANOTHER} where org_id = :o and review_id = {TALKED_ABOUT}",
        also="belonging.draft belonging.operation",
    ),
    breaks(
        "an approval by somebody else",
        "record.approval",
        APPROVAL,
        f"update review_approvals set actor_id = {ANOTHER} where org_id = :o and approval_id = {APPROVAL}",
    ),
    breaks(
        "a selection changed by somebody else",
        "record.selection",
        first("commit_id", "commits where scope = 'project' and review_id is null"),
        f"update audit_events set actor = {ANOTHER} where org_id = :o and action = 'selection.replace'",
    ),
    breaks(
        "a selection audited with another commit",
        "record.selection",
        first("commit_id", "commits where scope = 'project' and review_id is null"),
        f"update audit_events set after_hash = {ZEROS} where org_id = :o and action = 'selection.replace'",
    ),
    breaks(
        "a ref's time",
        "record.ref",
        "'the organization'",
        "update organization_refs set updated_at = updated_at + interval '1 day' where org_id = :o",
    ),
    breaks(
        "a project's ref's time",
        "record.ref",
        SECOND_PROJECT,
        f"update project_refs set updated_at = updated_at + interval '1 day'"
        f" where org_id = :o and project_id = {SECOND_PROJECT}",
    ),
    breaks(
        "a user whom nobody made",
        "record.creation",
        ANOTHER,
        f"delete from audit_events where org_id = :o and action = 'user.create' and resource_id = {ANOTHER}",
    ),
    breaks(
        "a token that nobody made",
        "record.creation",
        first("token_id", "tokens where true"),
        "delete from audit_events where org_id = :o and action = 'token.create'",
    ),
]

BELONGING = [
    breaks(
        "a submitted Draft of somebody else",
        "belonging.draft",
        WAITING,
        f"update drafts set author_id = {ANOTHER} where org_id = :o and draft_id = {WAITING}",
        also="event.address",
    ),
    breaks(
        "a merged Draft of another project",
        "belonging.draft",
        draft_of("a/approved.md"),
        f"update drafts set project_id = {SECOND_PROJECT} where org_id = :o and draft_id = {draft_of('a/approved.md')}",
        also="event.address",
    ),
    breaks(
        "an import of somebody else",
        "belonging.import",
        IMPORT,
        f"update imports set author_id = {ANOTHER} where org_id = :o and import_id = {IMPORT}",
    ),
    breaks(
        "an import that names another Review",
        "belonging.import",
        IMPORT,
        f"update reviews set author_id = {ANOTHER} where org_id = :o and review_id = {MERGED}",
        f"update imports set review_id = {MERGED} where org_id = :o and import_id = {IMPORT}",
        also="belonging.draft belonging.operation record.submission",
    ),
    breaks(
        "an operation of an unknown kind",
        "operation.kind",
        RESUBMIT,
        f"update operations set kind = 'review.praise' where org_id = :o and operation_id = {RESUBMIT}",
    ),
    breaks(
        "an operation of another workflow",
        "operation.workflow",
        MERGE,
        f"update operations set workflow_id = 'publication/nobody' where org_id = :o and operation_id = {MERGE}",
    ),
    breaks(
        "an operation of another project",
        "belonging.operation",
        MERGE,
        f"update operations set project_id = {SECOND_PROJECT} where org_id = :o and operation_id = {MERGE}",
    ),
    breaks(
        "a resubmission of somebody else",
        "belonging.operation",
        RESUBMIT,
        f"update operations set user_id = {ANOTHER} where org_id = :o and operation_id = {RESUBMIT}",
    ),
    breaks(
        "a gap between the Drafts of a submission",
        "submission.position",
        APPROVED,
        f"update review_submission_drafts set position = position + 1 where org_id = :o and review_id = {APPROVED}",
    ),
    breaks(
        "a base that never was",
        "submission.base",
        REJECTED,
        f"update review_submission_states set base_description = 'never' where org_id = :o and review_id = {REJECTED}",
    ),
    breaks(
        "two steps of one id",
        "draft.step",
        STEP,
        f"update draft_operations set operation_id = {STEP} where org_id = :o and draft_id = {OPEN_DRAFT}",
    ),
    breaks(
        "a comment about what is not proposed",
        "comment.anchor",
        COMMENT,
        "update review_comments set anchor_path = 'nowhere.md', anchor_line = 1 where org_id = :o",
    ),
    breaks(
        "a comment of somebody else",
        "comment.author",
        COMMENT,
        f"update review_comments set author_id = {ANOTHER} where org_id = :o",
    ),
    breaks(
        "a project's key",
        "project.key",
        SECOND_PROJECT,
        f"update projects set name_key = 'another' where org_id = :o and project_id = {SECOND_PROJECT}",
    ),
    breaks(
        "an organization that nobody owns",
        "organization.owner",
        "cast(:o as text)",
        "update users set role = 'admin' where org_id = :o and role = 'owner'",
    ),
    breaks(
        "two tokens of one secret",
        "token.secret",
        first("token_id", "tokens where true"),
        "insert into tokens select org_id, token_id || 'x', user_id, name, permissions, secret_hash, expires_at,"
        " created_at from tokens where org_id = :o",
        "insert into audit_events select org_id, event_id || 'x', at, actor, action, resource_type, resource_id || 'x',"
        " session_id, request_id, before_hash, after_hash, detail from audit_events"
        " where org_id = :o and action = 'token.create'",
    ),
    breaks(
        "a repeated request whose operation is gone",
        "reference.missing",
        "'opn_nowhere'",
        "insert into idempotency_keys select org_id, owner_id, 'POST', '/x', 'k', 'h', 202, '{}', '', 'opn_nowhere',"
        " now() from (select org_id, min(user_id) as owner_id from users where org_id = :o group by org_id) u",
    ),
]

FEED = [
    breaks(
        "a Draft that nobody was told of",
        "event.draft",
        OPEN_DRAFT,
        f"delete from events where org_id = :o and kind = 'draft.created' and resource_id = {OPEN_DRAFT}",
    ),
    breaks(
        "a submitted Draft that nobody was told of",
        "event.draft",
        WAITING,
        f"delete from events where org_id = :o and kind = 'draft.submitted' and resource_id = {WAITING}",
    ),
    breaks(
        "an event for somebody else",
        "event.address",
        OPEN_DRAFT,
        f"update events set user_id = {ANOTHER} where org_id = :o and resource_id = {OPEN_DRAFT}",
    ),
    breaks(
        "an event of a later version",
        "event.address",
        MERGED,
        f"update events set version = 99 where org_id = :o and resource_id = {MERGED} and kind = 'review.merged'",
    ),
    breaks(
        "an event of another kind of thing",
        "event.kind",
        first("id", "events where kind = 'draft.appended'"),
        "update events set kind = 'dream.appended' where org_id = :o and kind = 'draft.appended'",
    ),
    breaks(
        "an event that nobody will see",
        "event.ahead",
        first("id", "events where kind = 'draft.appended'"),
        "update events set xid = '9000000000' where org_id = :o and kind = 'draft.appended'",
    ),
]

OF_PROPOSALS = [*DRAFTS, *SUBMISSIONS, *REVIEWS, *OPERATIONS, *IMPORTS, *EVENTS, *AUDIT, *RECORDS, *BELONGING, *FEED]
