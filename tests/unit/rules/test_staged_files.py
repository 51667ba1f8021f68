"""What of a file is staged, and what is reported instead (publication.md §6)."""

import pytest

from models.identifiers import MemoryId
from models.rules.bodies import MAX_BODY_BYTES
from models.rules.hashes import body_of
from models.rules.staged_files import FileToStage, accept_file, accept_files


def staged(
    path: str = "a.md",
    content: str = "text\n",
    *,
    description: str | None = None,
    memory_id: str | None = None,
    prefix: str = "",
) -> FileToStage:
    return accept_file(path, content, description=description, memory_id=memory_id, prefix=prefix)


def test_paths_and_texts_are_normalized_as_anywhere() -> None:
    file = staged("e\u0301.md", "\ufeffone\r\ntwo", description="  d ", memory_id="ctx_1")
    assert (file.path, file.content, file.description, file.memory_id) == ("é.md", "one\ntwo\n", "d", "ctx_1")
    assert (file.body, file.report_code) == (body_of("one\ntwo\n"), None)


@pytest.mark.parametrize(
    ("file", "code", "told"),
    [
        (staged("a\\b.md"), "operation_invalid", "backslash"),
        (staged("/a.md"), "operation_invalid", "A path is relative; rename the file."),
        (staged(""), "operation_invalid", "at least one character"),
        (staged(content=""), "operation_invalid", "A body is not blank; write its text or remove the file."),
        (staged(content=" \n\t"), "operation_invalid", "blank"),
        (staged(content="a\0b"), "operation_invalid", "NUL"),
        (staged(content="a\ud800"), "operation_invalid", "surrogates"),
        (staged(content="x" * MAX_BODY_BYTES), "too_large", "262144 bytes of UTF-8; split the file."),
        (staged(description="x" * 1_025), "operation_invalid", "1024 characters"),
        (staged(description="a\nb"), "operation_invalid", "one line; mend its `description:` line."),
        (staged(description="a\0"), "operation_invalid", "NUL"),
        (staged(memory_id="prv_1"), "operation_invalid", "mem_, ctx_, rul_ or wfl_"),
        (staged(memory_id="mem_"), "operation_invalid", "_ and -; correct or remove its `id:` line."),
        (staged(memory_id="mem_" + "x" * 191), "operation_invalid", "mem_, ctx_, rul_ or wfl_"),
        (staged(memory_id="mem_é"), "operation_invalid", "mem_, ctx_, rul_ or wfl_"),
        (staged("b/" * 150 + "c", prefix="a/" * 120 + "a"), "operation_invalid", "512 characters"),
    ],
)
def test_what_breaks_a_rule_is_reported_without_its_texts(file: FileToStage, code: str, told: str) -> None:
    assert file.report_code == code
    assert told in (file.report_detail or "")
    assert (file.content, file.body, file.description) == (None, None, None)


@pytest.mark.parametrize("memory_id", ["mem_1", "ctx_A", "rul_-_", "wfl_" + "x" * 190])
def test_every_kind_of_id_is_accepted(memory_id: str) -> None:
    assert staged(memory_id=memory_id).memory_id == memory_id


def test_a_body_of_exactly_the_limit_is_accepted() -> None:
    assert staged(content="x" * (MAX_BODY_BYTES - 1)).report_code is None


def test_a_reported_file_still_names_its_path_and_its_memory() -> None:
    file = staged("e\u0301.md", "", memory_id="mem_1")
    assert (file.path, file.memory_id) == ("é.md", "mem_1")
    assert staged(memory_id="mem 1").memory_id is None


def test_a_path_that_no_database_holds_is_shown_escaped() -> None:
    assert staged("a\0b\ud800.md").path == "a\\u0000b\\ud800.md"


def test_a_long_path_is_shown_cut_and_still_told_from_others() -> None:
    long, other = staged("x" * 5_000).path, staged("x" * 5_001).path
    assert long.startswith("x" * 400)
    assert len(long) < 512
    assert long != other
    assert staged(long).report_code == "operation_invalid"  # so it is no path of any other file


def test_files_of_one_request_at_one_path_are_one_report_that_names_it_and_its_memory() -> None:
    files = [staged("\u00e9.md"), staged("a.md"), staged("e\u0301.md", "other\n", memory_id="mem_1")]
    twice, once = accept_files(files)
    assert once == files[1]
    assert twice == FileToStage(
        "\u00e9.md",
        memory_id=MemoryId("mem_1"),
        report_code="path_collision",
        report_detail="2 files of one request have the path \u00e9.md; rename or remove all but one.",
    )
