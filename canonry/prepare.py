"""Bring a database to where serving can begin: schema, and on an empty one the first organization.

Run as a child of `canonry.preparation`, it reads the database's URL as one line and writes one JSON object, whose
`secret` is the owner's, null unless this was the first start.
"""

import json
import os
import sys
from pathlib import Path

from sqlalchemy.exc import OperationalError

from canonry.preparation import OWNER_TOKEN
from models.database import build_engine
from models.migrations import upgrade
from models.settings import Settings, load_settings
from models.store.bootstrap import first_start


def prepare(settings: Settings, database_url: str) -> str | None:
    """Migrate; on an empty database make the first organization and write its owner's secret to the data folder.

    Returns:
        The secret, None unless this was the first start.
    """
    upgrade(database_url)
    engine = build_engine(database_url, settings, pool_size=1, application_name="canonry-prepare")
    try:
        with engine.begin() as connection:
            made = first_start(connection, global_write=settings.memory.global_write)
            if made is not None:
                # Before the commit: an organization whose token nobody has would be a locked house.
                _write_private(settings.data / OWNER_TOKEN, f"{made.secret}\n")
    finally:
        engine.dispose()
    return None if made is None else made.secret


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)


def main() -> None:
    """Prepare the database that is named on standard input."""
    settings = load_settings()
    url = sys.stdin.readline().strip()
    if not url:  # the parent gave up
        return
    try:
        secret = prepare(settings, url)
    except OperationalError as error:
        sys.exit(f"The database does not answer: {error.orig}")
    print(json.dumps({"secret": secret}))


if __name__ == "__main__":
    main()
