"""Every table, so that importing the package registers the whole schema."""

from models.tables.drafts import Draft, DraftOperation, DraftOperationReceipt
from models.tables.imports import Import, ImportDraft, ImportFile, ImportOperation, ImportReport
from models.tables.operations import AuditEvent, Event, FeedEpoch, FeedFloor, IdempotencyKey, Operation
from models.tables.publication import (
    Blob,
    Commit,
    Memory,
    MemoryVersion,
    OrganizationRef,
    OrgSelection,
    ProjectionVersion,
    ProjectMemory,
    ProjectRef,
    TreeBucket,
)
from models.tables.reconciliation import DraftBaseState, DraftRevision, ReconciliationCandidate
from models.tables.reviews import (
    Review,
    ReviewApproval,
    ReviewComment,
    ReviewSubmission,
    ReviewSubmissionDraft,
    ReviewSubmissionState,
    ReviewTimelineEvent,
)
from models.tables.sessions import IndexOwner, InjectedMemory, Injection, Nudge, Session, Workstream
from models.tables.structured import StructuredMemory, StructuredMemoryRevision
from models.tables.tenancy import Organization, Project, ProjectMember, Token, User

__all__ = [
    "AuditEvent",
    "Blob",
    "Commit",
    "Draft",
    "DraftBaseState",
    "DraftOperation",
    "DraftOperationReceipt",
    "DraftRevision",
    "Event",
    "FeedEpoch",
    "FeedFloor",
    "IdempotencyKey",
    "Import",
    "ImportDraft",
    "ImportFile",
    "ImportOperation",
    "ImportReport",
    "IndexOwner",
    "InjectedMemory",
    "Injection",
    "Memory",
    "MemoryVersion",
    "Nudge",
    "Operation",
    "OrgSelection",
    "Organization",
    "OrganizationRef",
    "Project",
    "ProjectMember",
    "ProjectMemory",
    "ProjectRef",
    "ProjectionVersion",
    "ReconciliationCandidate",
    "Review",
    "ReviewApproval",
    "ReviewComment",
    "ReviewSubmission",
    "ReviewSubmissionDraft",
    "ReviewSubmissionState",
    "ReviewTimelineEvent",
    "Session",
    "StructuredMemory",
    "StructuredMemoryRevision",
    "Token",
    "TreeBucket",
    "User",
    "Workstream",
]
