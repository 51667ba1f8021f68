"""Workflows that decide otherwise than the recorded ones: replaying a history with them has to fail."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.messages import Command
    from workflows.states import ImportState, LaneState, ProjectionState, ReconciliationState, ReviewState

PAUSE = timedelta(seconds=1)


@workflow.defn(name="ReviewWorkflow")
class ChangedReview:
    @workflow.run
    async def run(self, state: ReviewState) -> None:  # noqa: ARG002  (as the recorded one)
        await workflow.sleep(PAUSE)

    @workflow.signal
    def command(self, command: Command) -> None: ...

    @workflow.signal
    def refresh(self) -> None: ...


@workflow.defn(name="PublicationLane")
class ChangedLane:
    @workflow.run
    async def run(self, state: LaneState) -> None:  # noqa: ARG002  (as the recorded one)
        await workflow.sleep(PAUSE)

    @workflow.signal
    def enqueue(self, command: Command) -> None: ...


@workflow.defn(name="ProjectionWorkflow")
class ChangedProjection:
    @workflow.run
    async def run(self, state: ProjectionState) -> None:  # noqa: ARG002  (as the recorded one)
        await workflow.sleep(PAUSE)

    @workflow.signal
    def command(self, command: Command) -> None: ...


@workflow.defn(name="ImportWorkflow")
class ChangedImport:
    @workflow.run
    async def run(self, state: ImportState) -> None:  # noqa: ARG002  (as the recorded one)
        await workflow.sleep(PAUSE)

    @workflow.signal
    def command(self, command: Command) -> None: ...


@workflow.defn(name="ReconciliationWorkflow")
class ChangedReconciliation:
    @workflow.run
    async def run(self, state: ReconciliationState) -> None:  # noqa: ARG002  (as the recorded one)
        await workflow.sleep(PAUSE)

    @workflow.signal
    def command(self, command: Command) -> None: ...

    @workflow.signal
    def fell_behind(self) -> None: ...


@workflow.defn(name="ReindexWorkflow")
class ChangedReindex:
    @workflow.run
    async def run(self) -> None:
        await workflow.sleep(PAUSE)


@workflow.defn(name="RetentionWorkflow")
class ChangedRetention:
    @workflow.run
    async def run(self) -> None:
        await workflow.sleep(PAUSE)
