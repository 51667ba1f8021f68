"""Projects: where changes are proposed and published Memory is used (tenancy.md)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count, islice

from pydantic import JsonValue
from sqlalchemy import Connection, text

from models.errors import AlreadyExists, NotFound
from models.identifiers import OrganizationId, ProjectId, UserId, new_project_id
from models.rules.names import name_key, numbered_slug, slug_of
from models.rules.roles import ProjectRole, ProjectState
from models.store.access import READABLE_PROJECTS
from models.store.audit import record_audit
from models.store.clearing import clear_project
from models.store.events import append_event
from models.store.locks import lock_access
from models.store.members import add_member
from models.store.transaction import Transaction

SLUG_ATTEMPTS = 1_000


@dataclass(frozen=True, slots=True)
class ProjectDetails:
    """A project as it is shown."""

    project_id: ProjectId
    name: str
    slug: str
    description: str
    state: ProjectState
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ProjectChange:
    """What a project is to be; fields as they are now where nothing changes."""

    name: str
    slug: str
    description: str
    state: ProjectState

    @classmethod
    def none(cls, project: ProjectDetails) -> "ProjectChange":
        """The change that leaves a project as it is."""
        return cls(project.name, project.slug, project.description, project.state)


COLUMNS = "project_id, name, slug, description, state, version, created_at, updated_at"
READ = text(f"""
    select {COLUMNS} from projects where org_id = :org_id and project_id = :project_id and state <> 'deleted'
""")  # noqa: S608  (a constant of ours)
LIST = text(f"""
    select {COLUMNS} from projects
    where org_id = :org_id and project_id in ({READABLE_PROJECTS}) and project_id < coalesce(:before, '~')
    order by project_id desc limit :limit
""")  # noqa: S608  (constants of ours)
INSERT = text(f"""
    insert into projects
        (org_id, project_id, name, name_key, slug, description, state, version, created_at, updated_at)
    values (:org_id, :project_id, :name, :name_key, :slug, :description, 'active', 1, :now, :now)
    returning {COLUMNS}
""")  # noqa: S608  (a constant of ours)
UPDATE = text(f"""
    update projects
    set name = :name, name_key = :name_key, slug = :slug, description = :description, state = :state,
        version = version + 1, updated_at = :now
    where org_id = :org_id and project_id = :project_id
    returning {COLUMNS}
""")  # noqa: S608  (a constant of ours)
TAKEN = text("""
    select name_key = :name_key as by_name from projects
    where org_id = :org_id and project_id <> :project_id and state <> 'deleted'
      and (name_key = :name_key or slug = :slug)
    order by by_name desc limit 1
""")
SLUGS = text("""
    select slug from projects where org_id = :org_id and state <> 'deleted' and (slug = :slug or slug like :numbered)
""")

# Derived rows of a project; published Memories, Organization commits, Reviews and audit stay.
DERIVED = (
    text("delete from org_selections where org_id = :org_id and project_id = :project_id"),
    text("delete from projection_versions where org_id = :org_id and project_id = :project_id"),
    text("delete from project_memories where org_id = :org_id and project_id = :project_id"),
    text("delete from tree_buckets where org_id = :org_id and owner_id = :project_id"),
    text("delete from commits where org_id = :org_id and project_id = :project_id and scope = 'project'"),
    text("delete from project_refs where org_id = :org_id and project_id = :project_id"),
    text("delete from project_members where org_id = :org_id and project_id = :project_id"),
)


def read_project(connection: Connection, org_id: OrganizationId, project_id: ProjectId) -> ProjectDetails:
    """A project that is not deleted; who may see it is asked by `models.store.access`.

    Raises:
        NotFound: there is none.
    """
    row = connection.execute(READ, {"org_id": org_id, "project_id": project_id}).one_or_none()
    if row is None:
        raise NotFound("There is no such project.")
    return ProjectDetails(*row)


def list_projects(
    connection: Connection, org_id: OrganizationId, user_id: UserId, *, before: str | None, limit: int
) -> list[ProjectDetails]:
    """The projects the user may read, newest first, those older than `before`."""
    names = {"org_id": org_id, "user_id": user_id, "before": before, "limit": limit}
    rows = connection.execute(LIST, names)
    return [ProjectDetails(*row) for row in rows]


def create_project(tx: Transaction, *, name: str, slug: str | None, description: str) -> ProjectDetails:
    """Make a project with its ref; the actor becomes its admin. Call it under the coordination row.

    Raises:
        AlreadyExists: the name or the given slug is taken.
    """
    values = {
        "org_id": tx.org_id,
        "project_id": new_project_id(),
        "name": name,
        "name_key": name_key(name),
        "slug": slug or _free_slug(tx, slug_of(name)),
        "description": description,
        "now": tx.now,
    }
    _require_free(tx, values)
    project = ProjectDetails(*tx.connection.execute(INSERT, values).one())
    tx.connection.execute(
        text("""
            insert into project_refs (org_id, project_id, version, selection_revision, updated_at)
            values (:org_id, :project_id, 0, 0, :now)
        """),
        values,
    )
    record_audit(tx, "project.create", "project", project.project_id)
    append_event(
        tx, "project.created", "project", project.project_id, project_id=project.project_id, version=project.version
    )
    role: ProjectRole = "admin"
    add_member(tx, project.project_id, tx.actor_id, role)
    return project


def change_project(tx: Transaction, before: ProjectDetails, change: ProjectChange) -> ProjectDetails:
    """Change a project, under the coordination row and its own lock; equal values change nothing.

    Raises:
        AlreadyExists: the name or slug is taken.
    """
    changed: list[JsonValue] = [
        field for field in ("name", "slug", "description", "state") if getattr(before, field) != getattr(change, field)
    ]
    if not changed:
        return before
    values = {
        "org_id": tx.org_id,
        "project_id": before.project_id,
        "name": change.name,
        "name_key": name_key(change.name),
        "slug": change.slug,
        "description": change.description,
        "state": change.state,
        "now": tx.now,
    }
    _require_free(tx, values)
    if before.state != change.state:
        lock_access(tx.connection, tx.org_id, before.project_id)
    project = ProjectDetails(*tx.connection.execute(UPDATE, values).one())
    record_audit(
        tx, "project.update", "project", project.project_id, detail={"changed": changed, "state": project.state}
    )
    append_event(
        tx, "project.updated", "project", project.project_id, project_id=project.project_id, version=project.version
    )
    return project


def delete_project(tx: Transaction, project_id: ProjectId) -> None:
    """Leave a tombstone of a project, and neither derived rows nor memories, under the coordination row and its lock.

    What is open in it is closed before, by `activities.closing`.
    """
    clear_project(tx, project_id)
    names = {"org_id": tx.org_id, "project_id": project_id, "now": tx.now}
    for statement in DERIVED:
        tx.connection.execute(statement, names)
    tx.connection.execute(
        text("""
            update projects set state = 'deleted', version = version + 1, updated_at = :now
            where org_id = :org_id and project_id = :project_id
        """),
        names,
    )
    record_audit(tx, "project.delete", "project", project_id)
    append_event(tx, "project.deleted", "project", project_id, project_id=project_id)


def _require_free(tx: Transaction, values: dict[str, object]) -> None:
    by_name = tx.connection.execute(TAKEN, values).scalar_one_or_none()
    if by_name is not None:
        field = "name" if by_name else "slug"
        raise AlreadyExists(f"Another project of the organization has this {field}.", field=field)


def _free_slug(tx: Transaction, slug: str) -> str:
    taken = set(
        tx.connection.execute(SLUGS, {"org_id": tx.org_id, "slug": slug, "numbered": f"{slug[:90]}%"}).scalars()
    )
    return next(candidate for candidate in _slugs(slug) if candidate not in taken)


def _slugs(slug: str) -> Iterator[str]:
    yield slug
    yield from (numbered_slug(slug, number) for number in islice(count(2), SLUG_ATTEMPTS))
    yield new_project_id().replace("_", "-")
