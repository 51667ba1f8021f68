"""Temporal: whether it answers, which version it is, and whether a worker takes work from it."""

import asyncio
from dataclasses import dataclass

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, GetSystemInfoRequest
from temporalio.service import RPCError, RPCStatusCode

from canonry.diagnosis.lines import Line, bad, ok, warn
from canonry.invocation import command_line
from canonry.wording import counted
from models.settings import Settings
from workflows.temporal_link import IMPATIENT, NO_ANSWER, connect

ANSWER_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class TemporalServer:
    """A server that answers; `pollers` took work from our task queue within the last minutes."""

    version: str
    pollers: int


def temporal_line(settings: Settings, address: str, process: str = "") -> Line:
    """The server at an address, asked as our own processes would.

    Args:
        settings: of the namespace and the task queue.
        address: as host:port.
        process: which process it is, where that is known.
    """
    named = ", ".join(filter(None, (process, address)))
    try:
        server = asyncio.run(_ask(settings.model_copy(update={"temporal_address": address})))
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            advice = f"Make the namespace {settings.temporal_namespace}, or set CANONRY_TEMPORAL_NAMESPACE."
            return bad("temporal", f"{named}, has no namespace {settings.temporal_namespace}", advice)
        return bad(
            "temporal", f"{named}, refuses: {error.status.name}", "Read its log: commands wait until it answers."
        )
    except NO_ANSWER:
        advice = "Start it or check the address: commands are accepted, and wait until it answers."
        return bad("temporal", f"{named}, does not answer", advice)
    text = f"{named}, Temporal {server.version}"
    if not server.pollers:
        advice = f"Start `{command_line('worker')}`: nothing is carried out without one."
        return warn("temporal", f"{text}, no worker has asked for work lately", advice)
    return ok("temporal", f"{text}, {counted(server.pollers, 'worker')}")


async def _ask(settings: Settings) -> TemporalServer:
    async with asyncio.timeout(ANSWER_LIMIT_S):
        client = await connect(settings, retries=IMPATIENT)
        system = await client.workflow_service.get_system_info(GetSystemInfoRequest())
        queue = await client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=settings.temporal_namespace,
                task_queue=TaskQueue(name=settings.task_queue),
                task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
            )
        )
    return TemporalServer(system.server_version, len(queue.pollers))
