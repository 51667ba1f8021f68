"""Schema: tables, columns, keys, constraints and indexes are those that this version writes to.

Tables and indexes that somebody added beside them are no findings.
"""

import re
from collections.abc import Iterator, Mapping

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import CheckConstraint, Column, Connection, Dialect, Executable, Index, Table, text
from sqlalchemy.schema import Constraint, CreateIndex
from sqlmodel import SQLModel

import models.tables  # noqa: F401  (registers the schema)
from models.store.verification.findings import Finding, shown

CHECKS = text("""
    select c.conname as name, pg_get_constraintdef(c.oid) as definition
    from pg_constraint c join pg_class t on t.oid = c.conrelid
    where c.contype = 'c' and pg_table_is_visible(t.oid)
""")
INDEXES = text("""
    select c.relname as name, case when i.indisvalid then pg_get_indexdef(c.oid) else 'an unfinished one' end
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where pg_table_is_visible(i.indrelid)
""")

# The server writes definitions in its own way: it adds brackets and types, and says `= any (array[…])` for `in`.
ITS_OWN_WAY = (
    (re.compile(r"::\w+(\[\])?"), ""),
    (re.compile(r"= any \(\(?array\["), "in ("),
    (re.compile(r"\bon \w+\.(?=\w)"), "on "),
    (re.compile(r"\busing btree\b|^check\b"), ""),
    (re.compile(r"[()\[\]\s,\"]+"), " "),
)
COMPARED_BELOW = ("remove_table", "remove_index", "add_index")
"""What Alembic tells and is no finding, or one by its definition."""


def check_schema(connection: Connection) -> Iterator[Finding]:
    """The whole database's schema against this version's."""
    context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
    missing: set[str] = set()
    for difference in compare_metadata(context, SQLModel.metadata):
        if isinstance(difference, list):  # what is different about one column
            for change in difference:
                yield _changed_column(*change)
        elif difference[0] == "add_table":
            missing.add(difference[1].name)
            yield Finding("schema.table", "a table is missing", difference[1].name, "a table", "nothing")
        elif difference[0] not in COMPARED_BELOW:
            yield _added(*difference)
    tables = [table for table in SQLModel.metadata.sorted_tables if table.name not in missing]
    yield from _compared("schema.check", _stored(connection, CHECKS), _declared_checks(tables))
    yield from _compared("schema.index", _stored(connection, INDEXES), _declared_indexes(tables, connection.dialect))


def _added(action: str, *what: object) -> Finding:
    """A column, key or constraint that is too few or too many; its description is Alembic's."""
    verb, _, kind = action.partition("_")
    thing = what[-1]
    if isinstance(thing, Column):
        expected, found = ("a column", "nothing") if verb == "add" else ("no column", shown(str(thing.type)))
        what_is = f"a column is {'missing' if verb == 'add' else 'there that nobody knows'}"
        return Finding("schema.column", what_is, f"{what[-2]}.{thing.name}", expected, found)
    name = str(thing.name) if isinstance(thing, (Constraint, Index)) else shown(str(thing))
    words = "a foreign key" if kind == "fk" else "a constraint"
    expected, found = (words, "nothing") if verb == "add" else ("none", words)
    what_is = f"{words} is {'missing' if verb == 'add' else 'there that nobody knows'}"
    return Finding("schema.constraint", what_is, name, expected, found)


def _changed_column(
    action: str, _schema: str | None, table: str, column: str, _known: object, found: object, expected: object
) -> Finding:
    aspect = action.removeprefix("modify_")
    if aspect == "nullable":
        expected, found = ("nulls" if nullable else "no nulls" for nullable in (expected, found))
        aspect = "rule for nulls"
    return Finding(
        "schema.column", f"its {aspect} is another", f"{table}.{column}", _written(expected), _written(found)
    )


def _written(value: object) -> str:
    """A type or a default as SQL has it."""
    return shown(str(getattr(value, "arg", value))) if value not in (None, False) else "nothing"


def _compared(check: str, stored: Mapping[str, str], declared: Mapping[str, str]) -> Iterator[Finding]:
    for name, definition in declared.items():
        if name not in stored:
            yield Finding(check, "it is missing", name, shown(definition), "nothing")
        elif _plain(stored[name]) != _plain(definition):
            yield Finding(check, "it is another", name, shown(definition), shown(stored[name]))


def _stored(connection: Connection, statement: Executable) -> dict[str, str]:
    return {row[0]: row[1] for row in connection.execute(statement)}


def _declared_checks(tables: list[Table]) -> dict[str, str]:
    return {
        str(constraint.name): str(constraint.sqltext)
        for table in tables
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint)
    }


def _declared_indexes(tables: list[Table], dialect: Dialect) -> dict[str, str]:
    """Those that are declared, and those that the server keeps for primary keys, which Alembic does not compare."""
    written = {
        str(index.name): str(CreateIndex(index).compile(dialect=dialect)) for table in tables for index in table.indexes
    }
    for table in tables:
        columns = ", ".join(column.name for column in table.primary_key.columns)
        name = str(table.primary_key.name)
        written[name] = f"CREATE UNIQUE INDEX {name} ON {table.name} ({columns})"
    return written


def _plain(definition: str) -> str:
    plain = definition.lower()
    for written, ours in ITS_OWN_WAY:
        plain = written.sub(ours, plain)
    return plain.strip()
