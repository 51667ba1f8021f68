"""Corruptions of what is published: texts, entries, trees, commits, refs, Memories, projections and selections."""

# ruff: noqa: S608  (our own constants make these statements)

from tests.corruptions.breaking import (
    BODY,
    CHANGED,
    DELETED,
    FIRST_PROJECT,
    MERGED,
    MOVED,
    SECOND_PROJECT,
    ZEROS,
    breaks,
    organization_commit,
)

HEAD = f"org_id = :o and memory_id = {CHANGED} and to_version is null"
PAST = f"org_id = :o and memory_id = {CHANGED} and from_version = 1"
LAST = "(select version from organization_refs where org_id = :o)"
LAST_OF_SECOND = f"(select version from project_refs where org_id = :o and project_id = {SECOND_PROJECT})"
LAST_COMMIT_OF_SECOND = f"(select commit_id from project_refs where org_id = :o and project_id = {SECOND_PROJECT})"
SELECTION = f"""
    (select blob_id from projection_versions
     where org_id = :o and project_id = {SECOND_PROJECT} and memory_id = 'project_org_selection' and to_version is null)
"""

TEXTS = [
    breaks(
        "a byte of a body",
        "text.id",
        BODY,
        f"update blobs set content = overlay(content placing 'X' from 1) where org_id = :o and blob_id = {BODY}",
        also="text.content_hash",
    ),
    breaks(
        "a body's content hash",
        "text.content_hash",
        BODY,
        f"update blobs set content_hash = 'sha256:' || {ZEROS} where org_id = :o and blob_id = {BODY}",
        also="merge.published submission.hash",
    ),
    breaks(
        "a body that was never normalized",
        "text.normalized",
        "encode(sha256('canonry.blob.v1\\000'::bytea || 'x\r\n'::bytea), 'hex')",
        "insert into blobs (org_id, blob_id, content_hash, content) select :o,"
        " encode(sha256('canonry.blob.v1\\000'::bytea || 'x\r\n'::bytea), 'hex'),"
        " 'sha256:' || encode(sha256('x\r\n'::bytea), 'hex'), 'x\r\n'",
    ),
    breaks(
        "a body that is gone",
        "reference.missing",
        BODY,
        f"delete from blobs where org_id = :o and blob_id = {BODY}",
        also="merge.published submission.hash",
    ),
    breaks(
        "a project that is gone",
        "reference.missing",
        SECOND_PROJECT,
        f"delete from projects where org_id = :o and project_id = {SECOND_PROJECT}",
        also="chain.ref",
    ),
]

ENTRIES = [
    breaks(
        "a byte of a description",
        "entry.digest",
        CHANGED,
        f"update memory_versions set description = 'Fjrst' where {PAST}",
        also="merge.published projection.entry submission.base submission.replay",
    ),
    breaks(
        "a byte of a path",
        "entry.digest",
        CHANGED,
        f"update memory_versions set path = 'b/changed.md', path_key = 'b/changed.md' where {PAST}",
        also="merge.published projection.entry submission.base submission.replay",
    ),
    breaks(
        "a byte of an entry's digest",
        "entry.digest",
        CHANGED,
        f"update memory_versions set entry_digest = set_byte(entry_digest, 0, 255 - get_byte(entry_digest, 0))"
        f" where {PAST}",
        also="tree.id",
    ),
    breaks(
        "a body's id that is no digest",
        "entry.digest",
        CHANGED,
        f"update memory_versions set blob_id = 'z' || substr(blob_id, 2) where {PAST}",
        also="merge.published projection.entry reference.missing submission.base",
    ),
    breaks(
        "a bucket's number", "entry.bucket", CHANGED, f"update memory_versions set bucket = bucket + 1 where {PAST}"
    ),
    breaks(
        "an entry of a version that is not there",
        "entry.version",
        CHANGED,
        f"update memory_versions set to_version = 99 where {HEAD}",
        also="memory.revision memory.status",
    ),
    breaks(
        "a path key",
        "path.key",
        CHANGED,
        f"update memory_versions set path_key = 'a/other.md' where {PAST}",
    ),
    breaks(
        "a path that is not accepted",
        "path.accepted",
        CHANGED,
        f"update memory_versions set path = 'a/../changed.md', path_key = 'a/../changed.md' where {PAST}",
        also="entry.digest merge.published projection.entry submission.base submission.replay",
    ),
    breaks(
        "a description that is not accepted",
        "description.accepted",
        CHANGED,
        f"update memory_versions set description = ' First' where {PAST}",
        also="entry.digest merge.published projection.entry submission.base submission.replay",
    ),
    breaks(
        "two Memories at one path",
        "path.taken",
        MOVED,
        "drop index uq_memory_versions_path",
        f"update memory_versions set path = 'A/Changed.md', path_key = 'a/changed.md'"
        f" where org_id = :o and memory_id = {MOVED} and to_version is null",
        also="entry.digest merge.published projection.entry",
    ),
    breaks(
        "a Memory that is a folder",
        "path.folder",
        MOVED,
        f"update memory_versions set path = 'a', path_key = 'a'"
        f" where org_id = :o and memory_id = {MOVED} and to_version is null",
        also="entry.digest merge.published projection.entry",
    ),
]

TREES = [
    breaks(
        "an entry that is gone",
        "tree.id",
        organization_commit(1),
        f"delete from memory_versions where {PAST}",
        also="memory.revision memory.time merge.published projection.entry submission.base submission.replay",
    ),
    breaks(
        "a commit's tree",
        "tree.id",
        organization_commit(1),
        f"update commits set tree_id = {ZEROS} where org_id = :o and project_id is null and version = 1",
        also="commit.id",
    ),
    breaks(
        "a commit that changes nothing",
        "tree.unchanged",
        "repeat('1', 64)",
        "insert into commits select org_id, repeat('1', 64), scope, project_id, version + 1, commit_id, tree_id,"
        " message, null, created_by, created_at, null, null from commits"
        f" where org_id = :o and project_id is null and version = {LAST}",
        "update organization_refs set version = version + 1, commit_id = repeat('1', 64) where org_id = :o",
        also="commit.id event.commit",
    ),
    breaks(
        "a bucket's digest",
        "tree.bucket",
        "(select 'bucket ' || min(bucket) from tree_buckets where org_id = :o and owner_id = '')",
        "update tree_buckets set digest = sha256('x'::bytea) where org_id = :o and owner_id = '' and bucket ="
        " (select min(bucket) from tree_buckets where org_id = :o and owner_id = '')",
    ),
    breaks(
        "a bucket of a project that is gone",
        "tree.bucket",
        SECOND_PROJECT,
        f"delete from tree_buckets where org_id = :o and owner_id = {SECOND_PROJECT}",
    ),
    breaks(
        "a bucket of nobody",
        "tree.bucket",
        "'prj_nobody'",
        "insert into tree_buckets values (:o, 'prj_nobody', 1, sha256('x'::bytea))",
    ),
]

CHAINS = [
    breaks(
        "a commit's message",
        "commit.id",
        organization_commit(1),
        "update commits set message = 'A Reviev' where org_id = :o and project_id is null and version = 1",
    ),
    breaks(
        "a commit's author",
        "commit.id",
        organization_commit(1),
        "update commits set created_by = 'usr_else' where org_id = :o and project_id is null and version = 1",
        also="record.commit",
    ),
    breaks(
        "a commit's time",
        "commit.id",
        organization_commit(1),
        "update commits set created_at = created_at - interval '1 microsecond'"
        " where org_id = :o and project_id is null and version = 1",
        also="memory.time record.commit",
    ),
    breaks(
        "a commit from before its parent",
        "commit.time",
        organization_commit(2),
        "update commits set created_at = created_at - interval '1 day'"
        " where org_id = :o and project_id is null and version = 2",
        also="commit.id memory.time record.commit",
    ),
    breaks(
        "a commit's parent",
        "commit.parent",
        organization_commit(3),
        f"update commits set parent_commit_id = {organization_commit(1)}"
        " where org_id = :o and project_id is null and version = 3",
        also="commit.id",
    ),
    breaks(
        "a commit that is gone",
        "chain.gap",
        organization_commit(3),
        "delete from commits where org_id = :o and project_id is null and version = 2",
        also="commit.parent draft.base entry.version event.commit operation.effect projection.base projection.behind"
        " review.commit tree.bucket tree.id",
    ),
    breaks(
        "a forked ref",
        "chain.gap",
        "repeat('f', 64)",
        "alter table commits drop constraint uq_commits_org_id_project_id_version",
        "insert into commits select org_id, repeat('f', 64), scope, project_id, version, parent_commit_id, tree_id,"
        " message, null, created_by, created_at, null, null from commits"
        f" where org_id = :o and project_id is null and version = {LAST}",
        also="chain.ref commit.id commit.parent event.commit tree.unchanged",
    ),
    breaks(
        "the organization's ref ahead of its commits",
        "chain.ref",
        "'the organization'",
        "update organization_refs set version = version + 1 where org_id = :o",
    ),
    breaks(
        "a project's ref one commit behind",
        "chain.ref",
        SECOND_PROJECT,
        "update project_refs r set version = c.version, commit_id = c.commit_id from commits c"
        f" where r.org_id = :o and r.project_id = {SECOND_PROJECT} and c.org_id = r.org_id"
        f" and c.project_id = r.project_id and c.version = r.version - 1",
        also="record.ref",
    ),
    breaks(
        "the organization's ref that is gone",
        "chain.ref",
        "'the organization'",
        "delete from organization_refs where org_id = :o",
    ),
    breaks(
        "a project's ref that is gone",
        "chain.ref",
        FIRST_PROJECT,
        f"delete from project_refs where org_id = :o and project_id = {FIRST_PROJECT}",
        also="selection.rows",
    ),
]

MEMORIES = [
    breaks(
        "an interval that overlaps",
        "memory.interval",
        CHANGED,
        f"update memory_versions set to_version = to_version + 1 where {PAST}",
        also="path.taken",
    ),
    breaks(
        "an interval that ends too early",
        "memory.interval",
        MOVED,
        f"update memory_versions set to_version = to_version - 1"
        f" where org_id = :o and memory_id = {MOVED} and to_version is not null",
        also="memory.revision merge.untouched projection.behind submission.replay tree.id",
    ),
    breaks(
        "a Memory's row that is gone",
        "memory.row",
        MOVED,
        f"delete from memories where org_id = :o and memory_id = {MOVED}",
        also="draft.target reference.missing selection.active",
    ),
    breaks(
        "a deleted Memory that is active",
        "memory.status",
        DELETED,
        f"update memories set status = 'active' where org_id = :o and memory_id = {DELETED}",
    ),
    breaks(
        "a Memory's revision",
        "memory.revision",
        CHANGED,
        f"update memories set revision = revision - 1 where org_id = :o and memory_id = {CHANGED}",
    ),
    breaks(
        "a Memory's time",
        "memory.time",
        CHANGED,
        f"update memories set updated_at = created_at where org_id = :o and memory_id = {CHANGED}",
    ),
    breaks(
        "a text that nobody approved",
        "merge.published",
        MERGED,
        "update memory_versions set description = 'Nobody''s', entry_digest = sha256('x'::bytea)"
        f" where org_id = :o and memory_id = {DELETED}",
        also="entry.digest projection.entry submission.base tree.id",
    ),
    breaks(
        "a Memory that nobody proposed",
        "merge.untouched",
        "'mem_nobody'",
        "insert into memories select org_id, 'mem_nobody', status, 1, created_at, created_at"
        f" from memories where org_id = :o and memory_id = {CHANGED}",
        "insert into memory_versions select org_id, 'mem_nobody', 1, null, 'nobody', 'nobody', '', blob_id, bucket,"
        f" entry_digest from memory_versions where {PAST}",
        also="entry.digest entry.bucket tree.id tree.bucket",
    ),
]

PROJECTIONS = [
    breaks(
        "a description in a projection",
        "projection.entry",
        CHANGED,
        f"update projection_versions set description = 'x'"
        f" where org_id = :o and project_id = {SECOND_PROJECT} and memory_id = {CHANGED} and to_version is null",
        also="entry.digest",
    ),
    breaks(
        "a projection off by one",
        "projection.behind",
        CHANGED,
        f"delete from projection_versions"
        f" where org_id = :o and project_id = {SECOND_PROJECT} and from_version = {LAST_OF_SECOND}",
        f"update projection_versions set to_version = null"
        f" where org_id = :o and project_id = {SECOND_PROJECT} and to_version = {LAST_OF_SECOND}",
        f"delete from commits where org_id = :o and project_id = {SECOND_PROJECT} and version = {LAST_OF_SECOND}",
        "update project_refs r set version = c.version, commit_id = c.commit_id from commits c"
        f" where r.org_id = :o and r.project_id = {SECOND_PROJECT} and c.org_id = r.org_id"
        f" and c.project_id = r.project_id and c.version = r.version - 1",
        also="event.commit record.ref tree.bucket",
    ),
    breaks(
        "a projection of an unknown commit",
        "projection.base",
        LAST_COMMIT_OF_SECOND,
        f"update commits set org_commit_id = {ZEROS} where org_id = :o and commit_id = {LAST_COMMIT_OF_SECOND}",
        also="commit.id projection.behind",
    ),
    breaks(
        "a projection that went back",
        "projection.base",
        LAST_COMMIT_OF_SECOND,
        f"update commits set org_commit_id = {organization_commit(1)}"
        f" where org_id = :o and commit_id = {LAST_COMMIT_OF_SECOND}",
        also="commit.id projection.entry",
    ),
    breaks(
        "an entry's interval that overlaps",
        "projection.interval",
        CHANGED,
        f"update projection_versions set to_version = to_version + 1"
        f" where org_id = :o and project_id = {SECOND_PROJECT} and memory_id = {CHANGED} and from_version = 1",
        also="projection.behind",
    ),
    breaks(
        "a selected Memory without its entry",
        "selection.entry",
        SECOND_PROJECT,
        f"delete from projection_versions"
        f" where org_id = :o and project_id = {SECOND_PROJECT} and memory_id = {MOVED} and to_version is null",
        also="tree.bucket tree.id",
    ),
]

SELECTIONS = [
    breaks(
        "a selection of an unknown id",
        "selection.active",
        "'mem_unknown'",
        f"insert into org_selections values (:o, {SECOND_PROJECT}, 'mem_unknown')",
        also="selection.rows",
    ),
    breaks(
        "a selection of a deleted Memory",
        "selection.active",
        DELETED,
        f"insert into org_selections values (:o, {SECOND_PROJECT}, {DELETED})",
        also="selection.rows",
    ),
    breaks(
        "a selected Memory that is gone",
        "selection.rows",
        SECOND_PROJECT,
        f"delete from org_selections where org_id = :o and project_id = {SECOND_PROJECT} and memory_id = {MOVED}",
    ),
    breaks(
        "a selection's revision",
        "selection.revision",
        SECOND_PROJECT,
        f"update project_refs set selection_revision = selection_revision + 1"
        f" where org_id = :o and project_id = {SECOND_PROJECT}",
    ),
    breaks(
        "a selection's text",
        "selection.form",
        SECOND_PROJECT,
        f"update blobs set content = replace(content, ',', ', ') where org_id = :o and blob_id = {SELECTION}",
        also="text.content_hash text.id text.normalized",
    ),
]

OF_PUBLICATION = [*TEXTS, *ENTRIES, *TREES, *CHAINS, *MEMORIES, *PROJECTIONS, *SELECTIONS]
