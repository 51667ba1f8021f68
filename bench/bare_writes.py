"""The baseline of a merge: the rows that it leaves behind, and nothing else.

Sixteen plain statements over psycopg and one COMMIT, every value known beforehand: no role, no version and no path
is checked, no tree or result is read or hashed, and no answer is made.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import psycopg
from psycopg.rows import dict_row

from models.identifiers import new_approval_id, new_audit_event_id
from models.rules.hashes import bucket_of
from models.rules.paths import path_key
from models.store.operations import StoredOperation

Values = Mapping[str, object]
Rows = Sequence[Mapping[str, object]]

STEP_REF = """
    update organization_refs set commit_id = %(commit_id)s, version = %(version)s, updated_at = %(now)s
    where org_id = %(org_id)s
"""
CLOSE_MEMORIES = """
    update memory_versions set to_version = %(version)s
    where org_id = %(org_id)s and memory_id = any(%(memory_ids)s) and to_version is null
"""
TOUCH_MEMORIES = """
    update memories set revision = revision + 1, updated_at = %(now)s
    where org_id = %(org_id)s and memory_id = any(%(memory_ids)s)
"""
OPEN_MEMORIES = """
    insert into memory_versions
        (org_id, memory_id, from_version, path, path_key, description, blob_id, bucket, entry_digest)
    select %(org_id)s, m.memory_id, %(version)s, m.path, m.path_key, m.description, m.blob_id, m.bucket, m.digest
    from unnest(%(memory_ids)s::text[], %(paths)s::text[], %(path_keys)s::text[], %(descriptions)s::text[],
                %(blob_ids)s::text[], %(buckets)s::smallint[], %(digests)s::bytea[])
        as m(memory_id, path, path_key, description, blob_id, bucket, digest)
"""
STEP_PROJECTS = """
    update project_refs r set commit_id = p.commit_id, version = r.version + 1, updated_at = %(now)s
    from unnest(%(project_ids)s::text[], %(project_commit_ids)s::text[]) as p(project_id, commit_id)
    where r.org_id = %(org_id)s and r.project_id = p.project_id
"""
CLOSE_PROJECTIONS = """
    update projection_versions v set to_version = p.version
    from unnest(%(project_ids)s::text[], %(project_versions)s::int[]) as p(project_id, version)
    where v.org_id = %(org_id)s and v.project_id = p.project_id and v.memory_id = any(%(memory_ids)s)
      and v.to_version is null
"""
OPEN_PROJECTIONS = """
    insert into projection_versions
        (org_id, project_id, memory_id, from_version, path, description, blob_id, bucket, entry_digest)
    select %(org_id)s, p.project_id, m.memory_id, p.version, m.path, m.description, m.blob_id, m.bucket, m.digest
    from unnest(%(project_ids)s::text[], %(project_versions)s::int[]) as p(project_id, version)
    cross join unnest(%(memory_ids)s::text[], %(paths)s::text[], %(descriptions)s::text[],
                      %(blob_ids)s::text[], %(buckets)s::smallint[], %(digests)s::bytea[])
        as m(memory_id, path, description, blob_id, bucket, digest)
"""
WRITE_BUCKETS = """
    insert into tree_buckets (org_id, owner_id, bucket, digest)
    select %(org_id)s, o.owner_id, b.bucket, b.digest
    from unnest(%(owner_ids)s::text[]) as o(owner_id)
    cross join unnest(%(touched_buckets)s::smallint[], %(bucket_digests)s::bytea[]) as b(bucket, digest)
    on conflict (org_id, owner_id, bucket) do update set digest = excluded.digest
"""
WRITE_COMMITS = """
    insert into commits (org_id, commit_id, scope, project_id, version, parent_commit_id, tree_id, message, review_id,
                         created_by, created_at, org_commit_id, selection_revision)
    select %(org_id)s, c.commit_id, case when c.project_id is null then 'org' else 'project' end, c.project_id,
           c.version, c.commit_id, c.commit_id, %(title)s, %(review_id)s, %(user_id)s, %(now)s, %(commit_id)s, 1
    from unnest(%(commit_ids)s::text[], %(commit_owners)s::text[], %(commit_versions)s::int[])
        as c(commit_id, project_id, version)
"""
MERGE_DRAFTS = """
    update drafts set status = 'merged', version = version + 1, updated_at = %(now)s
    where org_id = %(org_id)s and review_id = %(review_id)s
"""
MERGE_REVIEW = """
    update reviews set status = 'merged', merged_commit_id = %(commit_id)s, version = version + 1,
        refresh_pending = true, updated_at = %(now)s
    where org_id = %(org_id)s and review_id = %(review_id)s
"""
APPROVE = """
    insert into review_approvals (org_id, approval_id, review_id, actor_id, submission, result_hash, created_at)
    values (%(org_id)s, %(approval_id)s, %(review_id)s, %(user_id)s, 1, %(result_hash)s, %(now)s)
"""
RECORD = """
    insert into review_timeline (org_id, review_id, position, at, actor_id, event, submission, new_hash)
    values (%(org_id)s, %(review_id)s, 1, %(now)s, %(user_id)s, 'merged', 1, %(result_hash)s)
"""
TELL = """
    insert into events (org_id, kind, resource_type, resource_id, project_id, version, at)
    select %(org_id)s, e.type || '.merged', e.type, e.id, e.project_id, 1, %(now)s
    from unnest(%(event_types)s::text[], %(event_ids)s::text[], %(event_projects)s::text[]) as e(type, id, project_id)
"""
AUDIT = """
    insert into audit_events (org_id, event_id, at, actor, action, resource_type, resource_id, request_id, after_hash)
    values (%(org_id)s, %(event_id)s, %(now)s, %(user_id)s, 'review.merged', 'review', %(review_id)s, 'bench',
            %(commit_id)s)
"""
FINISH = """
    update operations set status = 'succeeded', result = %(result)s::jsonb, progress_step = 'succeeded',
        progress_done = progress_total, next_delivery_at = null, updated_at = %(now)s
    where org_id = %(org_id)s and operation_id = %(operation_id)s
"""
STATEMENTS = (
    STEP_REF,
    CLOSE_MEMORIES,
    TOUCH_MEMORIES,
    OPEN_MEMORIES,
    STEP_PROJECTS,
    CLOSE_PROJECTIONS,
    OPEN_PROJECTIONS,
    WRITE_BUCKETS,
    WRITE_COMMITS,
    MERGE_DRAFTS,
    MERGE_REVIEW,
    APPROVE,
    RECORD,
    TELL,
    AUDIT,
    FINISH,
)

PLAN = """
    select r.title, r.result_hash, o.version + 1 as version,
           array_agg(s.memory_id order by s.memory_id) as memory_ids,
           array_agg(s.path order by s.memory_id) as paths,
           array_agg(s.description order by s.memory_id) as descriptions,
           array_agg(s.blob_id order by s.memory_id) as blob_ids
    from reviews r
    join organization_refs o on o.org_id = r.org_id
    join review_submission_states s on s.org_id = r.org_id and s.review_id = r.review_id and s.number = r.submission
    where r.org_id = %(org_id)s and r.review_id = %(review_id)s
    group by r.title, r.result_hash, o.version
"""
AFFECTED = """
    select project_id, version + 1 as version from project_refs r
    where org_id = %(org_id)s and exists (
        select from org_selections s
        where s.org_id = r.org_id and s.project_id = r.project_id and s.memory_id = any(%(memory_ids)s))
"""


def write_bare(connection: psycopg.Connection, values: Values) -> None:
    """Leave a merge's rows behind."""
    for statement in STATEMENTS:
        connection.execute(statement, values)
    connection.commit()


def bare_values(connection: psycopg.Connection, operation: StoredOperation) -> Values:
    """Everything that `write_bare` writes for a merge operation that waits; ids and digests of trees are random."""
    names = {"org_id": operation.org_id, "review_id": operation.review_id}
    with connection.cursor(row_factory=dict_row) as cursor:
        plan = cursor.execute(PLAN, names).fetchall()[0]
        projects = cursor.execute(AFFECTED, {**names, "memory_ids": plan["memory_ids"]}).fetchall()
    connection.commit()
    return {
        **names,
        **plan,
        **_entries(plan["memory_ids"], plan["paths"]),
        **_commits(plan["version"], projects),
        **_events(operation, projects),
        "operation_id": operation.operation_id,
        "user_id": operation.user_id,
        "approval_id": new_approval_id(),
        "event_id": new_audit_event_id(),
        "result": '{"review": null}',
        "now": datetime.now(UTC),
    }


def _entries(memory_ids: Sequence[str], paths: Sequence[str]) -> Values:
    touched = sorted({bucket_of(memory_id) for memory_id in memory_ids})
    return {
        "path_keys": [path_key(path) for path in paths],
        "buckets": [bucket_of(memory_id) for memory_id in memory_ids],
        "digests": [os.urandom(32) for _ in memory_ids],
        "touched_buckets": touched,
        "bucket_digests": [os.urandom(32) for _ in touched],
    }


def _commits(version: int, projects: Rows) -> Values:
    project_ids = [project["project_id"] for project in projects]
    project_versions = [project["version"] for project in projects]
    commit_ids = [os.urandom(32).hex() for _ in range(1 + len(projects))]
    return {
        "commit_id": commit_ids[0],
        "project_ids": project_ids,
        "project_versions": project_versions,
        "project_commit_ids": commit_ids[1:],
        "owner_ids": ["", *project_ids],
        "commit_ids": commit_ids,
        "commit_owners": [None, *project_ids],
        "commit_versions": [version, *project_versions],
    }


def _events(operation: StoredOperation, projects: Rows) -> Values:
    project_ids = [project["project_id"] for project in projects]
    return {
        "event_types": ["draft", "review", "commit", *("projection" for _ in projects)],
        "event_ids": [operation.operation_id, operation.review_id, operation.org_id, *project_ids],
        "event_projects": [operation.project_id, operation.project_id, None, *project_ids],
    }
