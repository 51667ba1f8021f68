"""Identifiers: a prefix that names the kind, then a UUIDv7 in hex, so that ids sort by creation."""

import os
import re
import time
from typing import NewType
from uuid import UUID

OrganizationId = NewType("OrganizationId", str)
UserId = NewType("UserId", str)
TokenId = NewType("TokenId", str)
ProjectId = NewType("ProjectId", str)
MemoryId = NewType("MemoryId", str)
DraftId = NewType("DraftId", str)
ReviewId = NewType("ReviewId", str)
ApprovalId = NewType("ApprovalId", str)
CommentId = NewType("CommentId", str)
OperationId = NewType("OperationId", str)
DraftOperationId = NewType("DraftOperationId", str)
AuditEventId = NewType("AuditEventId", str)
CommitId = NewType("CommitId", str)
ImportId = NewType("ImportId", str)
CandidateId = NewType("CandidateId", str)
TreeId = NewType("TreeId", str)
BlobId = NewType("BlobId", str)
WorkstreamId = NewType("WorkstreamId", str)
SessionId = NewType("SessionId", str)
InjectionId = NewType("InjectionId", str)
StructuredMemoryId = NewType("StructuredMemoryId", str)

SYSTEM = UserId("system")
"""Who acts where nobody does but the clock: reminders, expiry, publications that are skipped."""

PROVISIONAL_PREFIX = "prv_"
MEMORY_PREFIX = "mem_"

_IMPORTABLE_ID = re.compile(r"(mem|ctx|rul|wfl)_[A-Za-z0-9_-]{1,190}", re.ASCII)


def uuid7() -> UUID:
    """A time-ordered UUID, version 7 with 12 bits of its millisecond's fraction (RFC 9562, section 6.2, method 3).

    Rows of one transaction share their time, and lists tell their order by ids that are often made within one
    millisecond.
    """
    milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
    fraction = (nanoseconds << 12) // 1_000_000
    random = int.from_bytes(os.urandom(8), "big")
    return UUID(
        int=(milliseconds & (1 << 48) - 1) << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | random & (1 << 62) - 1
    )


def _new(prefix: str) -> str:
    return prefix + uuid7().hex


def new_organization_id() -> OrganizationId:
    """`org_…`."""
    return OrganizationId(_new("org_"))


def new_user_id() -> UserId:
    """`usr_…`."""
    return UserId(_new("usr_"))


def new_token_id() -> TokenId:
    """`tok_…`."""
    return TokenId(_new("tok_"))


def new_project_id() -> ProjectId:
    """`prj_…`."""
    return ProjectId(_new("prj_"))


def new_provisional_id() -> MemoryId:
    """`prv_…`: names what a Draft creates until it is merged."""
    return MemoryId(_new(PROVISIONAL_PREFIX))


def new_draft_id() -> DraftId:
    """`drf_…`."""
    return DraftId(_new("drf_"))


def new_draft_operation_id() -> DraftOperationId:
    """`dop_…`."""
    return DraftOperationId(_new("dop_"))


def new_import_id() -> ImportId:
    """`imp_…`."""
    return ImportId(_new("imp_"))


def new_review_id() -> ReviewId:
    """`rev_…`."""
    return ReviewId(_new("rev_"))


def new_approval_id() -> ApprovalId:
    """`apr_…`."""
    return ApprovalId(_new("apr_"))


def new_comment_id() -> CommentId:
    """`cmt_…`."""
    return CommentId(_new("cmt_"))


def new_operation_id() -> OperationId:
    """`opn_…`."""
    return OperationId(_new("opn_"))


def new_audit_event_id() -> AuditEventId:
    """`aud_…`."""
    return AuditEventId(_new("aud_"))


def new_workstream_id() -> WorkstreamId:
    """`wks_…`."""
    return WorkstreamId(_new("wks_"))


def new_session_id() -> SessionId:
    """`ses_…`."""
    return SessionId(_new("ses_"))


def new_injection_id() -> InjectionId:
    """`inj_…`."""
    return InjectionId(_new("inj_"))


def new_structured_memory_id() -> StructuredMemoryId:
    """A UUIDv7 in its usual form, without a prefix (memory.md §1)."""
    return StructuredMemoryId(str(uuid7()))


def is_provisional(memory_id: MemoryId) -> bool:
    """Whether the id names something a Draft creates (`prv_…`)."""
    return memory_id.startswith(PROVISIONAL_PREFIX)


def is_importable_id(raw: str) -> bool:
    """Whether an import may give a Memory this id: `mem_`, `ctx_`, `rul_` or `wfl_`, and 1-190 of A-Z, a-z, 0-9, _, -.

    The three others are those of documents that had an id elsewhere.
    """
    return _IMPORTABLE_ID.fullmatch(raw) is not None


def final_id(memory_id: MemoryId) -> MemoryId:
    """The id after the merge: `prv_X` becomes `mem_X`, any other stays (publication.md §2)."""
    if is_provisional(memory_id):
        return MemoryId(MEMORY_PREFIX + memory_id.removeprefix(PROVISIONAL_PREFIX))
    return memory_id
