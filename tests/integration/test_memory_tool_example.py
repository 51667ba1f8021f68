"""The example of docs/how-to/use-the-memory-tool.md does what the page says."""

import re
import subprocess
import sys
from pathlib import Path

from sqlalchemy import Engine, text

from models.store.sessions import NewSession, create_session
from models.store.workstreams import WorkstreamChange, create_workstream
from tests.databases import url_of
from tests.rows import acting, an_organization
from tests.up import an_environment

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-the-memory-tool.md"


def blocks(language: str) -> list[str]:
    """The code blocks of the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_the_page_says_and_leaves_nothing(engine: Engine, tmp_path: Path) -> None:
    place = an_organization(engine)
    with acting(place) as tx:
        stream = create_workstream(tx, place.owner, WorkstreamChange(title="", project_id=None, memory_enabled=True))
        new = NewSession("interactive", place.owner, stream.workstream_id, None, read_only=False, resumes=False)
        session = create_session(tx, new)
    (example,) = blocks("python")
    file = tmp_path / "example.py"
    file.write_text(example, encoding="utf-8")
    environment = an_environment(CANONRY_DATABASE_URL=url_of(engine), CANONRY_DATA=str(tmp_path))
    ran = subprocess.run(
        [sys.executable, str(file), place.org_id, session.session_id],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.stdout, ran.returncode) == (blocks("text")[-1], 0), ran.stderr
    with engine.connect() as connection:
        kept = "select name from structured_memories where org_id = :org_id and deleted_at is null"
        assert connection.execute(text(kept), {"org_id": place.org_id}).all() == []
