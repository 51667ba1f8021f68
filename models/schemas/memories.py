"""Memory as it was, as it became, and as a project's member may read it now (publication.md §5)."""

import re
import unicodedata
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainValidator

from models.rules.instants import read_instant
from models.rules.paths import broken_length_rule
from models.schemas.commits import MemoryBody, MemoryStatus, MemoryWithContent
from models.schemas.common import FLAG, Instant, ListQuery, Optional, Output, Page, Query, Text, broken

Moment = str | int | datetime
"""A commit by its id, a version by its number, or a time."""

_COMMIT_ID = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"v([1-9]\d{0,8})", re.ASCII)


def parse_moment(raw: object) -> Moment:
    """What `at` names."""
    if not isinstance(raw, str):
        raise broken("type")
    if _COMMIT_ID.fullmatch(raw):
        return raw
    version = _VERSION.fullmatch(raw)
    if version:
        return int(version[1])
    read = read_instant(raw)
    if read is None:
        raise broken("not_a_moment")
    return read


At = Annotated[
    Moment,
    PlainValidator(parse_moment, json_schema_input_type=str),
    Field(description="as of a commit id, `v<version>` of the organization, or an RFC 3339 time"),
]


def _place(raw: str) -> str:
    if rule := broken_length_rule(raw):
        raise broken(rule)
    return unicodedata.normalize("NFC", raw)


class MemoryQuery(Query):
    """As of when."""

    at: Optional[At] = None


class MemoriesQuery(ListQuery):
    """Which published Memories, as of when."""

    status: MemoryStatus = "active"
    at: Optional[At] = None
    path: Annotated[
        Optional[Annotated[Text, AfterValidator(_place)]], Field(description="only what stands at exactly this path")
    ] = None


class MemoriesPage(Page[MemoryBody]):
    """A page of Memories; as of a moment, with the commit that was current then."""

    commit_id: str | None = None


class MemoryThen(MemoryWithContent):
    """A published Memory with its text; as of a moment, with the commit that was current then."""

    commit_id: str | None = None


Change = Literal["created", "body", "description", "path", "deleted", "restored"]


class MemoryChange(Output):
    """What a publication did to a Memory, and where it stood afterwards, or last."""

    version: int
    commit_id: str
    created_at: Instant
    author_id: str
    review_id: str | None
    change: list[Change]
    path: str
    content_hash: str


class InstalledFrom(Output):
    """An entry that is as a Project Commit has it."""

    commit_id: str


class ProposedBy(Output):
    """An entry that is as a Draft of the caller has it."""

    draft_id: str
    draft_version: int


class EffectiveQuery(ListQuery):
    """Which page, and whether with texts."""

    content: Annotated[bool, FLAG, Field(description="with the texts")] = False


class EffectiveMemory(Output):
    """A Memory as the caller may read it in a project now; `content` where it is asked for."""

    memory_id: str
    path: str
    description: str
    content_hash: str
    provenance: InstalledFrom | ProposedBy
    content: Optional[str] = None


class ProjectMemoryItem(Output):
    """A project-scoped resource of an older system, without its text."""

    memory_id: str
    path: str
    name: str
    description: str
    content_hash: str
    created_at: Instant
    updated_at: Instant


class ProjectMemoryBody(ProjectMemoryItem):
    """A project-scoped resource of an older system."""

    content: str
