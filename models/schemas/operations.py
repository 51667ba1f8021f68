"""Operations as clients see them: submit and poll (publication.md §6)."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from models.schemas.common import DIGITS, Instant, Output, Query

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


class WaitQuery(Query):
    """How long to hold the request for the outcome."""

    wait: Annotated[int, Field(ge=0, le=MAX_WAIT_S, description="seconds to wait for the outcome"), DIGITS] = 0
