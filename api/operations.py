"""Operations: what became of a command (publication.md §6)."""

from api.calls import Held, Read
from api.routing import Routes
from models.errors import NotFound
from models.identifiers import OperationId
from models.schemas.operations import OperationView, WaitQuery
from models.store.access import ADMINISTRATORS
from models.store.operations import read_operation

routes = Routes("operations")


@routes.poll("/operations/{operation_id}", answers=OperationView, query=WaitQuery)
def get_operation(call: Read, operation_id: str) -> Held:
    """An operation, for its caller, owners and admins; with `wait`, held until it is finished."""
    operation = read_operation(call.connection, call.principal.org_id, OperationId(operation_id))
    if operation is None or not (operation.user_id == call.principal.user_id or call.principal.role in ADMINISTRATORS):
        raise NotFound("There is no such operation.")
    return Held(operation, call.query(WaitQuery).wait)
