"""Ports on the loopback address: chosen once, found again by the next start."""

import errno
import json
import secrets
import socket
import time
from collections.abc import Container
from pathlib import Path

from canonry.embedded.notes import write_note
from canonry.failures import StartFailed

LOOPBACK = "127.0.0.1"
# Below the numbers that systems give to outgoing connections: one of those could take the port before its server
# listens, or between two lives of it. A client that calls a dead server often enough even connects to itself.
CHOICE = range(20_000, 32_768)
HIGHEST = 65_535
CLOSING_LIMIT_S = 1.0
POLL_S = 0.02


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen on the port now."""
    return _refusal(port, host) is None


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
    write_note(note, json.dumps(ports), mode=0o644)
    return ports


def require_free(port: int, what: str, host: str = LOOPBACK, *, option: str = "") -> None:
    """Refuse to start `what` on a port that is taken, or not ours to take; `option` chooses another.

    Raises:
        StartFailed: somebody listens there, or the system forbids it.
    """
    refusal = _refusal(port, host)
    if refusal is None:
        return
    choice = f"; choose another with {option}" if option else ""
    if refusal.errno == errno.EADDRINUSE:
        raise StartFailed(f"Port {port}, wanted for {what}, is taken by another program{choice}.")
    raise StartFailed(f"Port {port} of {host}, wanted for {what}, cannot be used: {refusal.strerror}{choice}.")


def _refusal(port: int, host: str) -> OSError | None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: closed connections do not count
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


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
    if not isinstance(found, dict):
        return {}
    return {name: port for name, port in found.items() if isinstance(port, int) and 0 < port <= HIGHEST}
