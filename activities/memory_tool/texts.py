"""What the tool says to a model; texts that somebody wrote are shown so that nothing in them hides (memory.md §3)."""

from collections.abc import Sequence

from models.rules.memory_block import unavailable_line, visible
from models.rules.visibility import Place, Scope
from models.store.structured import MemoryRecord

NOTHING_FOUND = "No memories found."
INDENT = "    "
LINE_END = "\r\n"


def saved_text(record: MemoryRecord, *, created: bool) -> str:
    """`Saved memory 'n' (type=t, scope=s)`, or `Updated …`."""
    verb = "Saved" if created else "Updated"
    return f"{verb} memory '{visible(record.name)}' (type={record.type}, scope={record.scope})"


def deleted_text(record: MemoryRecord) -> str:
    """`Deleted memory 'n' (scope=s)`."""
    return f"Deleted memory '{visible(record.name)}' (scope={record.scope})"


def record_text(record: MemoryRecord) -> str:
    """The row line, a blank line, the content; the line ends of either kind of system stay."""
    lines = record.content.split(LINE_END)
    return f"{row_line(record)}\n\n{LINE_END.join(map(visible, lines))}"


def row_line(record: MemoryRecord) -> str:
    """`[type:scope] name — description`."""
    return f"[{record.type}:{record.scope}] {visible(record.name)} — {visible(record.description)}"


def rows_text(rows: Sequence[str], unavailable: Sequence[tuple[Scope, str]]) -> str:
    """The rows, or that there are none; then a line for each scope that had to be left out, with the problem's code."""
    return "\n".join([*(rows or [NOTHING_FOUND]), *(unavailable_line(scope, code) for scope, code in unavailable)])


def found_row(record: MemoryRecord, snippet: str) -> str:
    """A row line with the snippet below it, which is harmless already."""
    return f"{row_line(record)}\n{INDENT}{snippet}"


def miss(name: str, scope: Scope) -> str:
    """That a scope has no memory of the name."""
    return f"Memory '{visible(name)}' not found (scope={scope})"


def with_other_places(detail: str, others: Sequence[Place]) -> str:
    """The detail of a miss, and where else the name exists; others in the contract's order."""
    if not others:
        return detail
    scopes = [place.scope for place in others]
    listed = ", ".join(f"'{scope}'" for scope in scopes)
    retry = " or ".join(f"scope='{scope}'" for scope in scopes)
    noun = "scope" if len(scopes) == 1 else "scopes"
    return f"{detail.removesuffix('.')}; it exists in {noun} {listed}: retry with {retry}"


def refusal_text(name: str, detail: str, others: Sequence[Place], *, forbids: bool) -> str:
    """The detail of a refusal, and where else the name exists: with the memory named, so that it is what `it` means.

    Args:
        name: the memory's.
        detail: of the refusal.
        others: as `with_other_places` takes them.
        forbids: whether the memory could be read.
    """
    if not others:
        return detail
    what = "changed" if forbids else "reached"
    return with_other_places(f"Memory '{visible(name)}' cannot be {what}: {detail[:1].lower()}{detail[1:]}", others)
