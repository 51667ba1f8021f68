"""Activities without a database, for tests of what workflows do with their answers."""

import threading
from collections import defaultdict
from collections.abc import Callable

from temporalio import activity

from activities.messages import (
    Command,
    CommandOutcome,
    DraftAddress,
    ImportBatch,
    ImportStep,
    PublishBatch,
    PublishedBatch,
    ReviewAddress,
    ReviewTimers,
    ReviewView,
)

DONE = CommandOutcome(finished=True, succeeded=True)
REFUSED = CommandOutcome(finished=True, succeeded=False)
UNFINISHED = CommandOutcome(finished=False)

OPEN = ReviewView(exists=True, status="open", title="Deployment notes", project_id="prj_1", version=1)
MISSING = ReviewView(exists=False)


def with_status(status: str) -> ReviewView:
    return OPEN.model_copy(update={"status": status})


class ReviewDesk:
    """Answers commands as scripted, `DONE` by default, and shows `view`; what it is asked stands in `calls`.

    `failures` says how often the next timers break down.
    """

    def __init__(self, view: ReviewView = OPEN) -> None:
        self.view = view
        self.calls: list[str] = []
        self.outcomes: dict[str, list[CommandOutcome]] = {}
        self.views_after: dict[str, ReviewView] = {}
        self.timers: list[ReviewTimers] = []
        self.failures = 0
        self.gates: defaultdict[str, threading.Event] = defaultdict(_open_gate)

    @activity.defn
    def perform_review_command(self, command: Command) -> CommandOutcome:
        self.calls.append(command.operation_id)
        self.gates[command.operation_id].wait()
        self.view = self.views_after.get(command.operation_id, self.view)
        scripted = self.outcomes.get(command.operation_id)
        return scripted.pop(0) if scripted else DONE

    @activity.defn
    def read_review(self, address: ReviewAddress) -> ReviewView:  # noqa: ARG002  (there is one)
        self.calls.append("read")
        view = self.view
        self.gates["read"].wait()
        return view

    @activity.defn
    def run_review_timers(self, due: ReviewTimers) -> None:
        self.timers.append(due)
        self.calls.append("timers")
        self.failures -= 1
        if self.failures >= 0:
            raise RuntimeError
        self.view = self.views_after.get("timers", self.view)

    @property
    def commands(self) -> list[str]:
        return [call for call in self.calls if call not in ("read", "timers")]

    @property
    def activities(self) -> list[Callable[..., object]]:
        return [self.perform_review_command, self.read_review, self.run_review_timers]

    @property
    def reads(self) -> int:
        return self.calls.count("read")

    def hold(self, call: str) -> threading.Event:
        """Keep a command, or a read that has seen its view, in hand until the event is set."""
        gate = self.gates[call] = threading.Event()
        return gate


class Press:
    """Publishes nothing; `leaves` says how often an operation is left over; what it is asked stands in `batches`."""

    def __init__(self) -> None:
        self.batches: list[tuple[str, ...]] = []
        self.leaves: dict[str, int] = {}
        self.reviews_of: dict[str, str] = {}
        self.gate = _open_gate()

    @activity.defn
    def publish(self, batch: PublishBatch) -> PublishedBatch:
        self.batches.append(batch.operation_ids)
        self.gate.wait()
        remaining = tuple(operation_id for operation_id in batch.operation_ids if self._leave(operation_id))
        reviews = [self.reviews_of[name] for name in batch.operation_ids if name in self.reviews_of]
        return PublishedBatch(remaining=remaining, review_ids=tuple(reviews))

    @property
    def asked(self) -> list[str]:
        return [operation_id for batch in self.batches for operation_id in batch]

    def _leave(self, operation_id: str) -> bool:
        left = self.leaves.get(operation_id, 0)
        self.leaves[operation_id] = left - 1
        return left > 0


class SelectionDesk:
    """Replaces no selection; what it is asked stands in `calls`."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.outcomes: dict[str, list[CommandOutcome]] = {}
        self.gates: defaultdict[str, threading.Event] = defaultdict(_open_gate)

    @activity.defn
    def replace_selection(self, command: Command) -> CommandOutcome:
        self.calls.append(command.operation_id)
        self.gates[command.operation_id].wait()
        scripted = self.outcomes.get(command.operation_id)
        return scripted.pop(0) if scripted else DONE


class ReconciliationDesk:
    """Reconciles nothing; what it is asked stands in `calls`, the pass after a publication as `follow`.

    `failures` says how often the next passes break down.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.outcomes: dict[str, list[CommandOutcome]] = {}
        self.failures = 0
        self.gates: defaultdict[str, threading.Event] = defaultdict(_open_gate)

    @activity.defn
    def perform_draft_command(self, command: Command) -> CommandOutcome:
        self.calls.append(command.operation_id)
        self.gates[command.operation_id].wait()
        scripted = self.outcomes.get(command.operation_id)
        return scripted.pop(0) if scripted else DONE

    @activity.defn
    def follow_publication(self, address: DraftAddress) -> None:  # noqa: ARG002  (there is one)
        self.calls.append("follow")
        self.gates["follow"].wait()
        self.failures -= 1
        if self.failures >= 0:
            raise RuntimeError

    @property
    def activities(self) -> list[Callable[..., object]]:
        return [self.perform_draft_command, self.follow_publication]


class ImportDesk:
    """Imports nothing, in so many batches; what it is asked stands in `calls`.

    `answers` scripts the next answers to a call, which is `plan`, `draft 0`, … or `finish`.
    """

    def __init__(self, batches: int = 2) -> None:
        self.calls: list[str] = []
        self.answers: dict[str, list[ImportStep | CommandOutcome]] = {}
        self.gates: defaultdict[str, threading.Event] = defaultdict(_open_gate)
        self._batches = batches
        self._drafted = 0

    @activity.defn
    def plan_import(self, command: Command) -> ImportStep:  # noqa: ARG002  (there is one)
        return self._step("plan")

    @activity.defn
    def draft_import_batch(self, batch: ImportBatch) -> ImportStep:
        return self._step(f"draft {batch.batch}", drafted=batch.batch + 1)

    @activity.defn
    def finish_import(self, command: Command) -> CommandOutcome:  # noqa: ARG002  (there is one)
        answer = self._answer("finish")
        return answer if isinstance(answer, CommandOutcome) else DONE

    def _step(self, call: str, drafted: int | None = None) -> ImportStep:
        answer = self._answer(call)
        if isinstance(answer, ImportStep):
            return answer
        self._drafted = self._drafted if drafted is None else drafted
        return ImportStep(finished=False, advanced=True, batches=self._batches, next_batch=self._drafted)

    def _answer(self, call: str) -> ImportStep | CommandOutcome | None:
        self.calls.append(call)
        self.gates[call].wait()
        scripted = self.answers.get(call)
        return scripted.pop(0) if scripted else None

    @property
    def activities(self) -> list[Callable[..., object]]:
        return [self.plan_import, self.draft_import_batch, self.finish_import]


def _open_gate() -> threading.Event:
    gate = threading.Event()
    gate.set()
    return gate
