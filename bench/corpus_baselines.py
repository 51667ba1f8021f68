"""What the corpus costs without Canonry: its rows copied into bare tables, its files committed by git or written."""

import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import Engine

from models.database import libpq_url

TABLES = "select table_name from information_schema.columns where column_name = 'org_id' and table_schema = 'public'"
IDENTITY = ("-c", "user.name=Corpus", "-c", "user.email=corpus@localhost")


def copy_rows(engine: Engine, organization_id: str) -> tuple[int, float]:
    """How many rows an organization has in all tables, and the seconds to COPY them into equal, empty tables.

    The tables have the same columns, defaults, checks and indexes, and no foreign keys; one transaction.
    """
    with psycopg.connect(libpq_url(engine.url.render_as_string(hide_password=False))) as connection:
        connection.execute("create schema bare")
        tables = [str(name) for (name,) in connection.execute(TABLES).fetchall()]
        data = {table: _dumped(connection, table, organization_id) for table in tables}
        connection.commit()
        seconds = _seconds(lambda: _load(connection, data))
        rows = sum(_count(connection, table) for table in tables)
        connection.execute("drop schema bare cascade")
    return rows, seconds


def _dumped(connection: psycopg.Connection, table: str, organization_id: str) -> Sequence[bytes]:
    names = {"name": sql.Identifier(table), "org_id": sql.Literal(organization_id)}
    connection.execute(sql.SQL("create table bare.{name} (like public.{name} including all)").format(**names))
    rows = sql.SQL("copy (select * from public.{name} where org_id = {org_id}) to stdout (format binary)")
    with connection.cursor().copy(rows.format(**names)) as copy:
        return [bytes(block) for block in copy]


def _load(connection: psycopg.Connection, data: Mapping[str, Sequence[bytes]]) -> None:
    for table, blocks in data.items():
        into = sql.SQL("copy bare.{name} from stdin (format binary)").format(name=sql.Identifier(table))
        with connection.cursor().copy(into) as copy:
            for block in blocks:
                copy.write(block)
    connection.commit()


def _count(connection: psycopg.Connection, table: str) -> int:
    counted = connection.execute(sql.SQL("select count(*) from bare.{}").format(sql.Identifier(table))).fetchone()
    return 0 if counted is None else int(counted[0])


def commit_with_git(corpus: Path, folder: Path) -> float | None:
    """The seconds of `git add` and `git commit` of a copy of the corpus; None where there is no git."""
    git = shutil.which("git")
    if git is None:
        return None
    shutil.copytree(corpus, folder)
    subprocess.run([git, "init", "--quiet"], cwd=folder, check=True)  # noqa: S603  (our own words)

    def commit() -> None:
        for words in (["add", "--all"], [*IDENTITY, "commit", "--quiet", "--message", "Corpus"]):
            subprocess.run([git, *words], cwd=folder, check=True)  # noqa: S603  (our own words)

    return _seconds(commit)


def write_files(folder: Path, elsewhere: Path) -> float:
    """The seconds to write the files of a folder elsewhere, one after another."""
    files = {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    def write() -> None:
        for path, content in files.items():
            target = elsewhere / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    return _seconds(write)


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
