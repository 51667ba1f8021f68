"""Structured memories for tests of the store: places, envelopes, and rows made by the product's own statements."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from models.database import connect
from models.identifiers import OrganizationId, ProjectId, UserId, WorkstreamId
from models.rules.structured_fields import MemoryInput, MemoryType
from models.rules.visibility import Envelope, Place
from models.settings import Settings
from models.store.structured import Actor, Surface
from models.store.structured_saves import Saved, save_memory
from tests.databases import url_of
from tests.rows import Somewhere

GLOBAL = Place("global", "")


@contextmanager
def a_connection(place: Somewhere, *, lock_timeout_ms: int = 8_000) -> Iterator[psycopg.Connection]:
    """A connection of psycopg's own, as the hot path has; it commits each statement."""
    connection = connect(
        url_of(place.engine), Settings(lock_timeout_ms=lock_timeout_ms), application_name="canonry-test"
    )
    try:
        yield connection
    finally:
        connection.close()


def an_actor(place: Somewhere, user_id: UserId | None = None, surface: Surface = "rest") -> Actor:
    return Actor(place.org_id, user_id or place.owner, "test", surface)


def of_user(user_id: UserId) -> Place:
    return Place("user", user_id)


def of_project(project_id: ProjectId) -> Place:
    return Place("project", project_id)


def of_workstream(workstream_id: WorkstreamId) -> Place:
    return Place("workstream", workstream_id)


def seeing(org_id: OrganizationId, *places: Place) -> Envelope:
    """An envelope that reads and writes these places."""
    return Envelope(org_id, places, places)


def a_memory(
    name: str = "a_name",
    content: str = "Some content.",
    *,
    description: str = "What it is.",
    type: MemoryType | None = None,  # noqa: A002  (the field's name in the contract)
) -> MemoryInput:
    return MemoryInput(name, description, content, type)


def saved(
    connection: psycopg.Connection,
    place: Somewhere,
    where: Place = GLOBAL,
    memory: MemoryInput | None = None,
    *,
    actor: UserId | None = None,
    if_match: int | None = None,
    must_be_new: bool = False,
) -> Saved:
    """Save, by somebody who sees that place alone."""
    return save_memory(
        connection,
        an_actor(place, actor),
        seeing(place.org_id, where),
        where,
        memory or a_memory(),
        if_match=if_match,
        must_be_new=must_be_new,
    )
