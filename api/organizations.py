"""Organizations: a service token makes them, owners and admins run theirs (tenancy.md)."""

from dataclasses import replace

from api.answers import Answer, answer
from api.calls import Read, Write
from api.headers import require_match
from api.routing import Routes
from models.errors import IdempotencyKeyUsed, NotFound
from models.rules.roles import Permission
from models.schemas.common import NoParameters
from models.schemas.tenancy import (
    CreateOrganization,
    NewOrganizationView,
    OrganizationSummary,
    OrganizationView,
    OwnerToken,
    PathOwners,
    UpdateOrganization,
    UserView,
)
from models.store.audit import record_audit
from models.store.locks import lock_coordination
from models.store.organizations import (
    NewOrganization,
    OrganizationRow,
    change_organization,
    read_organization,
)
from models.store.organizations import create_organization as make_organization

OWNER_PERMISSIONS: list[Permission] = ["read", "write", "admin.memories"]

routes = Routes("organizations")


@routes.write(
    "POST",
    "/admin/organizations",
    accepts=CreateOrganization,
    answers=NewOrganizationView,
    problems=(IdempotencyKeyUsed,),
)
def create_organization(call: Write) -> Answer:
    """Make an organization with its owner; needs a token with `service`."""
    body = call.body(CreateOrganization, permission="service")
    made = make_organization(
        call.connection,
        name=body.name,
        owner_name=body.owner.name,
        owner_email=body.owner.email,
        permissions=OWNER_PERMISSIONS,
        request_id=call.tx.request_id,
        actor_id=call.tx.actor_id,
        global_write=call.incoming.services.settings.memory.global_write,
    )
    created = made.organization.org_id
    record_audit(call.tx, "organization.create", "organization", created)
    return answer(_new_view(made), status=201, secret=True)


@routes.read("/admin/organization", answers=OrganizationView, etag=True)
def get_organization(call: Read) -> Answer:
    """The caller's organization and its policies; owners and admins."""
    call.require_administrator()
    call.query(NoParameters)
    return _answer(read_organization(call.connection, call.principal.org_id))


@routes.write(
    "PATCH",
    "/admin/organization",
    accepts=UpdateOrganization,
    answers=OrganizationView,
    if_match=True,
    etag=True,
    problems=(NotFound,),
)
def update_organization(call: Write) -> Answer:
    """Change the name or the policies of the caller's organization; owners and admins."""
    lock_coordination(call.connection, call.principal.org_id)
    call.require_administrator()
    body = call.body(UpdateOrganization)
    expected = call.if_match_version()
    organization = read_organization(call.connection, call.principal.org_id)
    require_match("organization", expected, organization.version)
    changed = change_organization(call.tx, organization, _with(organization, body))
    call.wakes_delivery = True
    return _answer(changed)


def _with(organization: OrganizationRow, body: UpdateOrganization) -> OrganizationRow:
    """The organization as it is to be: what was sent, null included, in place of what is."""
    sent = body.model_dump(include=body.model_fields_set)
    return replace(organization, **sent)


def _answer(row: OrganizationRow) -> Answer:
    view = OrganizationView(
        organization_id=row.org_id,
        name=row.name,
        required_approvals=row.required_approvals,
        allow_self_approval=row.allow_self_approval,
        path_owners=[PathOwners.model_validate(owners) for owners in row.path_owners],
        review_reminder_after=row.review_reminder_after,
        review_expires_after=row.review_expires_after,
        global_write=row.global_write,
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
    return answer(view, version=row.version)


def _new_view(made: NewOrganization) -> NewOrganizationView:
    issued = made.token
    return NewOrganizationView(
        organization=OrganizationSummary(organization_id=made.organization.org_id, name=made.organization.name),
        owner=UserView.model_validate(made.owner),
        token=OwnerToken(token_id=issued.token.token_id, secret=issued.secret, permissions=issued.token.permissions),
    )
