"""Column types shared by the tables: exact, portable between PostgreSQL installations, the same everywhere."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import UserDefinedType
from sqlmodel import Field, SQLModel

CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
SQLModel.metadata.naming_convention = CONVENTION
# Rows are never validated by their tables; building what could would take a third of the time to load them.
SQLModel.model_config["defer_build"] = True

# Hashes and path probes need byte order, whatever collation the database was created with.
BYTES_ORDER = Text(collation="C")
TIMESTAMP = DateTime(timezone=True)
JSON = JSONB(none_as_null=True)
DIGEST = LargeBinary(32)


class Xid8(UserDefinedType[str]):
    """PostgreSQL's 64-bit transaction id, which never wraps around."""

    cache_ok = True

    def get_col_spec(self, **_options: object) -> str:
        """The type's name in DDL."""
        return "xid8"


ischema_names["xid8"] = Xid8  # so that the drift test recognizes the column it reads back


def key(**options: Any) -> Any:
    """An id that is part of the primary key."""
    return Field(sa_type=BYTES_ORDER, primary_key=True, **options)


def ident(**options: Any) -> Any:
    """An id, or another text that is compared by bytes."""
    return Field(sa_type=BYTES_ORDER, **options)


def instant() -> Any:
    """A point in time, with its zone."""
    return Field(sa_type=TIMESTAMP)


def instant_or_none() -> datetime | None:
    """A point in time that may be missing."""
    return Field(default=None, sa_type=TIMESTAMP)  # type: ignore[no-any-return]


def one_of(column: str, *values: str) -> CheckConstraint:
    """A check that a text column holds one of the values (enums as text: names stay readable in SQL)."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} in ({listed})", name=f"{column}_known")
