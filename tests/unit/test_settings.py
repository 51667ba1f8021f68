import pytest

from canonry.cli import main
from models.setting_forms import accepted
from models.settings import PREFIX, VARIABLES, SettingsInvalid, load_settings
from workflows.patience import TRANSACTION


def refusal(**variables: str) -> str:
    with pytest.raises(SettingsInvalid) as refused:
        load_settings({f"{PREFIX}{name}": value for name, value in variables.items()})
    return str(refused.value)


def test_without_variables_everything_has_a_default() -> None:
    settings = load_settings({})
    assert (settings.host, settings.port, settings.database_url) == ("127.0.0.1", 8080, None)


def test_settings_come_from_prefixed_variables() -> None:
    settings = load_settings({"CANONRY_PORT": "9001", "CANONRY_DATABASE_URL": "postgresql://a@b/c", "OTHER": "x"})
    assert (settings.port, settings.database_url) == (9001, "postgresql://a@b/c")


def test_a_list_is_read_as_json() -> None:
    assert load_settings({"CANONRY_ALLOWED_HOSTS": '["a.example"]'}).allowed_hosts == ["a.example"]


def test_an_unknown_setting_is_refused_with_those_that_exist() -> None:
    text = refusal(PROT="9001")
    assert text.startswith("CANONRY_PROT: unknown setting; accepted: ")
    assert len(VARIABLES) > 20
    for name in VARIABLES:
        assert name in text


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("PORT", "many", "a whole number from 1 to 65535"),
        ("PORT", "0", "a whole number from 1 to 65535"),
        ("PORT", "65536", "a whole number from 1 to 65535"),
        ("API_POOL_SIZE", "zero", "a whole number from 1 to 100"),
        ("API_POOL_SIZE", "1.5", "a whole number from 1 to 100"),
        ("HOST", "", "text, not empty"),
        ("DATABASE_URL", "mysql://a@b/c", "postgresql://user@host/name"),
        ("DATABASE_URL", "postgresql://h:notaport/x", "postgresql://user@host/name"),
        ("TEMPORAL_ADDRESS", "somewhere", "host:port"),
        ("LOG_LEVEL", "loud", "debug, info, warning or error"),
        ("ALLOWED_HOSTS", "a.example", 'a JSON list of at least one name, such as ["canonry.example"]'),
        ("ALLOWED_HOSTS", "[]", 'a JSON list of at least one name, such as ["canonry.example"]'),
        ("LANE_MAX_BATCHES", "0", "a whole number from 1 to 1000"),
        ("SHUTDOWN_GRACE_S", "-1", "a number above 0, up to 300"),
        ("SHUTDOWN_GRACE_S", "nan", "a number above 0, up to 300"),
    ],
)
def test_a_wrong_value_is_refused_by_name_with_what_is_accepted(name: str, value: str, accepted: str) -> None:
    text = refusal(**{name: value})
    assert text.startswith(f"CANONRY_{name}: ")
    assert text.endswith(f"(accepted: {accepted})")


@pytest.mark.parametrize("login", ["u:SEC@RET/PW", "u:SEC@RET", "u:SEC@RET?PW", "u/x:SECRET", "u:SEC@RET:1/PW#"])
def test_a_password_whose_signs_are_not_escaped_is_refused_and_not_repeated(login: str) -> None:
    text = refusal(DATABASE_URL=f"postgresql://{login}@127.0.0.1:1/x")
    assert text.startswith("CANONRY_DATABASE_URL: Escape @ in a user name or password as %40, / as %2F, ")
    assert not any(part in text for part in ("SEC", "RET", "PW"))


@pytest.mark.parametrize("url", ["postgresql://u:p%40%2F#?w@h/x", "postgresql:///x?host=/run&user=a@b", "postgres://h"])
def test_what_can_be_told_apart_is_accepted(url: str) -> None:
    assert load_settings({"CANONRY_DATABASE_URL": url}).database_url == url


def test_nothing_of_a_database_url_that_is_none_is_repeated() -> None:
    assert "hunter2" not in refusal(DATABASE_URL="postgresql://me:hunter2@h:notaport/x")


def test_an_option_goes_before_its_variable() -> None:
    assert load_settings({"CANONRY_PORT": "many"}, options={"port": "9001"}).port == 9001


def test_a_wrong_option_is_told_by_its_name_and_a_wrong_variable_by_its_own() -> None:
    with pytest.raises(SettingsInvalid) as refused:
        load_settings({"CANONRY_LOG_LEVEL": "loud"}, options={"port": "99999"})
    assert [line.split(":")[0] for line in str(refused.value).splitlines()] == ["--port", "CANONRY_LOG_LEVEL"]


@pytest.mark.parametrize("command", ["up", "demo"])
def test_a_port_of_the_command_line_that_is_none_is_refused_as_the_option(command: str) -> None:
    with pytest.raises(SettingsInvalid, match=r"\A--port: .*\(accepted: a whole number from 1 to 65535\)\Z"):
        main([command, "--port", "99999"])


def test_all_wrong_settings_are_told_at_once() -> None:
    lines = refusal(PORT="x", LOG_LEVEL="loud").splitlines()
    assert [line.split(":")[0] for line in lines] == ["CANONRY_PORT", "CANONRY_LOG_LEVEL"]


@pytest.mark.parametrize("name", ["LOCK_TIMEOUT_MS", "STATEMENT_TIMEOUT_MS", "TRANSACTION_TIMEOUT_MS"])
def test_the_database_cannot_be_told_to_outwait_an_activity(name: str) -> None:
    start_to_close_ms = int(TRANSACTION["start_to_close_timeout"].total_seconds() * 1_000)
    assert "less than or equal to" in refusal(**{name: str(start_to_close_ms)})


@pytest.mark.parametrize("name", ["CANONRY_URL", "CANONRY_TOKEN"])
def test_the_variables_of_client_commands_are_no_mistake(name: str) -> None:
    load_settings({name: "x"})


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_every_setting_says_what_it_is_and_accepts(name: str) -> None:
    assert VARIABLES[name].description
    assert accepted(VARIABLES[name])


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings({}).port = 1  # type: ignore[misc]


def test_only_the_named_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANONRY_PORT", "9")
    assert load_settings({}).port == 8080
