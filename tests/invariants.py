"""What holds of an organization after anything at all; every stress and fault test ends with `check_invariants`.

The checks are those of `canonry verify`; tests/integration/test_verify_corruptions.py shows that each can fail.
"""

from sqlalchemy import Engine

from models.identifiers import OrganizationId
from models.store.verification.organization import verify
from models.store.verification.snapshot import reading


def check_invariants(engine: Engine, org_id: OrganizationId) -> None:
    """Assert that verification finds nothing in one organization, on one snapshot."""
    with reading(engine) as connection:
        findings = verify(connection, org_id)
    assert not findings, "\n".join(map(str, findings))
