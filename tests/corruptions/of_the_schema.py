"""Changes of the schema that keep what was promised of it from being so, and what tells."""

from tests.corruptions.breaking import Corruption, breaks


def alters(what: str, check: str, named: str, *plant: str) -> Corruption:
    """A corruption of the schema, found at a name."""
    return breaks(what, check, f"'{named}'", *plant)


OF_THE_SCHEMA = [
    alters("a table that is gone", "schema.table", "review_comments", "drop table review_comments"),
    alters("a column that is gone", "schema.column", "reviews.title", "alter table reviews drop column title"),
    alters(
        "a column of ours that we do not know", "schema.column", "drafts.colour", "alter table drafts add colour text"
    ),
    alters("a column's type", "schema.column", "users.name", "alter table users alter column name type varchar(700)"),
    alters("nulls", "schema.column", "drafts.title", "alter table drafts alter column title drop not null"),
    alters(
        "a default", "schema.column", "operations.failures", "alter table operations alter column failures drop default"
    ),
    alters(
        "a foreign key that is gone",
        "schema.constraint",
        "fk_drafts_org_id_project_id_projects",
        "alter table drafts drop constraint fk_drafts_org_id_project_id_projects",
    ),
    alters(
        "a unique constraint that is gone",
        "schema.constraint",
        "uq_commits_org_id_project_id_version",
        "alter table commits drop constraint uq_commits_org_id_project_id_version",
    ),
    alters(
        "a check that is gone",
        "schema.check",
        "ck_reviews_status_known",
        "alter table reviews drop constraint ck_reviews_status_known",
    ),
    alters(
        "a check of less",
        "schema.check",
        "ck_drafts_base_is_whole",
        "alter table drafts drop constraint ck_drafts_base_is_whole",
        "alter table drafts add constraint ck_drafts_base_is_whole check (base_version >= 0)",
    ),
    alters("an index that is gone", "schema.index", "uq_memory_versions_path", "drop index uq_memory_versions_path"),
    alters(
        "an index of more rows",
        "schema.index",
        "ix_operations_due",
        "drop index ix_operations_due",
        "create index ix_operations_due on operations (next_delivery_at)",
    ),
    alters(
        "a primary key that is gone",
        "schema.index",
        "pk_review_comments",
        "alter table review_comments drop constraint pk_review_comments",
    ),
]
