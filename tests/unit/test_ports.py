import socket
from pathlib import Path

import pytest

from canonry.embedded.ports import CHOICE, LOOPBACK, free_port, remembered_ports

OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")


@pytest.mark.skipif(not OUTGOING.exists(), reason="the system does not tell")
def test_no_outgoing_connection_can_take_a_port_that_a_server_was_given() -> None:
    assert int(OUTGOING.read_text().split()[0]) >= CHOICE.stop


def test_a_free_port_is_none_that_somebody_listens_on() -> None:
    taken, free = free_port(), free_port()
    with socket.create_server((LOOPBACK, taken)):
        assert free_port(besides=set(CHOICE) - {taken, free}) == free


def test_each_name_gets_a_port_of_its_own_and_keeps_it(tmp_path: Path) -> None:
    names = ("grpc", "ui", "http")
    ports = remembered_ports(tmp_path / "ports", names)
    assert len(set(ports.values())) == len(names)
    assert remembered_ports(tmp_path / "ports", names) == ports


@pytest.mark.parametrize("noted", ['{"grpc": 70000}', '{"grpc": -1}', '{"grpc": "x"}', "[1]", "", "garbage"])
def test_a_note_that_names_no_port_is_written_anew(tmp_path: Path, noted: str) -> None:
    (tmp_path / "ports").write_text(noted)
    assert remembered_ports(tmp_path / "ports", ("grpc",))["grpc"] in CHOICE


def test_a_name_whose_port_is_taken_gets_another_one(tmp_path: Path) -> None:
    ports = remembered_ports(tmp_path / "ports", ("grpc", "ui"))
    with socket.create_server((LOOPBACK, ports["grpc"])):
        again = remembered_ports(tmp_path / "ports", ("grpc", "ui"))
    assert again["ui"] == ports["ui"]
    assert again["grpc"] != ports["grpc"]
