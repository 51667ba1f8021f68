from pathlib import Path

from canonry.logs import KEPT, turn_over


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_log_of_a_former_start_is_put_aside_and_those_before_grow_older(tmp_path: Path) -> None:
    for start in ("first", "second"):
        (tmp_path / "api.log").write_text(start)
        turn_over(tmp_path)
    assert contents(tmp_path) == {"api.1.log": "second", "api.2.log": "first"}


def test_the_last_few_are_kept(tmp_path: Path) -> None:
    for start in range(KEPT + 3):
        (tmp_path / "api.log").write_text(str(start))
        turn_over(tmp_path)
    assert len(contents(tmp_path)) == KEPT
    assert contents(tmp_path)["api.1.log"] == str(KEPT + 2)


def test_an_empty_log_pushes_nothing_out(tmp_path: Path) -> None:
    (tmp_path / "api.log").touch()
    turn_over(tmp_path)
    assert contents(tmp_path) == {"api.log": ""}
