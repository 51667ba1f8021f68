"""A process's own connection to Temporal, made when it is needed and made again after a failure."""

import asyncio
import ctypes
import logging
import time
from collections.abc import Sequence
from datetime import timedelta
from functools import cache

from temporalio.client import Client
from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import RetryConfig, RPCError, RPCStatusCode

from models.settings import Settings
from workflows.deliveries import Delivery, delivery_id
from workflows.sandbox import DATA_CONVERTER
from workflows.schedules import make_schedules
from workflows.signals import send
from workflows.visibility import register

log = logging.getLogger("canonry.delivery")

PROBE_AFTER_S = 5.0

# A worker's results are not to be lost over a restart of the server. The delivery loop tries again by itself, every
# second, with a new client: retries inside a call would only hide that the server is away.
PATIENT = RetryConfig()
IMPATIENT = RetryConfig(max_retries=1, max_elapsed_time_millis=1_000)

# The client connects within its first call, and reports that as a RuntimeError.
NO_ANSWER = (TimeoutError, OSError, RuntimeError)
NO_ANSWER_STATUS = frozenset(
    {
        RPCStatusCode.CANCELLED,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.INTERNAL,
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.UNKNOWN,
    }
)


async def connect(settings: Settings, *, lazy: bool = False, retries: RetryConfig = PATIENT) -> Client:
    """A client as every process of ours uses it; a lazy one connects within its first call.

    Raises:
        RuntimeError: the server does not answer.
        ValueError: the settings name none, which `serve` refuses at start.
    """
    if settings.temporal_address is None:
        raise ValueError("no Temporal address")
    _prepare_the_core()
    return await Client.connect(
        settings.temporal_address,
        namespace=settings.temporal_namespace,
        data_converter=DATA_CONVERTER,
        retry_config=retries,
        lazy=lazy,
    )


@cache
def _prepare_the_core() -> None:
    """Have the SDK's core log errors only: it reports every retry while Temporal is away, which we say once.

    It stays until the process is gone. Python, when it ends, would wait for the core's threads, and one of them may be
    waiting for Python to answer a call: neither would ever go on.
    """
    filtered = LoggingConfig(filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"))
    runtime = Runtime(telemetry=TelemetryConfig(logging=filtered))
    Runtime.set_default(runtime, error_if_already_set=False)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(runtime))


class TemporalLink:
    """Sends signals, each within the delivery time-out, and knows whether Temporal answers."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: Client | None = None
        self._answered_at = 0.0
        self._preparing = asyncio.Lock()
        self.reachable = False

    async def reach(self) -> bool:
        """Whether Temporal answers; asks it unless it answered a moment ago.

        A new connection registers the search attributes and makes the schedules: the store behind it may be a new one.
        """
        if self.reachable and time.monotonic() - self._answered_at < PROBE_AFTER_S:
            return True
        try:
            async with asyncio.timeout(self._settings.delivery_timeout_s):
                await self._ask()
        except (RPCError, *NO_ANSWER) as error:
            self._lost(error)
            return False
        self._answered()
        return True

    async def send(self, delivery: Delivery, others: Sequence[Delivery] = ()) -> bool:
        """Send one signal, with what else it brings; False when Temporal does not answer.

        One that Temporal refuses counts as sent: it falls due again in the database.
        """
        if (client := self._client) is None:
            return False
        try:
            async with asyncio.timeout(self._settings.delivery_timeout_s):
                await self._send(client, delivery, others)
        except RPCError as error:
            if error.status in NO_ANSWER_STATUS:
                self._lost(error)
                return False
            log.warning("Temporal refuses %s: %s", delivery_id(delivery), error.status.name)
        except NO_ANSWER as error:
            self._lost(error)
            return False
        self._answered()
        return True

    async def _ask(self) -> None:
        if self._client is not None:
            await self._client.service_client.check_health(timeout=self._patience)
            return
        client = await connect(self._settings, lazy=True, retries=IMPATIENT)
        await self._prepare(client)
        self._client = client

    async def _send(self, client: Client, delivery: Delivery, others: Sequence[Delivery]) -> None:
        try:
            await send(client, delivery, self._settings, others)
        except RPCError as error:
            if error.status is not RPCStatusCode.INVALID_ARGUMENT:
                raise
            # The store was replaced by an empty one so quickly that no call failed.
            async with self._preparing:
                await self._prepare(client)
            await send(client, delivery, self._settings, others)

    async def _prepare(self, client: Client) -> None:
        await register(client)
        try:
            await make_schedules(client, self._settings)
        except RPCError as error:
            if error.status in NO_ANSWER_STATUS:
                raise
            log.warning("Temporal refuses our schedules (%s); deliveries go on", error.status.name)

    @property
    def _patience(self) -> timedelta:
        return timedelta(seconds=self._settings.delivery_timeout_s)

    def _answered(self) -> None:
        if not self.reachable:
            log.info("Temporal answers")
        self.reachable = True
        self._answered_at = time.monotonic()

    def _lost(self, error: Exception) -> None:
        if self.reachable:
            log.warning("Temporal does not answer (%s); operations wait for it", type(error).__name__)
        self.reachable = False
        self._client = None
