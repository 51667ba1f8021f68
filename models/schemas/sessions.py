"""Workstreams and sessions over HTTP (tenancy.md)."""

from typing import Annotated

from pydantic import Field

from models.rules.visibility import SessionKind
from models.schemas.common import Id, Input, Instant, Optional, Output, Text

MAX_WORKSTREAM_TITLE = 200

WorkstreamTitle = Annotated[Text, Field(max_length=MAX_WORKSTREAM_TITLE)]
"""What a workstream is called; two may share one."""

Attached = Annotated[Id | None, Field(description="null: none")]
"""A project whose member the user is."""


class CreateWorkstream(Input):
    """A new workstream of whoever asks."""

    title: WorkstreamTitle = ""
    project_id: Attached = None
    memory_enabled: bool = Field(default=True, description="the persona memory lever")


class UpdateWorkstream(Input):
    """What may be changed of a workstream; what is left out stays."""

    title: Optional[WorkstreamTitle] = None
    project_id: Attached = None
    memory_enabled: Optional[bool] = Field(default=None, description="the persona memory lever; it holds at once")


class WorkstreamView(Output):
    """A workstream."""

    workstream_id: str
    owner_id: str
    title: str
    project_id: str | None
    memory_enabled: bool
    version: int
    created_at: Instant
    updated_at: Instant


class CreateSession(Input):
    """A new session; a workstream is made for an interactive one that names none."""

    kind: SessionKind
    workstream_id: Optional[Id] = None
    project_id: Attached = Field(default=None, description="by default the workstream's; null: none")
    read_only: bool = False
    acting_user_id: Optional[Id] = Field(default=None, description="who acts in it; needs `service`")


class SessionView(Output):
    """A session, which never changes."""

    session_id: str
    kind: SessionKind
    user_id: str
    opened_by: str
    workstream_id: str | None
    project_id: str | None
    read_only: bool
    created_at: Instant
