"""What `canonry import` knows of a folder before it sends anything, and what it sends."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from canonry.importing.proposing import Proposal
from canonry.importing.survey import Survey, SurveyedFile
from canonry.importing.upload import MAX_REQUEST_BYTES, MAX_REQUEST_FILES, in_requests
from models.rules.hashes import content_hash
from tests.import_command import a_folder, surveyed


def a_proposal(found: Survey, *, folder: str = "notes", **options: str | bool) -> Proposal:
    given = {"prefix": "", "title": "Import", "mirror": False} | options
    return Proposal(
        project_id="prj_1",
        folder=folder,
        prefix=str(given["prefix"]),
        title=str(given["title"]),
        mirror=given["mirror"] is True,
        survey=found,
    )


def source(found: Survey) -> str:
    return a_proposal(found).source


def test_the_hash_is_that_of_the_normalized_body(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "\ufeff---\nid: mem_a\n---\n# Title\r\n\r\nText"}))

    file = found.files["a.md"]
    assert file.content_hash == content_hash("# Title\n\nText\n")
    assert (file.memory_id, file.description) == ("mem_a", "Title")


def test_equal_files_are_known_as_just_this_wherever_they_lie(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n", "b/c.md": "# C\n"}))

    assert a_proposal(found, folder="x").is_just_this(a_proposal(found, folder="y").source)


def test_a_folder_is_known_as_the_same_whatever_is_in_it(tmp_path: Path) -> None:
    one = surveyed(a_folder(tmp_path / "x", {"a.md": "# A\n"}))
    other = surveyed(a_folder(tmp_path / "y", {"b.md": "# B\n"}))
    made = a_proposal(one).source

    assert a_proposal(other).is_same_folder(made)
    others = (a_proposal(one, folder="z"), a_proposal(one, prefix="x"), a_proposal(one, mirror=True))
    assert not any(each.is_same_folder(made) for each in others)


def test_what_was_only_tried_is_no_former_import(tmp_path: Path) -> None:
    proposal = a_proposal(surveyed(a_folder(tmp_path, {"a.md": "# A\n"})))

    tried = f"try:{proposal.source}"
    assert not proposal.is_just_this(tried)
    assert not proposal.is_same_folder(tried)


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

    others = (a_proposal(found, prefix="x"), a_proposal(found, title="x"), a_proposal(found, mirror=True))
    assert not any(each.is_just_this(source(found)) for each in others)


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
    sent = {file["path"]: file for file in found.contents(found.files, pytest.fail)}
    assert sent["latin.md"] == {"path": "latin.md", "content": ""}
    assert sent["large.md"] == {"path": "large.md", "content": "", "memory_id": "mem_large"}


def test_a_name_that_is_not_unicode_is_reported_and_not_sent(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    (tmp_path / "\udcff.md").write_text("# No name\n")

    found = surveyed(tmp_path)

    assert [*found.files] == ["a.md"]
    assert [report.path for report in found.reports] == ["\udcff.md"]


def test_a_file_that_changed_or_went_away_after_the_survey_is_told_and_not_sent(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n"}))
    a_folder(tmp_path, {"b.md": "# B\n\nmore\n"})
    (tmp_path / "c.md").unlink()

    told: list[str] = []
    assert [file["path"] for file in found.contents(found.files, told.append)] == ["a.md"]
    assert told == ["b.md", "c.md"]


def test_what_has_changed_is_left_out_under_its_id(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "---\nid: mem_a\n---\n# A\n"})).without({"a.md"})

    assert found.files["a.md"] == SurveyedFile(memory_id="mem_a")
    assert [(report.path, report.code) for report in found.reports] == [("a.md", "changed")]


def test_only_what_is_asked_for_is_read_out(tmp_path: Path) -> None:
    found = surveyed(a_folder(tmp_path, {"a.md": "# A\n", "b.md": "# B\n"}))

    assert [file["path"] for file in found.contents({"b.md"}, pytest.fail)] == ["b.md"]


def test_a_request_is_bounded_by_files() -> None:
    requests = list(in_requests(_files(MAX_REQUEST_FILES + 1, "x")))

    assert [len(files) for files in requests] == [MAX_REQUEST_FILES, 1]


def test_a_request_is_bounded_by_bytes_as_they_are_sent() -> None:
    requests = list(in_requests(_files(40, "\n" * 262_000)))  # each line end takes two bytes

    assert sum(len(files) for files in requests) == 40
    assert max(len(files) for files in requests) == MAX_REQUEST_BYTES // (2 * 262_000)


def _files(number: int, content: str) -> list[dict[str, JsonValue]]:
    return [{"path": f"{each}.md", "content": content} for each in range(number)]
