"""A whole Canonry of its own for fault tests: each part can be killed, and is started again at the same address."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import httpx
from sqlalchemy import Engine, text

from canonry.embedded.placement import log_of
from canonry.embedded.ports import free_port
from canonry.services import Service
from canonry.supervisor import Part
from models.database import build_engine
from models.rules.roles import PERMISSIONS
from models.settings import Settings
from models.store.organizations import create_organization
from tests.client import Client
from tests.parts import restart, start_service
from tests.stack import Stack, start_migrated_stack
from tests.up import an_environment

READY_LIMIT_S = 60
GRACE_S = 60
POLL_S = 0.05


@dataclass
class Installation:
    """Postgres, Temporal, API and worker; `engine` reads and writes beside them, `client` makes organizations."""

    stack: Stack
    api: Service
    worker: Service
    engine: Engine
    client: Client

    @property
    def parts(self) -> dict[str, Part]:
        """What can be killed, by name."""
        return {part.name: part for part in (self.api, self.worker, self.stack.temporal, self.stack.postgres)}

    def is_ready(self) -> bool:
        """Whether the API answers and reaches both servers."""
        return self.readiness() == {"status": "ready", "database": "up", "migrations": "up", "temporal": "up"}

    def readiness(self) -> dict[str, str]:
        """What `/readyz` says of the parts; nothing while the API is away."""
        try:
            answer = httpx.get(f"{self.client.base_url}/readyz", timeout=10, trust_env=False)
        except httpx.TransportError:
            return {}
        shown: dict[str, str] = answer.json()
        return {name: shown[name] for name in ("status", "database", "migrations", "temporal")}

    def start(self, service: Service) -> None:
        """Start the API or the worker again, and return when it works."""
        begin = len(log_text(service))
        restart(service)
        self.wait_for(service, begin)

    def wait_for(self, service: Service, log_begin: int = 0) -> None:
        """Return when the API is ready, or when the worker takes tasks."""
        ready = self.is_ready if service is self.api else lambda: "takes tasks" in log_text(service)[log_begin:]
        until(ready, seconds=READY_LIMIT_S, otherwise=lambda: log_text(service)[log_begin:][-4_000:])

    def kill(self, part: Part) -> None:
        """Kill -9, and return when its process is gone."""
        os.kill(part.pid, signal.SIGKILL)
        until(lambda: not part.is_running())

    def lose_temporal_store(self) -> None:
        """Take Temporal away with all it has stored; `restart(stack.temporal)` begins with an empty store."""
        self.stack.lose_temporal_store()
        # An operator's server knows nothing of our search attributes when it is new.
        self.stack.temporal.options = replace(self.stack.temporal.options, search_attributes={})

    def count(self, question: str, **names: object) -> int:
        """The number that a statement answers."""
        with self.engine.connect() as connection:
            return int(connection.execute(text(question), names).scalar_one())

    def execute(self, statement: str, **names: object) -> None:
        """Change rows behind the product's back."""
        with self.engine.begin() as connection:
            connection.execute(text(statement), names)

    def stop(self) -> None:
        """End all parts, frozen ones included."""
        self.engine.dispose()
        for service in (self.api, self.worker):
            service.stop()
        self.stack.stop()


@contextmanager
def an_installation(**settings: str) -> Iterator[Installation]:
    """A whole Canonry while the block runs.

    Args:
        settings: further `CANONRY_…` variables of API and worker.
    """
    stack = start_migrated_stack()
    try:
        installation = _start_services(stack, settings)
    except BaseException:
        stack.stop()
        raise
    try:
        for service in (installation.worker, installation.api):
            installation.wait_for(service)
        yield installation
    finally:
        installation.stop()


def _start_services(stack: Stack, settings: dict[str, str]) -> Installation:
    port = free_port()
    own = {
        "CANONRY_DATABASE_URL": stack.database_url,
        "CANONRY_TEMPORAL_ADDRESS": stack.temporal_address,
        "CANONRY_DATA": str(stack.root),
        "CANONRY_PORT": str(port),
    }
    environment = an_environment(**own, **settings)
    worker, api = (
        start_service(name, log=log_of(stack.root, name), environment=environment, grace_s=GRACE_S)
        for name in ("worker", "api")
    )
    engine = build_engine(stack.database_url, Settings(), pool_size=5, application_name="canonry-test")
    return Installation(stack, api, worker, engine, Client(f"http://127.0.0.1:{port}", _service_token(engine)))


def _service_token(engine: Engine) -> str:
    with engine.begin() as connection:
        made = create_organization(
            connection,
            name="Operators",
            owner_name="Operator",
            owner_email=None,
            permissions=[*PERMISSIONS],
            request_id="test",
        )
    return made.token.secret


def log_text(part: Part) -> str:
    """All that a part has logged, in all its lives."""
    return part.log.read_text(errors="replace") if part.log.exists() else ""


def until(
    holds: Callable[[], bool], *, seconds: float = 60, otherwise: Callable[[], object] = lambda: "it never held"
) -> None:
    """Return once it holds.

    Args:
        holds: asked again and again.
        seconds: how long.
        otherwise: what the failure says.
    """
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, otherwise()
        time.sleep(POLL_S)
