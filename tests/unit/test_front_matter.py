import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonry.documents.front_matter import (
    INVALID_BLOCK,
    INVALID_DESCRIPTION,
    Document,
    read_document,
    render_document,
)
from models.errors import OperationInvalid
from models.identifiers import MemoryId
from models.rules.bodies import accept_body, accept_description, normalize_body
from tests.growth import require_linear

MEMORY = MemoryId("mem_0198c0ffee")
# What front matter is made of, so that examples often are some.
PIECES = (
    *(
        "---\n",
        "...\n",
        "--- \n",
        "\n",
        " ",
        "\t",
        "#",
        "# Title\n",
        "```\n",
        "===\n",
        ">",
        "|",
        "- ",
        "[",
        "{",
        "}",
        "*a",
        "&a ",
    ),
    *(
        "id: ",
        f"id: {MEMORY}\n",
        "description: ",
        "description: text\n",
        "tags: a\n",
        "description:\n",
        "'",
        '"',
        "? ",
        ": ",
    ),
    *(
        "!!str ",
        "%YAML 1.1\n",
        "\u2028",
        "\x85",
        "\ufeff",
        "\x0c",
        "\x07",
        "<<: ",
        '"\\U00110000"',
        '"\\ud800"',
        "é",
        "記",
    ),
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join)


def document(*, body: str, memory_id: str | None = None, description: str | None = None) -> Document:
    return Document(memory_id=None if memory_id is None else MemoryId(memory_id), description=description, body=body)


def accepted(raw: str) -> str | None:
    try:
        return accept_body(raw)
    except OperationInvalid:
        return None


def described(raw: str) -> str | None:
    try:
        return accept_description(raw)
    except OperationInvalid:
        return None


bodies = texts.map(accepted).filter(lambda body: body is not None)
descriptions = st.text(max_size=40).map(described).filter(lambda text: text is not None)


def test_id_and_description_are_taken_and_an_empty_block_goes_with_its_fences() -> None:
    text = f"---\nid: {MEMORY}\ndescription: How we deploy.\n---\n# Deploying\n"
    assert read_document(text) == document(memory_id=MEMORY, description="How we deploy.", body="# Deploying\n")


def test_a_blank_line_below_the_block_stays() -> None:
    assert read_document("---\ndescription: x\n---\n\n# Title\n").body == "\n# Title\n"


def test_other_keys_comments_and_order_stay_byte_for_byte() -> None:
    text = "---\n# ours\ntags:  [b,  a]   # two\ndescription: x # gone\n\n'z':   1\nid: mem_1\ng: \"*.py\"\n...\nBody\n"
    found = read_document(text)
    assert found.body == "---\n# ours\ntags:  [b,  a]   # two\n\n'z':   1\ng: \"*.py\"\n...\nBody\n"
    assert (found.memory_id, found.description) == ("mem_1", "x")


@pytest.mark.parametrize("value", ["", " ", " ''", ' ""', " null", " ~", ' "  "', " >", " # none"])
def test_an_empty_description_counts(value: str) -> None:
    assert read_document(f"---\ndescription:{value}\n---\n# Title\n") == document(description="", body="# Title\n")


@pytest.mark.parametrize(
    ("value", "description"),
    [
        ("'  trimmed '", "trimmed"),
        (">\n  Folded\n  lines.", "Folded lines."),
        ("|\n  One line.\n", "One line."),
        ("plain\n  and on", "plain and on"),
        ('"\\u00e9: #1"', "é: #1"),
        ("!!str 12", "12"),
        ("&anchor text", "text"),
        ("x" * 1024, "x" * 1024),
        ("記憶の運用", "記憶の運用"),
    ],
)
def test_a_description_may_be_written_in_every_way_of_yaml(value: str, description: str) -> None:
    found = read_document(f"---\na: 1\ndescription: {value}\nz: 2\n---\nBody\n")
    assert (found.description, found.notes) == (description, ())
    assert found.body.replace("\n\n", "\n") == "---\na: 1\nz: 2\n---\nBody\n"


@pytest.mark.parametrize(
    "value",
    [
        "[a, b]",
        "\n  - a",
        "{a: b}",
        "12",
        "1.5",
        "true",
        "yes",
        "2026-01-31",
        "!x text",
        "|\n  a\n  b",
        "x" * 1025,
        '"\\0"',
        '"\\ud800"',
    ],
)
def test_a_description_that_is_no_line_of_text_is_noted_and_stays(value: str) -> None:
    text = f"---\nid: mem_1\ndescription: {value}\n---\n# Title\n"
    found = read_document(text)
    assert [note.code for note in found.notes] == [INVALID_DESCRIPTION]
    assert (found.memory_id, found.description) == ("mem_1", "Title")
    assert found.body == text.replace("id: mem_1\n", "")


@pytest.mark.parametrize(
    "block",
    [
        "a: b: c\n",
        "globs: *.ts\ndescription: x\n",
        "description: x\ndescription: y\n",
        "id: mem_1\nid: mem_2\n",
        "a: &a [x]\nb: *a\n",
        "- a\n- b\n",
        "prose\n",
        "# a comment\n",
        "a: " + "[" * 101 + "]" * 101 + "\n",
        "{description: x}\n",
        "? description\n: x\n",
        "description: x\n--- \n".replace("--- ", "--- b: c"),
        "%YAML 1.1\n",
        'a: "\\U00110000"\n',
        'a: "\\Uffffffff"\n',
        "a: \x07\n",
        "a\tb: [\n",
        "a: x\u2028description: y\n",
        "description: y\u2028a: x\n",
    ],
)
def test_front_matter_that_cannot_be_used_is_noted_and_stays(block: str) -> None:
    text = f"---\n{block}---\n# Title\n"
    found = read_document(text)
    assert [note.code for note in found.notes] == [INVALID_BLOCK]
    assert (found.memory_id, found.body) == (None, text)


@pytest.mark.parametrize("block", ["a: b: c\n", "description: [x]\n", "tags: x\n", "prose\n", "- a\n"])
def test_a_heading_is_looked_for_below_the_block(block: str) -> None:
    assert read_document(f"---\n{block}---\n# Title\n").description == "Title"


@pytest.mark.parametrize("block", ["description:\tHow\n", "tags:\tx\ndescription: \t How\n"])
def test_a_tab_after_a_key_is_white_space(block: str) -> None:
    found = read_document(f"---\n{block}---\n# Title\n")
    assert (found.description, found.notes) == ("How", ())


def test_markdown_between_two_thematic_breaks_is_markdown() -> None:
    text = "---\n\n# Title\n\n---\n# Other\n"
    found = read_document(text)
    assert (found.description, found.body) == ("Title", text)
    assert [note.code for note in found.notes] == [INVALID_BLOCK]


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n---\nid: mem_1\n---\n",
        " ---\nid: mem_1\n---\n",
        "---\nid: mem_1\n",
        "---\n",
        "----\nid: mem_1\n----\n",
    ],
)
def test_a_block_opens_in_the_first_line_and_closes(text: str) -> None:
    found = read_document(text)
    assert (found.memory_id, found.body, found.notes) == (None, text, ())


@pytest.mark.parametrize("value", ["5", "abc", "prv_1", "mem_", "mem_a.b", "mem_" + "x" * 191, "[mem_1]", "MEM_1", ""])
def test_any_other_id_is_an_ordinary_key(value: str) -> None:
    text = f"---\nid: {value}\ndescription: x\n---\nBody\n"
    assert read_document(text) == document(description="x", body=f"---\nid: {value}\n---\nBody\n")


@pytest.mark.parametrize("memory_id", ["mem_1", "ctx_a-b", "rul_A_b", "wfl_" + "9" * 190])
def test_ids_of_every_kind_are_taken(memory_id: str) -> None:
    assert read_document(f"---\nid: '{memory_id}'\n---\nBody\n").memory_id == memory_id


def test_line_ends_and_byte_order_mark_are_normalized_before_reading() -> None:
    assert read_document("\ufeff---\r\nid: mem_1\r\n---\r\n\ufeffA\rB\r\n\r\n") == document(
        memory_id="mem_1", body="A\nB\n"
    )


@pytest.mark.parametrize(
    ("begin", "repeated", "times"),
    [
        ("a: ", "[", 200_000),
        ("", "- ", 100_000),
        ("", "? ", 50_000),
        ("a: 'b", " \n", 120_000),
        ("", "a:\n", 10_000),
        ("", "b: ", 80_000),
    ],
    ids=["flow", "lists", "keys", "breaks", "lines", "colons"],
)
def test_hostile_front_matter_is_read_in_time_that_grows_with_its_length(begin: str, repeated: str, times: int) -> None:
    whole, half = (f"---\n{begin}{repeated * number}\n---\nBody\n" for number in (times, times // 2))
    require_linear(read_document, whole, half)


@given(text=texts)
def test_every_text_is_read_and_what_is_not_taken_stays(text: str) -> None:
    found = read_document(text)
    if found.memory_id is None and not any(line.startswith("description") for line in text.split("\n")):
        assert found.body == normalize_body(text)


@given(memory_id=st.from_regex(r"\A(mem|ctx|rul|wfl)_[A-Za-z0-9_-]{1,190}\Z"), description=descriptions, body=bodies)
def test_what_is_rendered_reads_back(memory_id: str, description: str, body: str) -> None:
    rendered = render_document(memory_id=MemoryId(memory_id), description=description, body=body)
    assert read_document(rendered) == document(memory_id=memory_id, description=description, body=body)
    assert normalize_body(rendered) == rendered


@given(description=st.text().map(described).filter(bool))
def test_every_description_reads_back(description: str) -> None:
    rendered = render_document(memory_id=MEMORY, description=description, body="Body\n")
    assert read_document(rendered).description == description


def test_a_body_s_own_front_matter_is_merged_with() -> None:
    body = "---\ntags: x\n---\n# Title\n"
    rendered = render_document(memory_id=MEMORY, description="d", body=body)
    assert rendered == f"---\nid: {MEMORY}\ndescription: d\ntags: x\n---\n# Title\n"


def test_a_body_whose_front_matter_would_change_gets_a_block_of_its_own_before_it() -> None:
    body = "---\ndescription: [x]\n---\n# Title\n"
    rendered = render_document(memory_id=MEMORY, description="", body=body)
    assert rendered == f"---\nid: {MEMORY}\ndescription: ''\n---\n{body}"
