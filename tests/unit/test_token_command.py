"""`canonry token create` refuses what it does not accept in one sentence, before it looks for a database."""

from pathlib import Path

import pytest

from canonry.cli import main

NO_DATABASE = "postgresql://nobody@127.0.0.1:1/nothing"


@pytest.fixture(autouse=True)
def nothing_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANONRY_DATABASE_URL", NO_DATABASE)


def refusal(data: Path, *options: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["token", "create", "--data", str(data), *options])
    assert isinstance(ended.value.code, str), "a text is what exits with 1"
    return ended.value.code


@pytest.mark.parametrize("days", ["0", "-1", "36501", "3000000", "99999999999"])
def test_days_outside_a_century_are_refused_with_what_is_accepted(tmp_path: Path, days: str) -> None:
    said = refusal(tmp_path, "--name", "ci", "--days", days)
    assert said == f"canonry token: --days {days}: accepted is a whole number from 1 to 36500."


@pytest.mark.parametrize("name", ["", " \t ", "x" * 201, "two\nlines", "bell\a", "half\udc80"])
def test_a_name_that_the_api_refuses_is_refused_with_what_is_accepted(tmp_path: Path, name: str) -> None:
    said = refusal(tmp_path, "--name", name)
    assert said == "canonry token: --name: accepted are 1 to 200 characters on one line, without control characters."


@pytest.mark.parametrize("options", [("--days", "1"), ("--days", "36500"), ("--name", "x" * 200), ("--name", " ci ")])
def test_what_is_within_the_limits_goes_on_to_the_database(tmp_path: Path, options: tuple[str, str]) -> None:
    assert "accepted" not in refusal(tmp_path, "--name", "ci", *options)
