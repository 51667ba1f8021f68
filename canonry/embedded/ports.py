"""Ports on the loopback address: chosen once, found again by the next start."""

import json
import secrets
import socket
import time
from collections.abc import Container
from pathlib import Path

from canonry.failures import StartFailed

LOOPBACK = "127.0.0.1"
# Below the numbers that systems give to outgoing connections: one of those could take the port before its server
# listens, or between two lives of it. A client that calls a dead server often enough even connects to itself.
CHOICE = range(20_000, 32_768)
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


def free_port(besides: Container[int] = ()) -> int:
    """A port that nobody listens on, at random, and none of `besides`."""
    while True:
        port = secrets.choice(CHOICE)
        if port not in besides and is_free(port):
            return port


def remembered_ports(note: Path, names: tuple[str, ...]) -> dict[str, int]:
    """A port for each name: the one in `note` while it is free, else a new one, noted."""
    ports = {name: port for name, port in _read(note).items() if name in names and _gets_free(port)}
    for name in names:
        ports.setdefault(name, free_port(besides=ports.values()))
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
