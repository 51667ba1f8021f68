"""Projects: members see theirs, owners and admins all (tenancy.md)."""

from activities.closing import close_project_work
from api.answers import Answer, answer, nothing
from api.calls import Read, Write
from api.headers import require_match
from api.lookups import find_project
from api.paging import Paging
from api.routing import Routes
from models.errors import AlreadyExists, ProjectArchived
from models.schemas.common import ListQuery, NoParameters, Page
from models.schemas.tenancy import CreateProject, ProjectView, UpdateProject
from models.store.access import ProjectAccess
from models.store.locks import lock_coordination, lock_project
from models.store.projects import ProjectChange, ProjectDetails, change_project, read_project
from models.store.projects import create_project as make_project
from models.store.projects import delete_project as remove_project
from models.store.projects import list_projects as projects_for

routes = Routes("projects")


@routes.read("/projects", answers=Page[ProjectView], query=ListQuery)
def list_projects(call: Read) -> Answer:
    """The projects the caller may read, newest first."""
    who = call.principal
    paging = Paging(call.query(ListQuery), "projects", who.org_id, who.user_id)
    rows = projects_for(call.connection, who.org_id, who.user_id, before=paging.after_id, limit=paging.fetch)
    page = paging.page(Page[ProjectView], rows, show=ProjectView.model_validate, position=lambda row: [row.project_id])
    return answer(page)


@routes.write("POST", "/projects", accepts=CreateProject, answers=ProjectView, etag=True, problems=(AlreadyExists,))
def create_project(call: Write) -> Answer:
    """Make a project; its creator becomes its admin."""
    lock_coordination(call.connection, call.principal.org_id)
    body = call.body(CreateProject)
    return _answer(make_project(call.tx, name=body.name, slug=body.slug, description=body.description), status=201)


@routes.read("/projects/{project_id}", answers=ProjectView, etag=True)
def get_project(call: Read, project_id: str) -> Answer:
    """A project."""
    access = find_project(call, project_id)
    call.query(NoParameters)
    return _answer(read_project(call.connection, call.principal.org_id, access.project_id))


@routes.write(
    "PATCH",
    "/projects/{project_id}",
    accepts=UpdateProject,
    answers=ProjectView,
    if_match=True,
    etag=True,
    problems=(ProjectArchived, AlreadyExists),
)
def update_project(call: Write, project_id: str) -> Answer:
    """Change a project, archive it or make it active again; its admins, owners and admins."""
    access, project = _locked(call, project_id)
    access.require_manage()
    body = call.body(UpdateProject)
    require_match("project", call.if_match_version(), project.version)
    change = ProjectChange(
        name=body.name or project.name,
        slug=body.slug or project.slug,
        description=project.description if body.description is None else body.description,
        state=body.state or project.state,
    )
    if change.state == "archived" and change != ProjectChange.none(project):
        access.require_active()
    return _answer(change_project(call.tx, project, change))


@routes.write("DELETE", "/projects/{project_id}", if_match=True)
def delete_project(call: Write, project_id: str) -> Answer:
    """Remove a project with its memories: open Drafts are discarded, Reviews withdrawn; what it published stays."""
    access, project = _locked(call, project_id)
    access.require_manage()
    call.no_body()
    require_match("project", call.if_match_version(), project.version)
    close_project_work(call.tx, access.project_id)
    remove_project(call.tx, access.project_id)
    call.wakes_delivery = True
    return nothing()


def _locked(call: Write, project_id: str) -> tuple[ProjectAccess, ProjectDetails]:
    """The project under its locks, as its roles and state will stay until COMMIT."""
    lock_coordination(call.connection, call.principal.org_id)
    access = find_project(call, project_id)
    lock_project(call.connection, call.principal.org_id, access.project_id)
    return access, read_project(call.connection, call.principal.org_id, access.project_id)


def _answer(project: ProjectDetails, *, status: int = 200) -> Answer:
    return answer(ProjectView.model_validate(project), status=status, version=project.version)
