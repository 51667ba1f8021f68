"""What breaks an organization's rows, as a disk, a restore or a hand at the database would, and which check tells.

The statements work on `tests.lives.a_lived_in_organization`; `:o` is the organization.
"""

# ruff: noqa: S608  (our own constants make these statements)

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Corruption:
    """What is broken by `plant`, and found by `check` at the id that `named` selects.

    `also` are the further checks that it cannot but break as well.
    """

    what: str
    check: str
    named: str
    plant: tuple[str, ...]
    also: frozenset[str] = field(default_factory=frozenset)


def breaks(what: str, check: str, named: str, *plant: str, also: str = "") -> Corruption:
    """A corruption; `also` are names with spaces between them."""
    return Corruption(what, check, f"select {named}", plant, frozenset(also.split()))


def first(column: str, rows: str) -> str:
    """The least value of a column among the organization's rows, as an expression."""
    return f"(select min({column}) from {rows} and org_id = :o)"


ZEROS = "repeat('0', 64)"
NOWHERE = "xxx_nowhere"

CHANGED = first("memory_id", "memory_versions where path = 'a/changed.md'")
"""The Memory that was changed most often, and that both projects select."""

DELETED = first("memory_id", "memory_versions where path = 'a/deleted.md'")
MOVED = first("memory_id", "memory_versions where path = 'a/moved.md'")
BODY = first("blob_id", f"memory_versions where to_version is null and memory_id = {CHANGED}")

FIRST_PROJECT = first("project_id", "projects where true")
SECOND_PROJECT = "(select max(project_id) from projects where org_id = :o)"

MERGED = first("review_id", "reviews where status = 'merged'")
"""The Review that published the first three Memories, as version 1."""

APPROVED = first("review_id", "reviews where status = 'approved'")
REJECTED = first("review_id", "reviews where status = 'rejected'")
TALKED_ABOUT = first("review_id", "review_comments where true")
OPEN_DRAFT = first("draft_id", "draft_operations where path = 'open.md'")


def organization_commit(version: int) -> str:
    """The id of a commit of the organization."""
    return first("commit_id", f"commits where project_id is null and version = {version}")


def review_of(path: str) -> str:
    """The Review whose latest submission proposes a path."""
    return first("review_id", f"review_submission_states where path = '{path}'")


def draft_of(path: str) -> str:
    """The Draft that creates a path."""
    return first("draft_id", f"draft_operations where path = '{path}'")
