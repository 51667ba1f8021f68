"""Settings: read once at start, from `CANONRY_…` variables and a file; a wrong one stops the start and says why."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import AfterValidator, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from models.configuration_file import CONFIG_FILE, ConfigurationFileError, read_configuration
from models.memory_settings import MemorySettings
from models.setting_forms import Form, accepted

PREFIX = "CANONRY_"

MEMORY = "memory"
"""The table of the file; what is in it has variables with two underscores between its name and the key's."""

LONGEST_TIMEOUT_MS = 29_000
"""Below the 30 s that every activity may take, so that the database gives up first and says why."""

CLIENT_VARIABLES = frozenset({"CANONRY_URL", "CANONRY_TOKEN"})
"""Read by commands that speak to a server; known, but not settings of the server."""


def _database_address(url: str) -> str:
    """A URL that every user of it can take apart; it may have a password, so nothing of it is repeated."""
    from sqlalchemy import make_url  # noqa: PLC0415  (a supervisor of the embedded server never needs it)
    from sqlalchemy.exc import ArgumentError  # noqa: PLC0415

    try:
        parts = make_url(url)
    except (ArgumentError, ValueError):
        raise PydanticCustomError("url", "This is no URL of a database") from None
    # Read as a host or a name, what belongs to a password would be shown by the error of whoever looks it up.
    if "@" in f"{parts.host}{parts.database}" or "@" in url.partition("@")[2].partition("=")[0]:
        raise PydanticCustomError("url", "Escape @ in a user name or password as %40, / as %2F, : as %3A and # as %23")
    return url


class Settings(BaseSettings):
    """What an operator may set, each by `CANONRY_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Values come from `load_settings` alone, which reads the environment once and refuses unknown names."""
        return (init_settings,)

    database_url: Annotated[
        Annotated[str, Field(pattern=r"^postgres(ql)?://"), AfterValidator(_database_address)] | None,
        Form("postgresql://user@host/name"),
    ] = Field(
        default=None,
        description="database, PostgreSQL 15 or newer; unset: the embedded server",
    )
    temporal_address: Annotated[str | None, Form("host:port")] = Field(
        default=None,
        pattern=r"^[^/\s]+:\d{1,5}$",
        description="Temporal's frontend; unset: the embedded server",
    )
    temporal_namespace: str = Field(default="default", min_length=1, description="Temporal namespace")
    task_queue: str = Field(default="canonry", min_length=1, description="Temporal task queue of the workers")
    temporal_ui_url: str | None = Field(default=None, description="where operators find the Temporal UI")

    data: Annotated[Path, Form("a path")] = Field(
        default=Path(".canonry"), description="folder of the embedded stack, of its logs and owner token"
    )
    config: Annotated[Path | None, Form("a path")] = Field(
        default=None, description=f"file with the table `[memory]`; unset: `{CONFIG_FILE}` in the data folder, if any"
    )
    host: str = Field(default="127.0.0.1", min_length=1, description="address the API listens on")
    port: int = Field(default=8080, ge=1, le=65535, description="port the API listens on")
    allowed_hosts: Annotated[list[str], Form('a JSON list of at least one name, such as ["canonry.example"]')] = Field(
        default=["127.0.0.1", "localhost", "[::1]"],
        min_length=1,
        description="Host headers the API answers to, without port",
    )

    # Two API processes and two workers hold at most 66 of the 100 connections that PostgreSQL allows by default.
    api_pool_size: int = Field(
        default=10,
        ge=1,
        le=100,
        description="database connections of one API process, and as many again for what agents ask each turn",
    )
    worker_pool_size: int = Field(
        default=10, ge=2, le=100, description="database connections (and activity threads) of one worker process"
    )
    lock_timeout_ms: int = Field(
        default=8_000, ge=100, le=LONGEST_TIMEOUT_MS, description="how long a statement waits for a lock"
    )
    statement_timeout_ms: int = Field(
        default=12_000, ge=100, le=LONGEST_TIMEOUT_MS, description="how long a statement may run"
    )
    transaction_timeout_ms: int = Field(
        default=25_000,
        ge=1_000,
        le=LONGEST_TIMEOUT_MS,
        description="how long a transaction may stay open (bounds the feed's lag); before PostgreSQL 17, stay idle",
    )

    # Deliveries are cheap and idempotent; 5 s hides a restart of Temporal, 30 s bounds the wait after a long outage.
    delivery_first_retry_s: float = Field(
        default=5.0, gt=0, le=60, description="first re-delivery of an unfinished operation"
    )
    delivery_max_retry_s: float = Field(default=30.0, gt=0, le=600, description="longest pause between re-deliveries")
    delivery_timeout_s: float = Field(
        default=2.0, gt=0, le=30, description="how long one delivery to Temporal may take"
    )

    # The server suggests to continue at 4,096 events; an idle lane never reaches it, a busy one does in minutes.
    lane_max_batches: int = Field(
        default=200,
        ge=1,
        le=1_000,
        description="batches a publication lane runs before it continues as new; taken when the lane starts",
    )
    # One activity start-to-close is 30 s, and a batch stops itself at half of it.
    lane_batch_size: int = Field(
        default=100,
        ge=1,
        le=1_000,
        description="merges handed to one publishing activity; taken when a publication lane starts",
    )

    # Not below the 7 days that an Idempotency-Key is kept, whose replay answers its operation.
    operation_retention: float = Field(default=30, ge=7, le=3_650, description="days that a finished operation is kept")
    # A client that was away for longer reads again what it keeps.
    event_retention: float = Field(default=30, ge=1, le=3_650, description="days that the change feed reaches back")
    import_retention: float = Field(
        default=30, ge=1, le=3_650, description="days that an import is kept which nobody stages in or starts"
    )
    retention_interval_s: float = Field(
        default=3_600, ge=60, le=604_800, description="how often a worker has what is past retention removed"
    )

    # An index follows the feed and should never differ; comparing reads ids and revisions alone.
    reindex_interval_s: float = Field(
        default=21_600, ge=60, le=604_800, description="how often every search index is compared with the database"
    )

    shutdown_grace_s: float = Field(default=25.0, gt=0, le=300, description="how long a worker finishes what it began")
    log_level: Annotated[str, Form("debug, info, warning or error")] = Field(
        default="info", pattern="^(debug|info|warning|error)$", description="the least severe lines that are logged"
    )

    memory: MemorySettings = Field(default=MemorySettings(), description="how memories are found, injected and saved")


VARIABLES: Mapping[str, FieldInfo] = {
    f"{PREFIX}{name.upper()}": field for name, field in Settings.model_fields.items() if name != MEMORY
} | {f"{PREFIX}{MEMORY.upper()}__{name.upper()}": field for name, field in MemorySettings.model_fields.items()}
"""Every variable that is a setting."""


class SettingsInvalid(SystemExit):
    """A setting that stops the start; the text names it and what is accepted."""


def load_settings(
    environment: Mapping[str, str] | None = None, *, options: Mapping[str, str] | None = None
) -> Settings:
    """The settings of this process.

    Args:
        environment: variables to read instead of the process's own, for tests.
        options: values by the name of the setting, from options of the command line; they go before variables, and
            a wrong one is told by the name of its option.

    Raises:
        SettingsInvalid: a variable with the prefix, or a key of the file, is unknown, or a value is wrong.
    """
    variables = os.environ if environment is None else environment
    typed = options or {}
    _refuse_unknown((name for name in variables if name.startswith(PREFIX)), VARIABLES.keys() | CLIENT_VARIABLES)
    chosen = {name: variables[_variable(name)] for name in Settings.model_fields if _variable(name) in variables}
    of_memory = {
        name: variables[_variable(MEMORY, name)]
        for name in MemorySettings.model_fields
        if _variable(MEMORY, name) in variables
    }
    try:
        settings = _parse({**chosen, **typed}, of_memory)
    except ValidationError as error:
        lines = _explain(error, lambda path: f"--{path[0].replace('_', '-')}" if path[0] in typed else _variable(*path))
        raise SettingsInvalid("\n".join(lines)) from error
    return settings.model_copy(update={MEMORY: _with_file(settings)})


def _refuse_unknown(names: Iterable[str], known: Collection[str], *, where: str = "") -> None:
    unknown = sorted(name for name in names if name not in known)
    if unknown:
        raise SettingsInvalid(f"{unknown[0]}{where}: unknown setting; accepted: {', '.join(sorted(known))}")


def _with_file(settings: Settings) -> MemorySettings:
    """What the file says, each replaced by its variable where that is set."""
    path = settings.config or settings.data / CONFIG_FILE
    where = f" (in {path})"
    try:
        tables = read_configuration(path, required=settings.config is not None)
    except ConfigurationFileError as error:
        raise SettingsInvalid(str(error)) from error
    _refuse_unknown(tables, {MEMORY}, where=where)
    table = tables.get(MEMORY, {})
    if not isinstance(table, dict):
        raise SettingsInvalid(f"{MEMORY}{where}: no table (accepted: a table, [{MEMORY}])")
    keys = {f"{MEMORY}.{name}" for name in MemorySettings.model_fields}
    _refuse_unknown((f"{MEMORY}.{name}" for name in table), keys, where=where)
    try:
        # Strict: a TOML value has a type of its own, and a text that looks like a number is a mistake.
        filed = MemorySettings.model_validate(table, strict=True)
    except ValidationError as error:
        lines = _explain(error, lambda path: f"{'.'.join(path)}{where}", within=(MEMORY,))
        raise SettingsInvalid("\n".join(lines)) from error
    return filed.model_copy(update=settings.memory.model_dump(exclude_unset=True))


def _variable(*path: str) -> str:
    return f"{PREFIX}{'__'.join(path).upper()}"


def _parse(chosen: Mapping[str, str], of_memory: Mapping[str, str]) -> Settings:
    """Validate texts as they come from the environment: lists are JSON, numbers are numerals."""
    values: dict[str, object] = {**chosen, MEMORY: of_memory}
    if "allowed_hosts" in values:
        try:
            values["allowed_hosts"] = orjson.loads(chosen["allowed_hosts"])
        except orjson.JSONDecodeError:
            values["allowed_hosts"] = chosen["allowed_hosts"]
    return Settings.model_validate(values)


def _explain(
    error: ValidationError, spelled: Callable[[Sequence[str]], str], *, within: Sequence[str] = ()
) -> list[str]:
    lines = []
    for item in error.errors():
        path = [*within, *map(str, item["loc"])]
        lines.append(f"{spelled(path)}: {item['msg']} (accepted: {accepted(_field(path))})")
    return lines


def _field(path: Sequence[str]) -> FieldInfo:
    return MemorySettings.model_fields[path[1]] if path[0] == MEMORY else Settings.model_fields[path[0]]
