"""The server process: uvicorn, started and stopped gracefully."""

import signal
import socket
from types import FrameType
from typing import NoReturn

import uvicorn

from api.app import create_app
from api.services import Services
from models.settings import Settings, SettingsInvalid
from workflows.logs import configure_logging

KEEP_ALIVE_S = 30
BACKLOG = 2_048


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; then finish what was begun, within `shutdown_grace_s`. Logs go to stderr.

    Raises:
        SettingsInvalid: the database or Temporal is not named.
    """
    if settings.database_url is None:
        raise SettingsInvalid("CANONRY_DATABASE_URL: not set (accepted: postgresql://user@host/name)")
    if settings.temporal_address is None:
        raise SettingsInvalid("CANONRY_TEMPORAL_ADDRESS: not set (accepted: Temporal's frontend as host:port)")
    configure_logging(settings.log_level)
    # Uvicorn raises the signal again once it has ended; a graceful end is no failure.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    app = create_app(settings)
    configuration = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http="httptools",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=max(1, int(settings.shutdown_grace_s)),
        backlog=BACKLOG,
    )
    _Server(configuration).run()


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


class _Server(uvicorn.Server):
    """Uvicorn that lets waiting requests answer when the end begins, instead of holding it up."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close what listens, let requests finish, end the lifespan."""
        services: Services | None = getattr(self.config.app.state, "services", None)  # type: ignore[union-attr]
        if services is not None:
            services.operations.close()
            services.followers.close()
        await super().shutdown(sockets)
