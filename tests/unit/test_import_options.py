"""What `canonry import` and its neighbours refuse before anything is read, made or asked for."""

from importlib.metadata import version
from pathlib import Path

import pytest

from canonry.projects import unknown
from models.schemas.tenancy import ProjectView
from tests.terminal import ran


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--prefix", "../up"), "--prefix: "),
        (("--prefix", "/"), "--prefix: "),
        (("--project", ""), "--project: the name is empty"),
        (("--title", " "), "--title: "),
        (("--title", "x" * 201), "--title: "),
    ],
)
def test_an_option_that_would_be_refused_is_named_before_anything_is_made(
    tmp_path: Path, words: tuple[str, str], sentence: str
) -> None:
    done = ran("import", str(tmp_path), "--data", str(tmp_path / "data"), *words)

    assert (done.code, done.output) == (1, "")
    assert done.errors.startswith(f"canonry import: {sentence}")
    assert list(tmp_path.iterdir()) == []


def test_an_option_that_is_unknown_shows_the_usage_of_its_command() -> None:
    done = ran("export", "folder", "--dry-run")

    assert done.code == 2
    assert done.errors.startswith("usage: canonry export ")
    assert done.errors.endswith("canonry export: error: unrecognized arguments: --dry-run\n")


def test_an_option_cannot_be_cut_short() -> None:
    assert "unrecognized arguments: --mirr" in ran("import", "folder", "--mirr").errors


def test_the_version_can_be_asked_for() -> None:
    done = ran("--version")

    assert (done.code, done.output) == (0, f"canonry {version('canonry')}\n")


def test_a_project_with_nearly_that_name_is_offered() -> None:
    known = [a_project("hand-book"), a_project("runbooks")]

    assert unknown(known, "Handbook").endswith("(hand-book, runbooks). Did you mean hand-book?")
    assert "mean" not in unknown(known, "unlike")


def test_of_many_projects_ten_are_listed() -> None:
    told = unknown([a_project(f"p{number}") for number in range(12)], "unlike")

    assert "p0, p1" in told
    assert "p9 and 2 more)" in told


def a_project(slug: str) -> ProjectView:
    return ProjectView(
        project_id=f"prj_{slug}",
        slug=slug,
        name=slug.title(),
        description="",
        state="active",
        version=1,
        created_at="2026-01-01T00:00:00Z",
        updated_at="2026-01-01T00:00:00Z",
    )
