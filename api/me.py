"""Who asks (tenancy.md)."""

from api.answers import Answer, answer
from api.calls import Read
from api.routing import Routes
from models.rules.roles import in_order
from models.schemas.common import NoParameters
from models.schemas.tenancy import Membership, MeView, OrganizationSummary, UserSummary
from models.store.members import memberships
from models.store.organizations import read_organization
from models.store.users import read_user

routes = Routes("me")


@routes.read("/me", answers=MeView)
def get_me(call: Read) -> Answer:
    """The token's user, organization, role, projects and permissions; any token."""
    call.query(NoParameters, permission=None)
    who = call.principal
    organization = read_organization(call.connection, who.org_id)
    view = MeView(
        user=UserSummary.model_validate(read_user(call.connection, who.org_id, who.user_id)),
        organization=OrganizationSummary(organization_id=organization.org_id, name=organization.name),
        role=who.role,
        projects=[Membership.model_validate(row) for row in memberships(call.connection, who.org_id, who.user_id)],
        permissions=in_order(list(who.permissions)),
    )
    return answer(view)
