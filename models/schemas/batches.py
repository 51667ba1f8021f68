"""Operations on several Drafts in one request (publication.md §6)."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from models.schemas.common import Id, Input, Output, Text, broken
from models.schemas.drafts import MAX_OPERATIONS_A_REQUEST, OperationInput, Version

MAX_LOCAL_ID_CHARACTERS = 200

_VISIBLE = re.compile(r"[\x21-\x7e]*", re.ASCII)


def _visible(raw: str) -> str:
    if not _VISIBLE.fullmatch(raw):
        raise broken("visible_ascii")
    return raw


LocalOperationId = Annotated[Text, Field(min_length=1, max_length=MAX_LOCAL_ID_CHARACTERS), AfterValidator(_visible)]
"""A client's own name of an operation: 1-200 visible ASCII characters."""


class BatchItem(Input):
    """An operation on a Draft at the version that it had before the batch."""

    local_operation_id: LocalOperationId
    draft_id: Id
    expected_draft_version: Version
    operation: OperationInput


class AppendBatch(Input):
    """Operations on Drafts, in order; all of them are accepted, or none."""

    operations: Annotated[list[BatchItem], Field(min_length=1, max_length=MAX_OPERATIONS_A_REQUEST)]


class AcceptedOperation(Output):
    """What an operation became; `version` is the Draft's after the batch that accepted it."""

    local_operation_id: str
    operation_id: str
    draft_id: str
    version: int


class AcceptedBatch(Output):
    """What the operations of a batch became, in its order."""

    accepted: list[AcceptedOperation]
