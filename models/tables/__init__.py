"""Every table, so that importing the package registers the whole schema."""

from models.tables.drafts import Draft, DraftOperation
from models.tables.imports import Import, ImportDraft, ImportFile, ImportOperation, ImportReport
from models.tables.operations import AuditEvent, Event, FeedEpoch, IdempotencyKey, Operation
from models.tables.publication import (
    Blob,
    Commit,
    Memory,
    MemoryVersion,
    OrganizationRef,
    OrgSelection,
    ProjectionVersion,
    ProjectRef,
    TreeBucket,
)
from models.tables.reviews import (
    Review,
    ReviewApproval,
    ReviewComment,
    ReviewSubmission,
    ReviewSubmissionDraft,
    ReviewSubmissionState,
    ReviewTimelineEvent,
)
from models.tables.tenancy import Organization, Project, ProjectMember, Token, User

__all__ = [
    "AuditEvent",
    "Blob",
    "Commit",
    "Draft",
    "DraftOperation",
    "Event",
    "FeedEpoch",
    "IdempotencyKey",
    "Import",
    "ImportDraft",
    "ImportFile",
    "ImportOperation",
    "ImportReport",
    "Memory",
    "MemoryVersion",
    "Operation",
    "OrgSelection",
    "Organization",
    "OrganizationRef",
    "Project",
    "ProjectMember",
    "ProjectRef",
    "ProjectionVersion",
    "Review",
    "ReviewApproval",
    "ReviewComment",
    "ReviewSubmission",
    "ReviewSubmissionDraft",
    "ReviewSubmissionState",
    "ReviewTimelineEvent",
    "Token",
    "TreeBucket",
    "User",
]
