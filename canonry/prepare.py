"""The child of `canonry.preparation`: migrate, make the first organization, hand over the owner's secret.

Reads a database URL as one line, writes one JSON object: `secret` is null unless this was the first start.
"""

import json
import os
import sys
from pathlib import Path

from sqlalchemy.exc import OperationalError
from sqlmodel import Session

from canonry.preparation import OWNER_TOKEN
from models.database import build_engine
from models.migrations import upgrade
from models.settings import Settings, load_settings
from models.store.bootstrap import first_start


def main() -> None:
    """Prepare the database that is named on standard input."""
    settings = load_settings()
    url = sys.stdin.readline().strip()
    if not url:  # the parent gave up
        return
    try:
        upgrade(url)
        secret = _first_secret(url, settings)
    except OperationalError as error:
        sys.exit(f"The database does not answer: {error.orig}")
    print(json.dumps({"secret": secret}))


def _first_secret(url: str, settings: Settings) -> str | None:
    engine = build_engine(url, settings, pool_size=1, application_name="canonry prepare")
    with Session(engine) as session, session.begin():
        made = first_start(session)
        if made is not None:
            # Before the commit: an organization whose token nobody has would be a locked house.
            _write_private(settings.data / OWNER_TOKEN, f"{made.secret}\n")
    engine.dispose()
    return None if made is None else made.secret


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)


if __name__ == "__main__":
    main()
