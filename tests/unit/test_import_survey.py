"""What `canonry import` knows of a folder before it sends anything, and what it sends."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from canonry.failures import CommandFailed
from canonry.importing.survey import Survey
from canonry.importing.upload import MAX_REQUEST_BYTES, MAX_REQUEST_FILES, in_requests
from models.rules.hashes import content_hash
from tests.import_command import a_folder, surveyed


def source(found: Survey, *, prefix: str = "", title: str = "Import", mirror: bool = False) -> str:
    return found.source(prefix, title, mirror=mirror)


def test_the_hash_is_that_of_the_normalized_body(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "\ufeff---\nid: mem_a\n---\n# Title\r\n\r\nText"}))

    file = found.files["a.md"]
    assert file.content_hash == content_hash("# Title\n\nText\n")
    assert (file.memory_id, file.description) == ("mem_a", "Title")


def test_equal_folders_have_one_source_wherever_they_lie(tmp_path: Path) -> None:
    files = {"a.md": "# A\n", "b/c.md": "# C\n"}

    assert source(surveyed(a_folder(tmp_path / "x", files))) == source(surveyed(a_folder(tmp_path / "y", files)))


@pytest.mark.parametrize(
    "changed",
    [
        {"a.md": "# A\n\nmore\n"},
        {"b.md": "# A\n"},
        {"a.md": "---\nid: mem_a\n---\n# A\n"},
        {"a.md": "---\ndescription: Else\n---\n# A\n"},
    ],
    ids=["text", "path", "id", "description"],
)
def test_another_text_path_id_or_description_is_another_source(tmp_path: Path, changed: dict[str, str]) -> None:
    before = surveyed(a_folder(tmp_path / "x", {"a.md": "# A\n"}))

    assert source(surveyed(a_folder(tmp_path / "y", changed))) != source(before)


def test_another_option_is_another_source(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n"}))

    sources = {source(found), source(found, prefix="x"), source(found, title="x"), source(found, mirror=True)}
    assert len(sources) == 4


def test_a_text_that_is_not_accepted_is_reported_and_its_path_is_sent_without_it(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "blank.md": " \n",
        "latin.md": b"\xe9",
        "large.md": "---\nid: mem_large\n---\n" + "x" * 262_145,
        "nul.md": "a\0",
    }
    found = surveyed(a_folder(tmp_path, files))

    codes = {report.path: report.code for report in found.reports}
    assert codes == {
        "blank.md": "operation_invalid",
        "large.md": "too_large",
        "latin.md": "not_utf8",
        "nul.md": "operation_invalid",
    }
    sent = {file["path"]: file for file in found.contents(found.files)}
    assert sent["latin.md"] == {"path": "latin.md", "content": ""}
    assert sent["large.md"] == {"path": "large.md", "content": "", "memory_id": "mem_large"}


def test_a_name_that_is_not_unicode_is_reported_and_not_sent(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    (tmp_path / "\udcff.md").write_text("# No name\n")

    found = surveyed(tmp_path)

    assert [*found.files] == ["a.md"]
    assert [report.path for report in found.reports] == ["\udcff.md"]


def test_a_file_that_changed_after_the_survey_is_not_sent(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n", "b.md": "# B\n"}))
    a_folder(tmp_path, {"b.md": "# B\n\nmore\n"})

    with pytest.raises(CommandFailed, match=r"b\.md has changed"):
        list(found.contents(found.files))


def test_a_file_that_went_away_after_the_survey_is_noticed(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n", "b.md": "# B\n"}))
    (tmp_path / "b.md").unlink()

    with pytest.raises(CommandFailed, match=r"b\.md has changed"):
        list(found.contents(found.files))


def test_only_what_is_asked_for_is_read_out(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n", "b.md": "# B\n"}))

    assert [file["path"] for file in found.contents({"b.md"})] == ["b.md"]


def test_a_request_is_bounded_by_files() -> None:
    requests = list(in_requests(_files(MAX_REQUEST_FILES + 1, "x")))

    assert [len(files) for files in requests] == [MAX_REQUEST_FILES, 1]


def test_a_request_is_bounded_by_bytes_as_they_are_sent() -> None:
    requests = list(in_requests(_files(40, "\n" * 262_000)))  # each line end takes two bytes

    assert sum(len(files) for files in requests) == 40
    assert max(len(files) for files in requests) == MAX_REQUEST_BYTES // (2 * 262_000)


def _files(number: int, content: str) -> list[dict[str, JsonValue]]:
    return [{"path": f"{each}.md", "content": content} for each in range(number)]
