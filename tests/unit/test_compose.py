import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel, JsonValue, TypeAdapter

from canonry.cli import main
from models.settings import PREFIX, load_settings

ROOT = Path(__file__).parents[2]
OURS = ("migrate", "api", "worker")


class Service(BaseModel):
    image: str
    command: list[str] = []
    environment: dict[str, str] = {}
    depends_on: dict[str, dict[str, str]] = {}
    ports: list[str] = []
    healthcheck: dict[str, JsonValue] | None = None


def services() -> Mapping[str, Service]:
    found = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return TypeAdapter(dict[str, Service]).validate_python(found)


def waits_for(name: str) -> set[str]:
    """All services that must be healthy, or have ended well, before this one starts."""
    direct = services()[name].depends_on
    return set(direct).union(*(waits_for(each) for each in direct))


def test_the_production_shape_is_complete() -> None:
    assert set(services()) == {
        *("postgres", "temporal-schema", "temporal", "temporal-namespace", "temporal-ui"),
        *OURS,
    }


def test_every_published_port_is_bound_to_loopback() -> None:
    ports = [port for service in services().values() for port in service.ports]
    assert sorted(ports) == ["127.0.0.1:8080:8080", "127.0.0.1:8233:8080"]


def test_nothing_serves_before_the_schema_is_there() -> None:
    for name in ("api", "worker"):
        assert services()[name].depends_on["migrate"] == {"condition": "service_completed_successfully"}
        assert {"postgres", "temporal", "temporal-schema", "temporal-namespace"} <= waits_for(name)
    assert waits_for("migrate") == {"postgres"}


def test_a_service_is_waited_for_as_it_can_be() -> None:
    every = services()
    for service in every.values():
        for name, how in service.depends_on.items():
            expected = "service_healthy" if every[name].healthcheck else "service_completed_successfully"
            assert how == {"condition": expected}


@pytest.mark.parametrize("name", OURS)
def test_our_services_are_set_by_settings_that_exist(name: str) -> None:
    environment = services()[name].environment
    assert all(variable.startswith(PREFIX) for variable in environment)
    settings = load_settings({key: re.sub(r"\$\{.*?\}", "secret", value) for key, value in environment.items()})
    assert settings.database_url == "postgresql://canonry:secret@postgres:5432/canonry"
    assert settings.temporal_address == "temporal:7233"


@pytest.mark.parametrize("name", OURS)
def test_our_services_run_commands_that_exist(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert services()[name].command == [name]
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: canonry {name}" in capsys.readouterr().out


def test_the_published_port_is_the_one_the_api_listens_on() -> None:
    environment = services()["api"].environment
    settings = load_settings({key: value for key, value in environment.items() if "$" not in value})
    assert (settings.host, settings.port) == ("0.0.0.0", 8080)  # noqa: S104  (what a container must bind)


def test_passwords_come_from_outside() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    settings = re.findall(r"^\s+\w*(?:PASSWORD|PWD)\w*: (.+)$", text, re.MULTILINE)
    assert len(settings) >= 4
    assert all(value.startswith("${") for value in settings)


def test_the_image_installs_the_lock_and_does_not_run_as_root() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    base = {line.split()[1] for line in lines if line.startswith("FROM ")}
    assert base == {"python:3.13-slim"}
    assert [line for line in lines if "--require-hashes -r requirements.txt" in line]
    assert lines[-1] == 'ENTRYPOINT ["canonry"]'
    assert next(line for line in reversed(lines) if line.startswith("USER ")) == "USER canonry"


def test_the_image_is_built_from_what_the_wheel_is_made_of() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    sources = {source for line in copied for source in line.split()}
    assert {"api", "workflows", "activities", "models", "canonry"} <= sources
    assert all((ROOT / source).exists() for source in sources)
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    assert {f"!{source}" for source in sources} <= set(allowed)
