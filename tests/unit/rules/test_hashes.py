import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.identifiers import CommitId, MemoryId, OrganizationId, ProjectId, ReviewId, TreeId, UserId
from models.rules.hashes import (
    BUCKETS,
    CommitFields,
    JsonValue,
    blob_id,
    body_of,
    bucket_digest,
    bucket_of,
    canonical_json,
    commit_id,
    content_hash,
    entry_digest,
    instant,
    result_hash,
    selection_body,
    tree_id,
    tree_id_of_entries,
)
from models.rules.states import State
from tests.unit.rules.examples import a_few, a_state, many

# Made with `printf … | sha256sum` from the contract's words, not with this code.
BLOB = "9df26965728429afadbe5b7c122c713ac4bda6aa95fbf97519e2b559b94973ae"
CONTENT = "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
ENTRY = "60bb5a20a1c302fb80aa12c0f614ca95f8056b9489d154a6479c31be38d18b73"
BUCKET = "a2cdfe371b9329eb754b376e94fae4e636d1beee1df2eaa4dabc270c930df84e"
TREE = "23b47a955b0abe1767c52419b18f40e7c5a5161f4ce601b78f887ab8c058bea2"
EMPTY_TREE = "c2f6de0c07331a4df11d766fdfeed3e8acfd2911f780b731f8b60f5a4de2bac8"
COMMIT = "8dc33428e6e0b0319c569aeaf6cf4df23d6bef12f5e87c377b11ee561542ceb2"
RESULT = "9e5b74de7df90454bb75f38c2cc793d35398f514a34a57db7e4bd804ed825b28"

A_PROJECT = ProjectId("prj_1")
FIELDS = CommitFields(
    scope="org",
    org_id=OrganizationId("org_1"),
    project_id=None,
    version=1,
    parent_commit_id=None,
    tree_id=TreeId(TREE),
    message="First “words”",
    review_id=ReviewId("rev_1"),
    created_by=UserId("usr_1"),
    created_at=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    org_commit_id=None,
    selection_revision=None,
)


def an_entry(
    memory_id: str = "mem_1", *, path: str | None = "a.md", description: str = "hi", text: str = "hello\n"
) -> bytes:
    return entry_digest(memory_id=memory_id, path=path, description=description, blob_id=blob_id(text))


def some_entries(ids: Iterable[int]) -> dict[str, bytes]:
    return {f"mem_{number}": an_entry(f"mem_{number}", path=f"{number}.md") for number in ids}


def test_a_blob_id_is_the_digest_of_the_prefixed_text() -> None:
    assert blob_id("hello\n") == BLOB


def test_a_content_hash_is_what_sha256sum_prints_for_the_text() -> None:
    assert content_hash("hello\n") == CONTENT


def test_a_body_names_its_text_twice() -> None:
    body = body_of("hello\n")
    assert (body.blob_id, body.content_hash) == (BLOB, CONTENT)


def test_an_entry_digest_covers_id_path_description_and_blob() -> None:
    assert an_entry().hex() == ENTRY


def test_the_fields_of_an_entry_do_not_run_into_each_other() -> None:
    assert an_entry(path="ab", description="c") != an_entry(path="a", description="bc")


def test_a_missing_path_is_hashed_as_an_empty_string() -> None:
    assert an_entry(path=None) == an_entry(path="")


def test_a_bucket_is_chosen_by_the_first_two_bytes_of_the_digest_of_the_id() -> None:
    assert bucket_of("mem_1") == 531


def test_every_bucket_number_is_below_1024() -> None:
    numbers = {bucket_of(f"mem_{number}") for number in range(20_000)}
    assert numbers == set(range(BUCKETS))


def test_a_bucket_digest_covers_its_entries() -> None:
    assert bucket_digest([("mem_1", an_entry())]).hex() == BUCKET


def test_a_bucket_is_hashed_in_byte_order_of_its_ids() -> None:
    upper, lower, accented = (("B", b"1" * 32), ("a", b"2" * 32), ("é", b"3" * 32))
    assert bucket_digest([accented, lower, upper]) == bucket_digest([upper, lower, accented])


def test_a_tree_id_covers_the_numbers_and_digests_of_its_buckets() -> None:
    assert tree_id({531: bytes.fromhex(BUCKET)}) == TREE
    assert tree_id_of_entries({"mem_1": an_entry()}) == TREE


def test_the_empty_tree_has_an_id() -> None:
    assert tree_id({}) == EMPTY_TREE


@given(st.permutations(range(200)))
@a_few
def test_a_tree_id_does_not_depend_on_the_order_of_its_entries(order: list[int]) -> None:
    assert tree_id_of_entries(some_entries(order)) == tree_id_of_entries(some_entries(range(200)))


@given(st.sets(st.integers(0, 300)), st.sets(st.integers(0, 300)))
@a_few
def test_rehashing_only_the_buckets_that_changed_gives_the_whole_trees_id(before: set[int], after: set[int]) -> None:
    old, new = some_entries(before), some_entries(after)
    buckets = {number: bucket_digest(_members(old, number)) for number in map(bucket_of, old)}
    for number in {bucket_of(entry_id) for entry_id in old.keys() ^ new.keys()}:
        buckets.pop(number, None)
        if members := _members(new, number):
            buckets[number] = bucket_digest(members)
    assert tree_id(buckets) == tree_id_of_entries(new)


def _members(entries: dict[str, bytes], bucket: int) -> list[tuple[str, bytes]]:
    return [(entry_id, digest) for entry_id, digest in entries.items() if bucket_of(entry_id) == bucket]


@given(st.sets(st.integers(0, 300), min_size=1), st.data())
@a_few
def test_a_changed_entry_gives_another_tree_id(numbers: set[int], data: st.DataObject) -> None:
    entries = some_entries(numbers)
    changed = f"mem_{data.draw(st.sampled_from(sorted(numbers)))}"
    assert tree_id_of_entries(entries | {changed: an_entry(changed, text="other\n")}) != tree_id_of_entries(entries)


def test_canonical_json_sorts_names_by_utf_16_units() -> None:
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]  # the example of RFC 8785, 3.2.3
    written = json.loads(
        canonical_json(dict.fromkeys(names, 0)), object_pairs_hook=lambda pairs: [name for name, _ in pairs]
    )
    assert written == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def json_values() -> st.SearchStrategy[JsonValue]:
    numbers = st.integers(-(2**53) + 1, 2**53 - 1)
    text = st.text() | st.text('"\\/\b\f\n\r\t\x00\x1f\x7f\u2028é😀\ufb33')
    leaves: st.SearchStrategy[JsonValue] = st.none() | st.booleans() | numbers | text
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4))


def written_by_the_rfc(value: JsonValue) -> str:
    """RFC 8785, section 3.2, written out: literals, integers, strings, arrays, objects."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(map(escaped_by_the_rfc, value)) + '"'
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: list(name.encode("utf-16-be")))
        return "{" + ",".join(f"{written_by_the_rfc(name)}:{written_by_the_rfc(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written_by_the_rfc, value)) + "]"
    return str(value)


def escaped_by_the_rfc(character: str) -> str:
    short = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return short.get(character) or (f"\\u{ord(character):04x}" if character < " " else character)


@given(json_values())
@many
def test_canonical_json_is_that_of_rfc_8785(value: JsonValue) -> None:
    assert canonical_json(value) == written_by_the_rfc(value).encode()


@pytest.mark.parametrize("value", [1.0, float("nan"), 2**53, -(2**53), "\ud800", {"a": [0.5]}, {"\udc00": 1}])
def test_canonical_json_refuses_what_has_no_exact_form(value: JsonValue) -> None:
    with pytest.raises(ValueError, match=r"floats|exact|surrogates"):
        canonical_json(value)


@pytest.mark.parametrize(
    ("at", "written"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05.000000Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 120_000, tzinfo=UTC), "2026-01-02T03:04:05.120000Z"),
        (datetime(2026, 1, 2, 0, 30, tzinfo=timezone(timedelta(hours=2))), "2026-01-01T22:30:00.000000Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_an_instant_is_written_in_utc_with_six_digits(at: datetime, written: str) -> None:
    assert instant(at) == written


def test_a_time_without_an_offset_is_no_instant() -> None:
    with pytest.raises(ValueError, match="offset"):
        instant(datetime(2026, 1, 2))  # noqa: DTZ001  (the point of the test)


def test_a_commit_id_covers_the_rfc_8785_json_of_its_fields() -> None:
    assert commit_id(FIELDS) == COMMIT


@pytest.mark.parametrize(
    "other",
    [
        replace(FIELDS, scope="project"),
        replace(FIELDS, org_id=OrganizationId("org_2")),
        replace(FIELDS, project_id=A_PROJECT),
        replace(FIELDS, version=2),
        replace(FIELDS, parent_commit_id=CommitId(COMMIT)),
        replace(FIELDS, tree_id=TreeId(EMPTY_TREE)),
        replace(FIELDS, message=""),
        replace(FIELDS, review_id=None),
        replace(FIELDS, created_by=UserId("usr_2")),
        replace(FIELDS, created_at=FIELDS.created_at + timedelta(microseconds=1)),
        replace(FIELDS, org_commit_id=CommitId(COMMIT)),
        replace(FIELDS, selection_revision=1),
    ],
)
def test_each_field_of_a_commit_is_covered_by_its_id(other: CommitFields) -> None:
    assert commit_id(other) != commit_id(FIELDS)


def test_a_commit_id_does_not_depend_on_the_offset_its_time_is_given_in() -> None:
    elsewhere = FIELDS.created_at.astimezone(timezone(timedelta(hours=-5)))
    assert commit_id(replace(FIELDS, created_at=elsewhere)) == commit_id(FIELDS)


def test_a_selection_is_the_sorted_set_of_its_ids_without_a_final_newline() -> None:
    assert selection_body(["mem_b", "ctx_a", "mem_b"]) == '["ctx_a","mem_b"]'
    assert selection_body([]) == "[]"


def a_result() -> dict[MemoryId, State]:
    return {
        MemoryId("mem_3"): a_state("b.md", text="hello\n"),
        MemoryId("mem_1"): a_state("a.md", description="hi", text="hello\n"),
        MemoryId("mem_2"): None,
    }


def test_a_result_hash_covers_the_final_states_sorted_by_id() -> None:
    assert result_hash(a_result(), A_PROJECT, [MemoryId("mem_1")]) == RESULT


def test_a_result_hash_does_not_depend_on_the_order_of_the_states() -> None:
    backwards = dict(reversed(a_result().items()))
    assert result_hash(backwards, A_PROJECT, [MemoryId("mem_1")]) == RESULT


@pytest.mark.parametrize(
    "change",
    [
        {MemoryId("mem_1"): None},
        {MemoryId("mem_2"): a_state("a.md", description="hi", text="hello\n")},
        {MemoryId("mem_1"): a_state("A.md", description="hi", text="hello\n")},
        {MemoryId("mem_1"): a_state("a.md", description="", text="hello\n")},
        {MemoryId("mem_1"): a_state("a.md", description="hi", text="hello!\n")},
        {MemoryId("mem_4"): None},
    ],
)
def test_each_part_of_a_final_state_is_covered_by_the_result_hash(change: dict[MemoryId, State]) -> None:
    assert result_hash(a_result() | change, A_PROJECT, [MemoryId("mem_1")]) != RESULT


def test_a_result_hash_covers_the_project_of_what_is_created() -> None:
    assert result_hash(a_result(), ProjectId("prj_2"), [MemoryId("mem_1")]) != RESULT
    assert result_hash(a_result(), A_PROJECT, []) != RESULT


def test_a_result_without_creates_hashes_the_same_in_every_project() -> None:
    assert result_hash(a_result(), A_PROJECT, []) == result_hash(a_result(), ProjectId("prj_2"), [])


def test_what_is_created_and_deleted_again_is_selected_for_no_project() -> None:
    gone = [MemoryId("mem_1"), MemoryId("mem_2")]
    assert result_hash(a_result(), A_PROJECT, gone) == RESULT
