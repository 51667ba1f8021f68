"""Every statement about structured memories takes its condition from the one builder (memory.md §2): a lint."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("models", "search", "activities", "workflows", "api", "canonry")
BUILDER = {"VISIBLE", "IN_PLACE", "WHOLE", "AT_PLACE"}
TABLE = "structured_memories"
USES = re.compile(r"(?<!insert into )\bstructured_memories\b")  # what is inserted is no row that anybody sees

WITHOUT_THE_BUILDER = {
    "models/store/structured_feed.py:BY_ID": "the search index holds every organization's, and answers by envelope",
    "models/store/structured_feed.py:PAGE": "the same",
    "models/store/structured_feed.py:TOTAL": "the same; a number alone",
    "models/store/structured_revisions.py:PAGE": "the same; ids and revisions alone",
    "models/store/structured_cleanup.py:HELD": "ids of what goes with its user, workstream or project, whoever sees it",
    "models/store/structured_cleanup.py:PRESENT": "the same",
    "models/store/structured_cleanup.py:CLEAR": "the same",
}
"""Statements that no envelope bounds, each with its reason."""

# Tables and migrations speak of the table, not of its rows; the verification reads every row of an organization.
NO_QUERIES = ("models/tables", "models/migrations", "models/store/verification")


def statements(source: str) -> Iterator[tuple[str, bool]]:
    """Each text that names the table: the constant or function it stands in, and whether each use has its condition."""
    for node in ast.parse(source).body:
        for text in _texts(node):
            uses = len(USES.findall(ast.unparse(text)))
            if uses or TABLE in ast.unparse(text):
                yield _name_of(node), 0 < uses <= _conditions(text)


def _conditions(text: ast.JoinedStr | ast.Constant) -> int:
    parts = text.values if isinstance(text, ast.JoinedStr) else ()
    fields = [part.value for part in parts if isinstance(part, ast.FormattedValue)]
    return sum(isinstance(field, ast.Name) and field.id in BUILDER for field in fields)


def _texts(node: ast.AST) -> Iterator[ast.JoinedStr | ast.Constant]:
    """The texts below a node but for docstrings, those with fields as a whole."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _texts(child)


def _name_of(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.target)
    return node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else ast.unparse(node)


def _of_the_product() -> Iterator[tuple[str, bool]]:
    for path in (path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))):
        file = path.relative_to(ROOT).as_posix()
        if not file.startswith(NO_QUERIES):
            for name, bounded in statements(path.read_text(encoding="utf-8")):
                yield f"{file}:{name}", bounded


def test_every_statement_on_structured_memories_goes_through_the_builder_but_those_that_are_listed() -> None:
    assert {name for name, bounded in _of_the_product() if not bounded} == set(WITHOUT_THE_BUILDER)


def test_the_lint_reads_the_statements_of_every_verb() -> None:
    seen = {name.rpartition(":")[2] for name, bounded in _of_the_product() if bounded}
    assert seen >= {"READ", "LIST", "COUNT", "BY_ID", "HOLDING", "SAVE", "DELETE", "RESTORE", "HISTORY"}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('X = "select * from structured_memories m"', [("X", False)]),
        ('X = f"select * from structured_memories m where {VISIBLE}"', [("X", True)]),
        (
            'X = f"delete from structured_memories m where {VISIBLE} and exists (select from structured_memories)"',
            [("X", False)],
        ),
        ('X = f"select {COLUMNS} from structured_memories m where m.name = %(name)s"', [("X", False)]),
        (
            'def read():\n    """Of structured_memories."""\n    text("delete from structured_memories")',
            [("read", False)],
        ),
        ('X = "select * from memories"', []),
    ],
)
def test_the_lint_finds_a_statement_without_the_builder(source: str, found: list[tuple[str, bool]]) -> None:
    assert list(statements(source)) == found
