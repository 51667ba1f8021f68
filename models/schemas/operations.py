"""Operations as clients see them: submit and poll (publication.md §6)."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from models.schemas.common import DIGITS, Instant, Output, Query
from models.store.operations import StoredOperation

MAX_WAIT_S = 30


class Progress(Output):
    """How far an operation is."""

    step: str
    done: int
    total: int


class OperationView(Output):
    """An accepted command: `result` is what a synchronous route would have answered, `problem` why it was refused."""

    operation_id: str
    kind: str
    status: Literal["pending", "running", "succeeded", "failed"]
    progress: Progress
    result: dict[str, JsonValue] | None
    problem: dict[str, JsonValue] | None
    workflow_id: str
    created_at: Instant
    updated_at: Instant

    @classmethod
    def of(cls, row: StoredOperation) -> "OperationView":
        """From its row."""
        return cls.model_validate(
            {
                "operation_id": row.operation_id,
                "kind": row.kind.value,
                "status": row.status,
                "progress": Progress(step=row.progress_step, done=row.progress_done, total=row.progress_total),
                "result": row.result,
                "problem": row.problem,
                "workflow_id": row.workflow_id,
                "created_at": row.created_at,
                "updated_at": row.updated_at,
            }
        )


class WaitQuery(Query):
    """How long to hold the request for the outcome."""

    wait: Annotated[int, Field(ge=0, le=MAX_WAIT_S, description="seconds to wait for the outcome"), DIGITS] = 0
