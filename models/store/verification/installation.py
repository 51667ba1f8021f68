"""The installation: what belongs to no organization that there is, and what all of them share."""

from collections.abc import Iterator

from sqlalchemy import Connection, text
from sqlmodel import SQLModel

import models.tables  # noqa: F401  (registers the schema)
from models.store.verification.findings import Finding, shown

EPOCHS = text("select count(*) from feed_epochs")
OWNED = tuple(table.name for table in SQLModel.metadata.sorted_tables if "org_id" in table.c)
# Each organization is found by one look into the index, however many rows it has.
STRAYS = tuple(
    text(f"""
        with recursive named as (
            (select org_id from {table} order by org_id limit 1)
            union all
            select (select t.org_id from {table} t where t.org_id > n.org_id order by t.org_id limit 1)
            from named n where n.org_id is not null
        )
        select org_id from named
        where org_id is not null
          and org_id not in (select org_id from organizations union all select org_id from organization_refs)
    """)  # noqa: S608  (our own tables)
    for table in OWNED
)


def check_installation(connection: Connection) -> Iterator[Finding]:
    """The feed's epoch, and rows of organizations that have neither a row nor a ref."""
    epochs = connection.execute(EPOCHS).scalar_one()
    if epochs != 1:
        yield Finding("feed.epoch", "the change feed has no one epoch", "feed_epochs", "one row", str(epochs))
    for table, strays in zip(OWNED, STRAYS, strict=True):
        for org_id in connection.execute(strays).scalars():
            what = "rows of an organization that is not there"
            yield Finding("organization.unknown", what, f"{table} of {shown(org_id)}", "none", "rows")
