"""Tenant isolation is in every query, not in the router (publication.md §7): a lint over all SQL of the product.

A statement names `org_id` for each table of an organization that it reads or writes. What serves the whole
installation is listed here by name.
"""

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import TextClause
from sqlmodel import SQLModel

import models.tables

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("models", "search", "activities", "workflows", "api")
NO_QUERIES = ("migrations", "tables")

TENANT_TABLES = {table.name for table in SQLModel.metadata.sorted_tables if "org_id" in table.c}

assert models.tables.__all__  # registers the schema

ACROSS_ORGANIZATIONS = {
    "models/store/tokens.py:CREDENTIAL_WITH",
    "models/store/tokens.py:CREDENTIAL",  # a secret names its organization itself
    "models/store/operations.py:CLAIM_DUE",  # delivery serves every organization, and reads ids only
    "models/store/operations.py:reviews_to_refresh",
    "models/store/unreconciled.py:CLAIM_BEHIND",  # the same
    "models/store/retention.py:KEYS",  # what is past retention, whosever it is; reads no row's contents
    "models/store/retention.py:OPERATIONS",
    "models/store/retention.py:CANDIDATES",
    "models/store/retention.py:IMPORTS",
    "models/store/retention.py:ORGANIZATIONS",
    "models/store/operations.py:FINISHED_AMONG",  # operations that requests wait for, by their ids
    "models/store/operations.py:ANY_FINISHED",  # whether the installation ever worked; reads no row's contents
    "models/store/structured_feed.py:REACHES",  # the search index follows every organization, and answers by envelope
    "models/store/structured_feed.py:CHANGES",
    "models/store/structured_feed.py:PAGE",
    "models/store/structured_revisions.py:PAGE",  # the same; ids and revisions alone
    "models/store/verification/installation.py:STRAYS",  # rows of organizations that are not there
    "models/store/bootstrap.py:first_start",  # whether there is an organization at all
}

GOING_OWNERS = {"models/store/locks.py:LOCK_USER", "models/store/locks.py:LOCK_WORKSTREAMS"}
"""What is deleted afterwards: the lock of the deletion itself, early enough that nothing joins what is cleared."""

# What whoever runs the installation sees by its commands, and no request ever does.
INSTALLATION = "models/store/installation.py"

# Statements for psycopg itself are plain texts, with its own parameters.
SPOKEN_TO_THE_DRIVER = re.compile(r"\s*(?:with|select|insert into|update|delete from)\s")
DRIVERS_PARAMETER = re.compile(r"%\((\w+)\)s")

KEYWORDS = "set|where|on|using|values|order|left|inner|cross|join|limit|for|group|and|select|returning|union|from"
NAMED = re.compile(
    rf"(\b(?:from|join|into|update|using)|,)\s+([a-z_]+)\b(?:\s+(?:as\s+)?(?!(?:{KEYWORDS})\b)([a-z_]+)\b)?"
)
BARE = re.compile(r"(?<![.\w])org_id\s*=\s*(:org_id|[a-z]+\.org_id)")


@cache
def statements() -> tuple[tuple[str, str], ...]:
    return tuple(_statements())


def _statements() -> Iterator[tuple[str, str]]:
    """Every text of SQL in the product, named by its file and the constant or function that holds it."""
    for path in (path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))):
        if path.parent.name in NO_QUERIES or "migrations" in path.parts:
            continue
        file = path.relative_to(ROOT)
        constants = vars(importlib.import_module(".".join(file.with_suffix("").parts)))
        module = ast.parse(path.read_text())
        for name in _assigned(module):
            for sql in _sql_in(constants.get(name)):
                yield f"{file}:{name}", sql
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef):
                for call in ast.walk(node):
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "text":
                        yield f"{file}:{node.name}", _text(call.args[0], constants)


def _assigned(module: ast.Module) -> Iterator[str]:
    """The constants that a module makes; those it imports are read where they are made."""
    for node in module.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def _sql_in(value: object) -> Iterator[str]:
    """The SQL of a constant, or of each of several, with its parameters as SQLAlchemy writes them."""
    for constant in value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else (value,):
        if isinstance(constant, TextClause):
            yield constant.text
        if isinstance(constant, str) and "%" in constant and SPOKEN_TO_THE_DRIVER.match(constant):
            yield DRIVERS_PARAMETER.sub(r":\1", constant)


def _text(node: ast.expr, constants: Mapping[str, object]) -> str:
    """The text of a literal, with the constants of its module filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, constants) for part in node.values)
    if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name):
        return str(constants[node.value.id])
    raise AssertionError(f"SQL that no reader could check: {ast.unparse(node)}")


def unfiltered(statement: str) -> list[str]:
    """The tables of organizations that a statement names without their organization."""
    sql = " ".join(statement.lower().split())
    missing = []
    bare = len(BARE.findall(sql))
    for word, table, alias in NAMED.findall(sql):
        if table not in TENANT_TABLES:
            continue
        if word == "into":
            columns = re.search(rf"into {table}(?: as \w+)? \(([^)]*)\)", sql)
            filtered = columns is not None and "org_id" in columns[1]
        elif alias:
            filtered = re.search(rf"\b{alias}\.org_id\b", sql) is not None
        else:
            filtered, bare = bare > 0, bare - 1
        if not filtered or ":org_id" not in sql:
            missing.append(table)
    return missing


def test_every_statement_names_the_organization_of_every_table_but_those_that_are_listed() -> None:
    found = {name: unfiltered(sql) for name, sql in statements() if not name.startswith(INSTALLATION)}
    across = {name: tables for name, tables in found.items() if tables}
    assert across.keys() == ACROSS_ORGANIZATIONS, across


def test_no_request_activity_or_workflow_reads_across_the_installation() -> None:
    module = INSTALLATION.removesuffix(".py").replace("/", ".")
    readers = [path for layer in LAYERS for path in (ROOT / layer).rglob("*.py") if module in path.read_text()]
    assert readers == []


def test_the_lint_reads_most_of_the_products_sql() -> None:
    assert len(statements()) > 100


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("select * from drafts where draft_id = :draft_id", ["drafts"]),
        (
            "select * from drafts d join projects p on p.project_id = d.project_id where d.org_id = :org_id",
            ["projects"],
        ),
        ("update reviews set status = 'open' where review_id = :review_id", ["reviews"]),
        ("delete from org_selections where memory_id = :memory_id", ["org_selections"]),
        ("insert into blobs (blob_id) values (:blob_id)", ["blobs"]),
        ("select 1 from users u join tokens t on t.org_id = u.org_id", ["users", "tokens"]),
        (
            "select 1 from blobs where org_id = :org_id union all select 1 from memories where memory_id = :memory_id",
            ["memories"],
        ),
        ("select 1 from unnest(:ids) as c(id), project_refs r where r.project_id = c.id", ["project_refs"]),
    ],
)
def test_the_lint_finds_a_table_without_its_organization(statement: str, missing: list[str]) -> None:
    assert unfiltered(statement) == missing


def test_sql_stands_in_the_stores_only() -> None:
    elsewhere = {name for name, sql in statements() if not name.startswith("models/store/") and _tables(sql)}
    assert elsewhere <= ACROSS_ORGANIZATIONS


def _tables(statement: str) -> set[str]:
    return {table for _, table, _ in NAMED.findall(statement.lower())} & TENANT_TABLES


def test_no_statement_locks_more_than_a_key_needs() -> None:
    """FOR UPDATE waits for the key-share locks of foreign keys: appends would stall, and two could deadlock."""
    pattern = re.compile(r"\bfor\s+(update|share)\b", re.IGNORECASE)
    assert {name for name, sql in statements() if pattern.search(sql)} == GOING_OWNERS


def test_no_store_builds_a_statement_that_the_lint_cannot_read() -> None:
    for path in sorted((ROOT / "models/store").glob("*.py")):
        for imported in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)):
            named = {alias.name for alias in imported.names}
            built = named & {"select", "insert", "update", "delete", "exists", "table"}
            assert not (imported.module == "sqlalchemy" and built), f"{path.name}: {built}"
            assert not str(imported.module).startswith(("models.tables", "sqlmodel")), path.name
