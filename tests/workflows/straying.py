"""A workflow that drags a library into the sandbox, to show that it is reported."""

import rich
from temporalio import workflow


@workflow.defn
class StrayingWorkflow:
    @workflow.run
    async def run(self) -> str:
        return rich.__name__
