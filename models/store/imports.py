"""Imports: their rows and the files staged in them; `models.store.import_views` shows them (publication.md §6)."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, text

from models.errors import OperationInvalid
from models.identifiers import CommitId, ImportId, OperationId, OrganizationId, ProjectId, UserId, new_import_id
from models.rules.limits import MAX_IMPORT_FILES
from models.rules.staged_files import FileToStage
from models.store.access import READABLE_PROJECTS_EVER
from models.store.locks import ImportRow, one_or_none, row_of
from models.store.transaction import Transaction

INSERT = text("""
    insert into imports (org_id, import_id, project_id, author_id, title, mirror, prefix, source,
                         base_commit_id, base_version, staged, attempt, created_at, updated_at)
    values (:org_id, :import_id, :project_id, :author_id, :title, :mirror, :prefix, :source,
            :base_commit_id, :base_version, 0, 0, :now, :now)
    on conflict (org_id, author_id, project_id, source) where source is not null and ended_at is null do nothing
    returning *
""")


def insert_import(
    tx: Transaction,
    *,
    project_id: ProjectId,
    title: str,
    mirror: bool,
    prefix: str,
    source: str | None,
    base: tuple[CommitId, int] | None = None,
) -> ImportRow | None:
    """A new import of the actor's; None while one of the same project and source has not ended.

    One that is being made at the same time is waited for.

    Args:
        tx: of the author.
        project_id: where it proposes.
        title: of its Review.
        mirror: whether what no file names is deleted.
        prefix: the folder that its files stand in.
        source: the client's label, if any.
        base: the commit that its files were taken from, and the organization's version there.
    """
    base_commit_id, base_version = base or (None, None)
    values = {
        "org_id": tx.org_id,
        "import_id": new_import_id(),
        "project_id": project_id,
        "author_id": tx.actor_id,
        "title": title,
        "mirror": mirror,
        "prefix": prefix,
        "source": source,
        "base_commit_id": base_commit_id,
        "base_version": base_version,
        "now": tx.now,
    }
    return one_or_none(ImportRow, tx.connection.execute(INSERT, values).mappings().one_or_none())


def unfinished_import(tx: Transaction, project_id: ProjectId, source: str) -> ImportRow | None:
    """The actor's import of a project and source that has not ended, locked; None if it ended meanwhile."""
    rows = tx.connection.execute(
        text("""
            select * from imports
            where org_id = :org_id and author_id = :author_id and project_id = :project_id and source = :source
              and ended_at is null for no key update
        """),
        {"org_id": tx.org_id, "author_id": tx.actor_id, "project_id": project_id, "source": source},
    ).mappings()
    return one_or_none(ImportRow, rows.one_or_none())


def read_import(connection: Connection, org_id: OrganizationId, import_id: ImportId) -> ImportRow | None:
    """An import's row, unlocked, whoever asks."""
    rows = connection.execute(
        text("select * from imports where org_id = :org_id and import_id = :import_id"),
        {"org_id": org_id, "import_id": import_id},
    ).mappings()
    return one_or_none(ImportRow, rows.one_or_none())


def set_operation(tx: Transaction, import_id: ImportId, operation_id: OperationId) -> None:
    """Name the operation that carries a locked import out: nothing is staged from here on."""
    tx.connection.execute(
        text("""
            update imports set operation_id = :operation_id, updated_at = :now
            where org_id = :org_id and import_id = :import_id
        """),
        {"org_id": tx.org_id, "import_id": import_id, "operation_id": operation_id, "now": tx.now},
    )


def end_import(tx: Transaction, import_id: ImportId) -> None:
    """Note that a locked import has ended: its source is free for another one, and its texts are dropped."""
    names = {"org_id": tx.org_id, "import_id": import_id, "now": tx.now}
    tx.connection.execute(
        text("""
            update imports set ended_at = :now, updated_at = :now
            where org_id = :org_id and import_id = :import_id and ended_at is null
        """),
        names,
    )
    tx.connection.execute(
        text("""
            update import_files set content = null
            where org_id = :org_id and import_id = :import_id and content is not null
        """),
        {"org_id": tx.org_id, "import_id": import_id},
    )


STAGE = text("""
    insert into import_files (org_id, import_id, path, memory_id, description, content, blob_id, content_hash,
                              report_code, report_detail)
    values (:org_id, :import_id, :path, :memory_id, :description, :content, :blob_id, :content_hash,
            :report_code, :report_detail)
    on conflict (org_id, import_id, path) do update
    set memory_id = excluded.memory_id, description = excluded.description, content = excluded.content,
        blob_id = excluded.blob_id, content_hash = excluded.content_hash,
        report_code = excluded.report_code, report_detail = excluded.report_detail
""")
STAGED_ALREADY = text("""
    select count(*) from import_files where org_id = :org_id and import_id = :import_id and path = any(:paths)
""")
COUNT = text("""
    update imports set staged = staged + :added, updated_at = :now
    where org_id = :org_id and import_id = :import_id returning staged
""")


def stage_files(tx: Transaction, import_id: ImportId, files: Sequence[FileToStage]) -> None:
    """Stage files in a locked import, each in the place of what is staged at its path.

    Raises:
        OperationInvalid: more files than an import holds (`rule` `too_many`).
    """
    scope = {"org_id": tx.org_id, "import_id": import_id}
    paths = {file.path for file in files}
    there = tx.connection.execute(STAGED_ALREADY, scope | {"paths": sorted(paths)}).scalar_one()
    staged = tx.connection.execute(COUNT, scope | {"added": len(paths) - there, "now": tx.now}).scalar_one()
    if staged > MAX_IMPORT_FILES:
        raise OperationInvalid(f"An import holds at most {MAX_IMPORT_FILES} files.", field="files", rule="too_many")
    tx.connection.execute(
        STAGE,
        [
            {
                "org_id": tx.org_id,
                "import_id": import_id,
                "path": file.path,
                "memory_id": file.memory_id,
                "description": file.description,
                "content": file.content,
                "blob_id": None if file.body is None else file.body.blob_id,
                "content_hash": None if file.body is None else file.body.content_hash,
                "report_code": file.report_code,
                "report_detail": file.report_detail,
            }
            for file in files
        ],
    )


def forget_import(tx: Transaction, import_id: ImportId) -> None:
    """Forget a locked import that was never started, with all that is staged in it."""
    tx.connection.execute(
        text("delete from imports where org_id = :org_id and import_id = :import_id"),
        {"org_id": tx.org_id, "import_id": import_id},
    )


LIST = text(f"""
    select i.* from imports i
    left join operations o on o.org_id = i.org_id and o.operation_id = i.operation_id
    where i.org_id = :org_id and i.author_id = :user_id and i.project_id in ({READABLE_PROJECTS_EVER})
      and (cast(:project_id as text) is null or i.project_id = :project_id)
      and (cast(:source as text) is null or i.source = :source)
      and (cast(:status as text) is null
           or :status = case when i.operation_id is null then 'staging'
                             when o.status = 'pending' then 'running' else coalesce(o.status, i.outcome) end)
      and (cast(:before_at as timestamptz) is null or (i.created_at, i.import_id) < (:before_at, :before_id))
    order by i.created_at desc, i.import_id desc limit :limit
""")  # noqa: S608  (a constant of ours)


def list_imports(
    connection: Connection,
    org_id: OrganizationId,
    author_id: UserId,
    *,
    project_id: ProjectId | None,
    status: str | None,
    source: str | None,
    before: tuple[datetime, str] | None,
    limit: int,
) -> list[ImportRow]:
    """An author's imports in projects that still let the author read, newest first.

    Args:
        connection: a read connection.
        org_id: the organization.
        author_id: whose imports.
        project_id: only of this project.
        status: only with this status, which is that of the import's operation.
        source: only with this label.
        before: continue below this (created_at, import_id).
        limit: at most so many.
    """
    before_at, before_id = before or (None, None)
    names = {
        "org_id": org_id,
        "user_id": author_id,
        "project_id": project_id,
        "status": status,
        "source": source,
        "before_at": before_at,
        "before_id": before_id,
        "limit": limit,
    }
    return [row_of(ImportRow, row) for row in connection.execute(LIST, names).mappings()]
