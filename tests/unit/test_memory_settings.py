from pathlib import Path

import pytest

from canonry.data_folders import require_ours
from models.memory_settings import MemorySettings
from models.settings import SettingsInvalid, load_settings


def of_file(folder: Path, text: str, **variables: str) -> MemorySettings:
    """The settings of memory where the data folder has this file."""
    (folder / "config.toml").write_text(text, encoding="utf-8")
    named = {f"CANONRY_MEMORY__{name}": value for name, value in variables.items()}
    return load_settings({"CANONRY_DATA": str(folder), **named}).memory


def refusal_of_file(folder: Path, text: str, **variables: str) -> str:
    with pytest.raises(SettingsInvalid) as refused:
        of_file(folder, text, **variables)
    return str(refused.value)


def test_without_a_file_or_variables_everything_has_the_default_of_the_contract(tmp_path: Path) -> None:
    assert load_settings({"CANONRY_DATA": str(tmp_path)}).memory.model_dump() == {
        "relevance_k": 5,
        "fetch_limit": 50,
        "max_content": 32_768,
        "nudge_cooldown": 300,
        "nudges": True,
        "inject_max_chars": 2_000,
        "inject_total_chars": 12_000,
        "global_write": "member",
    }


def test_the_file_in_the_data_folder_is_read(tmp_path: Path) -> None:
    text = '[memory]\nrelevance_k = 8\nnudges = false\nglobal_write = "admin"\nnudge_cooldown = 0.5\n'
    assert of_file(tmp_path, text) == MemorySettings(
        relevance_k=8, nudges=False, global_write="admin", nudge_cooldown=0.5
    )


def test_the_file_of_the_folder_that_an_option_names_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[memory]\nrelevance_k = 8\n")
    settings = load_settings({"CANONRY_DATA": str(tmp_path / "other")}, options={"data": str(tmp_path)})
    assert settings.memory.relevance_k == 8


def test_a_named_file_is_read_instead_of_the_folders_own(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[memory]\nrelevance_k = 8\n")
    named = tmp_path / "ours.toml"
    named.write_text("[memory]\nfetch_limit = 60\n")
    memory = load_settings({"CANONRY_DATA": str(tmp_path), "CANONRY_CONFIG": str(named)}).memory
    assert (memory.relevance_k, memory.fetch_limit) == (5, 60)


def test_a_named_file_that_is_missing_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match=r"none\.toml: there is no such file"):
        load_settings({"CANONRY_CONFIG": str(tmp_path / "none.toml")})


def test_a_variable_goes_before_the_file_and_leaves_its_other_keys(tmp_path: Path) -> None:
    memory = of_file(tmp_path, "[memory]\nrelevance_k = 8\nfetch_limit = 60\n", RELEVANCE_K="9")
    assert (memory.relevance_k, memory.fetch_limit) == (9, 60)


def test_a_variable_that_says_the_default_goes_before_the_file_too(tmp_path: Path) -> None:
    assert of_file(tmp_path, "[memory]\nnudges = false\n", NUDGES="true").nudges is True


WRONG = [
    ("relevance_k", '"5"', "five", "a whole number from 1 to 50"),
    ("relevance_k", "5.0", "5.5", "a whole number from 1 to 50"),
    ("relevance_k", "true", "true", "a whole number from 1 to 50"),
    ("relevance_k", "0", "0", "a whole number from 1 to 50"),
    ("fetch_limit", "[50]", "[50]", "a whole number from 1 to 10000"),
    ("max_content", "65537", "65537", "a whole number from 1 to 65536"),
    ("nudge_cooldown", "-1", "-1", "a number from 0 to 31536000"),
    ("nudge_cooldown", "nan", "nan", "a number from 0 to 31536000"),
    ("nudges", '"true"', "maybe", "true or false"),
    ("nudges", "1", "2", "true or false"),
    ("inject_max_chars", "{}", "", "a whole number from 1 to 65536"),
    ("inject_total_chars", "0", "0", "a whole number from 1 to 3276800"),
    ("global_write", '"owner"', "owner", "member or admin"),
    ("global_write", "true", "Member", "member or admin"),
]


@pytest.mark.parametrize(("key", "value", "_variable", "accepted"), WRONG)
def test_a_wrong_value_of_the_file_is_refused_by_key_with_what_is_accepted(
    tmp_path: Path, key: str, value: str, _variable: str, accepted: str
) -> None:
    text = refusal_of_file(tmp_path, f"[memory]\n{key} = {value}\n")
    assert text.startswith(f"memory.{key} (in {tmp_path / 'config.toml'}): ")
    assert text.endswith(f"(accepted: {accepted})")


@pytest.mark.parametrize(("key", "_value", "variable", "accepted"), WRONG)
def test_a_wrong_variable_is_refused_by_name_with_what_is_accepted(
    tmp_path: Path, key: str, _value: str, variable: str, accepted: str
) -> None:
    text = refusal_of_file(tmp_path, "", **{key.upper(): variable})
    assert text.startswith(f"CANONRY_MEMORY__{key.upper()}: ")
    assert text.endswith(f"(accepted: {accepted})")


def test_a_wrong_value_of_the_file_stops_the_start_though_a_variable_replaces_it(tmp_path: Path) -> None:
    assert "memory.relevance_k" in refusal_of_file(tmp_path, "[memory]\nrelevance_k = 0\n", RELEVANCE_K="9")


def test_all_wrong_values_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    lines = refusal_of_file(tmp_path, "[memory]\nrelevance_k = 0\nnudges = 3\n").splitlines()
    assert [line.split(" ")[0] for line in lines] == ["memory.relevance_k", "memory.nudges"]


def test_an_unknown_key_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    text = refusal_of_file(tmp_path, "[memory]\nrelevance = 5\n")
    assert text.startswith(f"memory.relevance (in {tmp_path / 'config.toml'}): unknown setting; accepted: ")
    for name in MemorySettings.model_fields:
        assert f"memory.{name}" in text


def test_an_unknown_table_is_refused(tmp_path: Path) -> None:
    assert "memories (in " in refusal_of_file(tmp_path, "[memories]\n")


def test_an_unknown_variable_of_memory_is_refused(tmp_path: Path) -> None:
    assert refusal_of_file(tmp_path, "", RELEVANCE="5").startswith("CANONRY_MEMORY__RELEVANCE: unknown setting; ")


@pytest.mark.parametrize("name", ["CANONRY_MEMORY", "CANONRY_MEMORY_RELEVANCE_K"])
def test_a_variable_without_two_underscores_is_unknown(name: str) -> None:
    with pytest.raises(SettingsInvalid, match=rf"\A{name}: unknown setting"):
        load_settings({name: "5"})


def test_memory_has_to_be_a_table(tmp_path: Path) -> None:
    assert refusal_of_file(tmp_path, "memory = 5\n").endswith("(accepted: a table, [memory])")


@pytest.mark.parametrize("content", [b"[memory", b"\xff", b"a = 1\na = 2"])
def test_a_file_that_is_no_toml_stops_the_start_by_its_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.toml").write_bytes(content)
    with pytest.raises(SettingsInvalid) as refused:
        load_settings({"CANONRY_DATA": str(tmp_path)})
    assert str(refused.value).startswith(f"{tmp_path / 'config.toml'}: ")


def test_a_folder_in_the_place_of_the_file_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(SettingsInvalid, match="Is a directory"):
        load_settings({"CANONRY_DATA": str(tmp_path)})


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert of_file(tmp_path, "\ufeff[memory]\nrelevance_k = 8\n").relevance_k == 8


def test_a_new_folder_may_hold_the_file_before_the_first_start(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[memory]\n")
    require_ours(tmp_path)
