"""Ports on the loopback address: chosen once, found again by the next start."""

import json
import socket
import time
from pathlib import Path

from canonry.failures import StartFailed

LOOPBACK = "127.0.0.1"
CLOSING_LIMIT_S = 1.0
POLL_S = 0.02


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: closed connections do not count
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        number: int = probe.getsockname()[1]
        return number


def remembered_ports(note: Path, names: tuple[str, ...]) -> dict[str, int]:
    """A port for each name: the one in `note` while it is free, else a new one, noted."""
    earlier = _read(note)
    ports = {name: earlier[name] if name in earlier and _gets_free(earlier[name]) else free_port() for name in names}
    note.write_text(json.dumps(ports))
    return ports


def require_free(port: int, what: str, host: str = LOOPBACK) -> None:
    """Refuse to start `what` on a port that is taken.

    Raises:
        StartFailed: somebody listens there.
    """
    if not is_free(port, host):
        raise StartFailed(f"Port {port}, wanted for {what}, is taken by another program.")


def _gets_free(port: int) -> bool:
    """Whether the port is free, or is about to be: a killed server takes a moment to close its sockets."""
    deadline = time.monotonic() + CLOSING_LIMIT_S
    while not is_free(port):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def _read(note: Path) -> dict[str, int]:
    try:
        found = json.loads(note.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {name: port for name, port in found.items() if isinstance(port, int)} if isinstance(found, dict) else {}
