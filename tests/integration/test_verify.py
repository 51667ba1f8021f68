"""`canonry verify` as an operator runs it, and what it means to the service beside it."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, create_engine, text

from models.database import sqlalchemy_url
from models.identifiers import OrganizationId
from models.store.feed import feed_of
from models.store.feed_pages import read_feed
from models.store.verification.organization import verify
from models.store.verification.snapshot import Snapshot, reading
from tests.commands import published
from tests.databases import a_database, url_of
from tests.lives import a_lived_in_organization
from tests.rows import acting, an_organization, creates, execute, updates
from tests.stack import Stack
from tests.terminal import ran

WAIT_S = 30


@pytest.fixture
def server(stack: Stack) -> Iterator[Engine]:
    """The database of the session's data folder."""
    pool = create_engine(sqlalchemy_url(stack.database_url))
    yield pool
    pool.dispose()


@pytest.fixture
def alone(server: Engine) -> Iterator[Engine]:
    """A database that holds what the test puts there."""
    with a_database(server) as pool:
        yield pool


def verified(engine: Engine) -> tuple[int, str]:
    """The exit code and the output for a whole database."""
    done = ran("verify", CANONRY_DATABASE_URL=url_of(engine))
    assert done.errors == ""
    return done.code, done.output


def test_a_healthy_installation_has_exit_code_0_and_one_line_an_organization(alone: Engine) -> None:
    places = [a_lived_in_organization(alone), an_organization(alone)]
    code, output = verified(alone)
    assert code == 0
    *lines, last = output.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"✓ Acme ({place.org_id})" for place in places]
    assert last.startswith("nothing found in 2 organizations")


def test_what_is_found_has_a_line_of_its_own_and_exit_code_4(alone: Engine) -> None:
    place, healthy = an_organization(alone), an_organization(alone)
    (memory_id,) = published(place, creates("1.md"))
    execute(place, "update memories set revision = 7 where org_id = :o")
    code, output = verified(alone)
    assert code == 4
    assert output.splitlines()[0] == (
        f"memory.revision: the revision does not count its changes, Memory {memory_id}, expected 1, found 7"
    )
    assert f"✗ Acme ({place.org_id}): 1 finding," in output
    assert f"✓ Acme ({healthy.org_id}): nothing found," in output
    assert output.splitlines()[-1].startswith("1 finding in 2 organizations")


def test_many_findings_of_one_kind_are_counted_beyond_the_first_twenty(alone: Engine) -> None:
    place = an_organization(alone)
    published(place, *(creates(f"{number}.md") for number in range(25)))
    execute(place, "update memories set revision = 7 where org_id = :o")
    code, output = verified(alone)
    assert code == 4
    assert sum(line.startswith("memory.revision: the revision") for line in output.splitlines()) == 20
    assert "memory.revision: 5 more of these, 25 in all\n" in output


def test_an_organization_whose_row_is_gone_is_verified(alone: Engine) -> None:
    place = an_organization(alone)
    published(place, creates("1.md"))
    superuser = create_engine(alone.url.set(username="postgres"))
    with superuser.begin() as connection:
        connection.execute(text("set local session_replication_role = replica"))
        connection.execute(text("delete from organizations"))
    superuser.dispose()
    code, output = verified(alone)
    assert code == 4
    assert place.org_id in output


def test_what_is_written_on_a_line_cannot_steer_the_terminal(alone: Engine) -> None:
    place = an_organization(alone)
    published(place, creates("1.md"))
    execute(place, "update memory_versions set path = 'a' || chr(27) || '[2J' || chr(10) where org_id = :o")
    _, output = verified(alone)
    assert "path.accepted: " in output
    assert "\x1b" not in output
    assert "a\\u001b[2J\\n" in output


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"CANONRY_DATABASE_URL": "postgresql://127.0.0.1:1/none"}, "The database does not answer"),
        ({"CANONRY_DATA": "/nowhere/at/all"}, "There is no Canonry in /nowhere/at/all"),
    ],
)
def test_what_could_not_run_is_told_apart_from_what_was_found(variables: dict[str, str], sentence: str) -> None:
    done = ran("verify", **variables)
    assert (done.code, done.output) == (1, "")
    assert done.errors.startswith(f"canonry verify: {sentence}")


def test_an_interrupted_run_does_not_say_that_nothing_was_found(stack: Stack, server: Engine) -> None:
    an_organization(server)
    with server.begin() as holder:
        holder.execute(text("lock table blobs in access exclusive mode"))
        command = [sys.executable, "-P", "-m", "canonry", "verify", "--data", str(stack.root)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            _wait_until_it_waits(server)
        finally:
            process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=WAIT_S)
    assert process.returncode == 128 + signal.SIGTERM
    assert "nothing found" not in output


def _wait_until_it_waits(server: Engine) -> None:
    waiting = text("""
        select exists (select from pg_stat_activity where application_name = 'canonry-command'
                       and wait_event_type = 'Lock')
    """)
    deadline = time.monotonic() + WAIT_S
    with server.connect() as connection:
        while not connection.execute(waiting).scalar_one():
            assert time.monotonic() < deadline
            connection.rollback()
            time.sleep(0.05)


def test_merges_that_go_on_meanwhile_are_no_findings(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("1.md"))

    def publish() -> None:
        for number in range(8):
            published(place, updates(memory_id, f"{number}\n"), creates(f"new/{number}.md"))

    with ThreadPoolExecutor(1) as writer:
        writing, times = writer.submit(publish), 0
        while not writing.done() or times == 0:
            with reading(engine) as connection:
                assert verify(connection, place.org_id) == []
            times += 1
        writing.result()
    assert times > 1


def test_however_many_rows_there_are_a_thousand_are_in_memory(engine: Engine) -> None:
    with reading(engine) as connection:
        snapshot = Snapshot(connection, OrganizationId("org_any"))
        rows = snapshot.rows(text("select number from generate_series(1, 100000) as number"))
        assert next(rows)["number"] == 1
        assert snapshot.rows_read == 1_000
        assert sum(1 for _ in rows) == 99_999


def test_a_text_that_nobody_names_is_no_finding(engine: Engine) -> None:
    place = an_organization(engine)
    published(place, creates("1.md", "published\n"))
    execute(
        place,
        r"""
        insert into blobs select :o, encode(sha256('canonry.blob.v1\000'::bytea || convert_to(t, 'UTF8')), 'hex'),
            'sha256:' || encode(sha256(convert_to(t, 'UTF8')), 'hex'), t
        from (values ('nobody''s' || chr(10))) as v(t)
        """,
    )
    with reading(engine) as connection:
        assert verify(connection, place.org_id) == []


def test_followers_do_not_wait_for_a_verification(engine: Engine) -> None:
    place = an_organization(engine)
    with reading(engine) as connection:
        verify(connection, place.org_id)
        published(place, creates("1.md"))
        with acting(place) as tx:
            start = feed_of(tx.connection, place.org_id).floor
            seen = read_feed(tx.connection, place.org_id, place.owner, start, limit=100)
    assert "commit.published" in [event.kind for event in seen.events]


def test_a_verification_changes_nothing_and_leaves_the_pool_its_time_outs(engine: Engine) -> None:
    limits = text("select current_setting('statement_timeout'), current_setting('lock_timeout')")
    with engine.connect() as connection:
        before = connection.execute(limits).one()
    with reading(engine) as connection:
        assert connection.execute(text("show transaction_read_only")).scalar_one() == "on"
        assert connection.execute(limits).one() != before
    with engine.connect() as connection:
        assert connection.execute(limits).one() == before
