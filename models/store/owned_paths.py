"""Which Reviews touch whose paths: old and new paths of every touched Memory count (publication.md §4).

The base and the result of the latest submission do, and where a Memory stands now as long as the Review may be merged.
"""

from collections.abc import Sequence
from typing import TypedDict

from sqlalchemy import Connection, text

from models.identifiers import OrganizationId, ReviewId, UserId
from models.rules.path_owners import PathOwners, globs_of, pattern_of, pattern_of_any


class PathOwnersEntry(TypedDict):
    """Whose approval the paths of a glob need, as it is stored."""

    glob: str
    users: list[str]


# Rows that are older than their path keys are matched without regard to normal form.
TOUCHED_KEYS = """
    select coalesce(s.path_key, lower(s.path)) as path_key from review_submission_states s
    where s.org_id = :org_id and s.review_id = r.review_id and s.number = r.submission
    union all
    select coalesce(s.base_path_key, lower(s.base_path)) from review_submission_states s
    where s.org_id = :org_id and s.review_id = r.review_id and s.number = r.submission
    union all
    select v.path_key from review_submission_states s
    join memory_versions v on v.org_id = :org_id and v.memory_id = s.memory_id and v.to_version is null
    where s.org_id = :org_id and s.review_id = r.review_id and s.number = r.submission
      and r.status not in ('withdrawn', 'merged')
"""
"""The path keys that the Review `r` touches; null where a Memory does not exist on a side."""

PATH_OWNERS = text("select path_owners from organizations where org_id = :org_id")

# The keys once, then glob by glob: PostgreSQL keeps few compiled expressions, and would compile for each key again.
TOUCHED_GLOBS = text(f"""
    with keys as materialized (
        select k.path_key from reviews r cross join lateral ({TOUCHED_KEYS}) as k
        where r.org_id = :org_id and r.review_id = :review_id
    )
    select cast(g.position as integer) from unnest(cast(:patterns as text[])) with ordinality as g(pattern, position)
    where exists (select from keys where keys.path_key ~ g.pattern) order by 1
""")  # noqa: S608  (a constant of ours)


def read_path_owners(connection: Connection, org_id: OrganizationId) -> tuple[PathOwners, ...]:
    """The organization's path owners, in the order of its policy."""
    return path_owners_in(connection.execute(PATH_OWNERS, {"org_id": org_id}).scalar_one_or_none())


def path_owners_in(column: Sequence[PathOwnersEntry] | None) -> tuple[PathOwners, ...]:
    """The path owners that stand in the organization's row."""
    return tuple(PathOwners(entry["glob"], tuple(map(UserId, entry["users"]))) for entry in column or ())


def touched_entries(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, owners: Sequence[PathOwners]
) -> list[PathOwners]:
    """Those of the entries whose globs the Review touches."""
    if not owners:
        return []
    names = {"org_id": org_id, "review_id": review_id, "patterns": [pattern_of(entry.glob) for entry in owners]}
    return [owners[position - 1] for position in connection.execute(TOUCHED_GLOBS, names).scalars()]


def owned_pattern(connection: Connection, org_id: OrganizationId, user_id: UserId) -> str | None:
    """The regular expression of the path keys that a user owns; None of somebody who owns none."""
    globs = globs_of(read_path_owners(connection, org_id), user_id)
    return pattern_of_any(globs) if globs else None


def owns_touched_path(connection: Connection, org_id: OrganizationId, user_id: UserId, review_id: ReviewId) -> bool:
    """Whether the Review touches a path that the user owns."""
    owners = [entry for entry in read_path_owners(connection, org_id) if user_id in entry.users]
    return bool(touched_entries(connection, org_id, review_id, owners))
