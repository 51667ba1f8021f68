"""Everything that has to hold of one organization, family by family."""

from collections.abc import Callable, Iterator, Mapping

from sqlalchemy import Connection

from models.identifiers import OrganizationId
from models.store.verification.audit import check_audit
from models.store.verification.belonging import check_belonging
from models.store.verification.candidates import check_candidates
from models.store.verification.chains import check_chains
from models.store.verification.drafts import check_drafts
from models.store.verification.events import check_events
from models.store.verification.findings import Finding
from models.store.verification.imports import check_imports
from models.store.verification.memories import check_memories
from models.store.verification.merges import check_merges
from models.store.verification.operations import check_operations
from models.store.verification.places import check_places
from models.store.verification.projections import check_projections
from models.store.verification.rebases import check_rebases
from models.store.verification.receipts import check_receipts
from models.store.verification.records import check_records
from models.store.verification.references import check_references
from models.store.verification.replays import check_replays
from models.store.verification.reviews import check_reviews
from models.store.verification.selections import check_selections
from models.store.verification.sessions import check_sessions
from models.store.verification.snapshot import Snapshot
from models.store.verification.structured import check_structured
from models.store.verification.submissions import check_submissions
from models.store.verification.texts import check_texts
from models.store.verification.timers import check_timers
from models.store.verification.trees import check_trees

Check = Callable[[Snapshot], Iterator[Finding]]

FAMILIES: Mapping[str, Check] = {
    "texts": check_texts,
    "references": check_references,
    "commits and refs": check_chains,
    "trees": check_trees,
    "paths": check_places,
    "Memories": check_memories,
    "projections": check_projections,
    "selections": check_selections,
    "Drafts": check_drafts,
    "candidates": check_candidates,
    "rebases": check_rebases,
    "receipts": check_receipts,
    "submissions": check_submissions,
    "replays": check_replays,
    "Reviews": check_reviews,
    "timers": check_timers,
    "merges": check_merges,
    "operations": check_operations,
    "imports": check_imports,
    "structured memories": check_structured,
    "sessions": check_sessions,
    "events": check_events,
    "audit": check_audit,
    "records": check_records,
    "belonging": check_belonging,
}
"""The checks by what a person calls them, in the order in which they are made."""


def verify(connection: Connection, org_id: OrganizationId) -> list[Finding]:
    """Everything that does not hold of an organization, by every check; for organizations that fit into memory."""
    return [finding for check in FAMILIES.values() for finding in check(Snapshot(connection, org_id))]
