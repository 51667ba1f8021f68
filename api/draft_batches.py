"""Operations on several of the caller's Drafts in one request: all or nothing, and safe to send again."""

from collections.abc import Iterator

from activities.batches import BatchedOperation, append_batch
from api.answers import Answer, answer
from api.calls import Write
from api.drafts import proposed_operation
from api.lookups import find_project
from api.mentions import Mentions
from api.routing import Routes
from models.errors import (
    DraftClosed,
    DraftSubmitted,
    DuplicateId,
    MemoryNotSelected,
    NotFound,
    OperationInvalid,
    ProjectArchived,
    TargetMissing,
    VersionConflict,
)
from models.identifiers import DraftId
from models.schemas.batches import AcceptedBatch, AcceptedOperation, AppendBatch
from models.store.own_drafts import own_drafts
from models.store.receipts import known_receipts

routes = Routes("drafts")


@routes.write(
    "POST",
    "/draft-operation-batches",
    accepts=AppendBatch,
    answers=AcceptedBatch,
    status=200,
    problems=(
        NotFound,
        DraftClosed,
        DraftSubmitted,
        ProjectArchived,
        VersionConflict,
        OperationInvalid,
        TargetMissing,
        MemoryNotSelected,
        DuplicateId,
    ),
)
def append_operation_batch(call: Write) -> Answer:
    """Append operations to several Drafts: all of them, or none; each Draft's version grows by one.

    An operation whose `local_operation_id` the caller has used before is answered as the first time.
    """
    _require_named(call)
    body = call.body(AppendBatch)
    receipts = append_batch(
        call.tx,
        [
            BatchedOperation(
                index,
                item.local_operation_id,
                DraftId(item.draft_id),
                item.expected_draft_version,
                proposed_operation(item.operation),
            )
            for index, item in enumerate(body.operations)
        ],
    )
    return answer(AcceptedBatch(accepted=[AcceptedOperation.model_validate(receipt) for receipt in receipts]))


def _require_named(call: Write) -> None:
    """Find the Drafts that something new is to be added to, and ask for the role, before the body is judged."""
    who, named = call.principal, {DraftId(draft_id) for draft_id in _new_in(call)}
    drafts = own_drafts(call.connection, who.org_id, who.user_id, named)
    if named - drafts.keys():
        raise NotFound("There is no such Draft.")
    for project_id in {draft.project_id for draft in drafts.values()}:
        find_project(call, project_id, include_deleted=True, asked_for="Draft").require_write()


def _new_in(call: Write) -> Iterator[str]:
    """The Drafts that operations name which are not known yet."""
    named = [(item.id("local_operation_id"), item.id("draft_id")) for item in Mentions.of(call).objects("operations")]
    names = [name for name, _ in named if name is not None]
    known = known_receipts(call.connection, call.principal.org_id, call.principal.user_id, names)
    for name, draft_id in named:
        if draft_id is not None and name not in known:
            yield draft_id
