"""Alembic's entry point: migrate on the connection that the caller opened."""

from alembic import context
from sqlmodel import SQLModel

import models.tables

assert models.tables.__all__  # noqa: S101  (importing the package registers every table)

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    compare_type=True,
    compare_server_default=True,
)
with context.begin_transaction():
    context.run_migrations()
