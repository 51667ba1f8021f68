"""What each workflow starts from, and carries over when it continues as new; additive only.

Apart from the workflow modules, so that the sandbox passes these classes through instead of building them again
for every run.
"""

from pydantic.dataclasses import dataclass

from activities.messages import Command


@dataclass
class ReviewState:
    """What a Review's workflow knows: its address, what it last showed to operators, the commands not yet done."""

    org_id: str
    review_id: str
    project_id: str
    title: str = ""
    status: str = ""
    commands: tuple[Command, ...] = ()


@dataclass
class LaneState:
    """Whose merges a lane publishes, in which portions, and the operations not yet done, in order of arrival."""

    org_id: str
    batch_size: int
    max_batches: int
    pending: tuple[str, ...] = ()


@dataclass
class ProjectionState:
    """Whose selection is changed, and the commands not yet done."""

    org_id: str
    project_id: str
    commands: tuple[Command, ...] = ()


@dataclass
class ImportState:
    """Its command until that is done; which import it is, for operators: the input is what they see of a run first."""

    org_id: str
    project_id: str
    import_id: str
    commands: tuple[Command, ...] = ()


@dataclass
class ReconciliationState:
    """Which Draft is reconciled, the commands not yet done, and whether it fell behind since it was last looked at."""

    org_id: str
    project_id: str
    draft_id: str
    commands: tuple[Command, ...] = ()
    behind: bool = False
