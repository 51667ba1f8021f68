from collections.abc import Collection, Mapping
from math import ceil

import pytest

from models.identifiers import MemoryId
from models.rules.free_paths import AT_ONCE, FIRST_NUMBERS, NUMBERS, Places
from models.rules.paths import MAX_PATH_CHARACTERS, MAX_SEGMENT_BYTES, accept_path
from tests.unit.rules.examples import free_beside

M, OTHER = MemoryId("mem_1"), MemoryId("mem_2")


def places(current: Collection[str], taken: Mapping[MemoryId, str] | None = None) -> Places:
    standing = {MemoryId(f"mem_c{number}"): path for number, path in enumerate(current)}
    return Places(free_beside(standing), taken or {})


def test_a_path_that_is_free_is_kept() -> None:
    assert places(["b.md"]).next_free("a.md", M) == "a.md"


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        (["guides/a.md"], "guides/a-2.md"),
        (["guides/a.md", "guides/A-2.MD", "guides/a-3.md/inside.md"], "guides/a-4.md"),
        (["guides/a.md/inside.md"], "guides/a-2.md"),
        (["guides"], "guides-2/a.md"),
        (["guides", "guides-2", "guides-3/a.md"], "guides-4/a.md"),
    ],
)
def test_the_next_free_path_has_the_lowest_number_that_helps(current: Collection[str], expected: str) -> None:
    assert places(current).next_free("guides/a.md", M) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("README", "README-2"),
        (".hidden", ".hidden-2"),
        ("a.tar.gz", "a.tar-2.gz"),
        ("v1.introduction", "v1.introduction-2"),
    ],
)
def test_the_number_stands_before_the_ending(name: str, expected: str) -> None:
    assert places([name]).next_free(name, M) == expected


def test_what_the_review_puts_somewhere_is_not_free_for_others() -> None:
    taken = {OTHER: "a.md", M: "b.md"}
    assert places([], taken).next_free("A.md", M) == "A-2.md"
    assert places([], taken).next_free("a.md/inside.md", M) == "a-2.md/inside.md"
    assert places([], taken).next_free("b.md", M) == "b.md"


def test_a_folder_of_another_memory_is_not_free() -> None:
    assert places([], {OTHER: "a/b.md"}).next_free("a", M) == "a-2"


def test_what_was_offered_to_one_memory_is_kept_from_the_next() -> None:
    standing = places(["a.md"])
    standing.keep("a-2.md", M)
    assert standing.next_free("a.md", M) == "a-2.md"
    assert standing.next_free("a.md", OTHER) == "a-3.md"


@pytest.mark.parametrize(
    "path",
    [
        "x" * (MAX_SEGMENT_BYTES - 3) + ".md",
        "é" * (MAX_SEGMENT_BYTES // 2 - 1) + ".md",
        "/".join(["x" * 254, "y" * 254, "z"]),
        "x" * (MAX_SEGMENT_BYTES - 9) + ".markdown",
    ],
)
def test_a_name_gives_up_its_end_where_the_limits_of_paths_ask_for_it(path: str) -> None:
    free = places([path]).next_free(path, M)
    assert free is not None
    assert free != path
    assert accept_path(free) == free
    assert len(free) <= MAX_PATH_CHARACTERS


def test_where_every_number_is_taken_the_name_gets_a_hash_of_each_memory_s_own() -> None:
    asked: list[Collection[str]] = []
    numbered = {f"a-{number}.md" for number in NUMBERS}

    def free_among(paths: Collection[str]) -> list[str]:
        asked.append(paths)
        return [path for path in paths if path != "a.md" and path not in numbered]

    standing = Places(free_among, {})
    free = standing.next_free("a.md", M)
    assert free is not None
    assert free.startswith("a-")
    assert len(asked) == 1 + ceil((len(NUMBERS) - FIRST_NUMBERS) / AT_ONCE)
    standing.keep(free, M)
    assert standing.next_free("a.md", OTHER) not in (None, free)


def test_what_many_memories_will_need_to_know_is_asked_at_once() -> None:
    asked: list[Collection[str]] = []

    def free_among(paths: Collection[str]) -> list[str]:
        asked.append(paths)
        return [path for path in paths if path.endswith("-3.md") or len(path) > len("10-2.md")]

    wanted = [(f"{name}.md", MemoryId(f"mem_{name}")) for name in range(20)]
    standing = Places(free_among, {})
    standing.foresee(wanted)
    assert [standing.next_free(*each) for each in wanted] == [f"{name}-3.md" for name in range(20)]
    assert len(asked) == 1
