"""Organizations of any size, filled by one publication through the product's own store functions."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, insert, text

from models.identifiers import (
    MemoryId,
    OrganizationId,
    ProjectId,
    final_id,
    new_project_id,
    new_provisional_id,
    new_review_id,
)
from models.rules.hashes import body_of, bucket_of
from models.rules.roles import Permission
from models.rules.states import MemoryState
from models.store.commits import (
    StoredCommit,
    advance_organization_ref,
    organization_commit_fields,
    organization_ref,
    write_commits,
)
from models.store.memories import write_blobs, write_states
from models.store.organizations import NewOrganization, create_organization
from models.store.projections import CommitCause, ProjectionChange, refresh_projections, select_memories
from models.store.trees import rehash_organization
from models.tables import Project, ProjectRef
from tests.rows import Somewhere, acting, an_organization

SENTENCE = "A sentence as it stands in many a document. "
SENTENCES = 14
FOLDER_SIZE = 50

# What a workflow tells operators after it has recorded a Review takes less.
SETTLE_S = 0.05


@dataclass(frozen=True)
class Library:
    """An organization with Memories; `place.project_id` selects all of them."""

    place: Somewhere
    memory_ids: Sequence[MemoryId]


def a_library(engine: Engine, size: int) -> Library:
    """Publish `size` Memories of some 600 characters, fifty a folder, as one commit."""
    place = an_organization(engine)
    documents = {final_id(new_provisional_id()): _content(number) for number in range(size)}
    states = {
        memory_id: MemoryState(f"folder-{number // FOLDER_SIZE}/{number}.md", f"Document {number}", body_of(content))
        for number, (memory_id, content) in enumerate(documents.items())
    }
    with acting(place) as tx:
        write_blobs(tx, {body_of(content): content for content in documents.values()})
        write_states(tx, states, 1)
        tree_id = rehash_organization(tx, {bucket_of(memory_id) for memory_id in states})
        fields = organization_commit_fields(
            tx, version=1, parent=None, tree_id=tree_id, message="Everything", review_id=new_review_id()
        )
        commit = StoredCommit.of(fields)
        write_commits(tx, [commit])
        advance_organization_ref(tx, commit)
    library = Library(place, list(states))
    select(library, [place.project_id], library.memory_ids)
    return library


def further_projects(library: Library, number: int) -> list[ProjectId]:
    """Add projects that select nothing yet."""
    place = library.place
    project_ids = [new_project_id() for _ in range(number)]
    with acting(place) as tx:
        written = {"org_id": place.org_id, "updated_at": tx.now}
        tx.connection.execute(
            insert(Project),
            [
                written | {"project_id": each, "name": each, "name_key": each, "slug": each, "created_at": tx.now}
                for each in project_ids
            ],
        )
        tx.connection.execute(insert(ProjectRef), [written | {"project_id": each} for each in project_ids])
    return project_ids


def select(library: Library, project_ids: Sequence[ProjectId], memory_ids: Sequence[MemoryId]) -> None:
    """Let every one of the projects use the Memories too."""
    with acting(library.place) as tx:
        for project_id in project_ids:
            select_memories(tx, project_id, memory_ids)
        commit_id, _ = organization_ref(tx.connection, tx.org_id)
        change = ProjectionChange(dict.fromkeys(project_ids, memory_ids), absent={}, reselected=project_ids)
        refresh_projections(tx, change, CommitCause(commit_id, message="", review_id=None))


def settle(engine: Engine, org_id: OrganizationId) -> None:
    """Wait until the workflows of all Reviews have recorded what happened to them, which would meet what comes next."""
    pending = text("select exists (select from reviews where org_id = :org_id and refresh_pending)")
    while True:
        with engine.connect() as connection:
            unsettled = connection.execute(pending, {"org_id": org_id}).scalar_one()
        time.sleep(SETTLE_S)
        if not unsettled:
            return


def with_an_owner(engine: Engine, *permissions: Permission) -> NewOrganization:
    """A new organization, whose owner's token has these permissions."""
    with engine.begin() as connection:
        return create_organization(
            connection,
            name="Bench",
            owner_name="Owner",
            owner_email=None,
            permissions=[*permissions],
            request_id="bench",
        )


def vacuum(engine: Engine) -> None:
    """Bring statistics and visibility up to date, as the server does by itself some minutes after a bulk load."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("vacuum analyze"))


def _content(number: int) -> str:
    return f"# Document {number}\n\n{SENTENCE * SENTENCES}\n"
