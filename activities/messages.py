"""What crosses Temporal between workflows and activities: ids, versions and hashes, never bodies; additive only."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """A frozen message."""

    model_config = ConfigDict(frozen=True)


class Command(Message):
    """One operation to carry out."""

    org_id: str
    operation_id: str
    kind: str = ""


class CommandOutcome(Message):
    """What became of it: `finished` is false when it has to be tried again, after an unforeseen failure.

    Of a command in several steps it is false as well when one is done (`advanced`) and others are left.
    """

    finished: bool
    succeeded: bool = False
    review_id: str = ""
    advanced: bool = False


class ImportBatch(Message):
    """A batch of an import's plan, from 0, that is to become a Draft."""

    command: Command
    batch: int


class ImportStep(Message):
    """How far an import is after a step.

    `finished`: its operation has its outcome. Otherwise `advanced` is false when the step has to be tried again, or the
    plan was given up; and `next_batch` is the first that is no Draft yet, `batches` if all are.
    """

    finished: bool
    advanced: bool = False
    batches: int = 0
    next_batch: int = 0


class PublishBatch(Message):
    """Merges of one organization, in their order of arrival."""

    org_id: str
    operation_ids: tuple[str, ...]


class PublishedBatch(Message):
    """What the batch left over, in order, and the Reviews whose rows changed."""

    remaining: tuple[str, ...] = ()
    review_ids: tuple[str, ...] = ()


class ReviewAddress(Message):
    """Which Review."""

    org_id: str
    review_id: str


class ReviewTimers(Message):
    """A Review whose timer is due, by the clock of its workflow, and which lane a merge goes to."""

    org_id: str
    review_id: str
    now: datetime
    publication_workflow_id: str


class DraftAddress(Message):
    """Which Draft."""

    org_id: str
    draft_id: str


class ReviewView(Message):
    """What a Review's workflow knows of its row; `exists` is false before a submit has succeeded."""

    exists: bool
    status: str = ""
    title: str = ""
    project_id: str = ""
    version: int = 0
    next_timer_at: datetime | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing can happen to it any more."""
        return self.status in ("withdrawn", "merged")


class RetentionTurn(Message):
    """What to remove now, by the name of the step, and after which organization it goes on."""

    step: str = "keys"
    after_org_id: str = ""
    removed: int = 0


class IndexOwners(Message):
    """The processes that keep a search index, each by the task queue on which it repairs its own."""

    task_queues: tuple[str, ...] = ()


class RepairTurn(Message):
    """After which memory an index's repair goes on, and what it came to so far.

    `ready` is false where the index is being rebuilt, which repairs it as well; `finished` when all has been compared.
    """

    after_org_id: str = ""
    after_memory_id: str = ""
    compared: int = 0
    added: int = 0
    removed: int = 0
    ready: bool = True
    finished: bool = False


class IndexRepair(Message):
    """What became of one owner's index: `repaired`, `rebuilding`, or `gone` where its process does not answer."""

    task_queue: str
    outcome: str
    compared: int = 0
    added: int = 0
    removed: int = 0


class IndexRepairs(Message):
    """What became of every owner's index."""

    repairs: tuple[IndexRepair, ...] = ()
