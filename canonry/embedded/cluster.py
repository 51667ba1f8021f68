"""A PostgreSQL cluster on disk: made whole or not at all, and never touched by a second server."""

import os
import re
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from canonry.embedded.accounts import current_user, give_to
from canonry.embedded.binaries import PostgresBinaries, find_postgres, postgres_for
from canonry.embedded.disk import fullness
from canonry.embedded.majors import CarryOver
from canonry.embedded.notes import write_note
from canonry.embedded.placement import PRIVATE, Home
from canonry.embedded.processes import (
    all_that_work_in,
    end_child,
    is_frozen,
    log_size,
    log_tail,
    send,
    server_environment,
    spawn,
    works_in,
)
from canonry.failures import StartFailed

ROLE = "canonry"
"""The role and database of the application: it may make databases (tests do), and nothing else beyond its own."""

SUPERUSER = "postgres"
BUILTIN_LOCALE_SINCE = 17
LEFTOVERS_LIMIT_S = 20
STOP_LIMIT_S = 10
SETTLE_S = 0.2
SOCKET_LINE, STATUS_LINE = 4, 7  # of postmaster.pid


def cluster_major(cluster: Path) -> int | None:
    """The major version that made the cluster, None before there is one.

    Raises:
        StartFailed: files are there, but none says which version made them.
    """
    version = cluster / "PG_VERSION"
    if not version.exists():
        if cluster.exists() and any(cluster.iterdir()):
            raise StartFailed(
                f"{cluster} holds a database, but its file PG_VERSION is gone: bring that back, or the folder from a"
                " backup; nothing was changed."
            )
        return None
    made_by = re.fullmatch(rb"(\d{1,4})(\.\d+)?\s*", version.read_bytes())
    if made_by is None:
        raise StartFailed(
            f"{version} does not say which PostgreSQL made the database: bring that file back, or its folder from a"
            " backup; nothing was changed."
        )
    return int(made_by[1])


def binaries_for(home: Home) -> PostgresBinaries:
    """The programs that fit the cluster, where the account can run them.

    Raises:
        StartFailed: the cluster was made by another major version; the text has the commands that carry it over.
    """
    made_by = cluster_major(home.cluster)
    binaries = find_postgres()
    if made_by not in {None, binaries.major}:
        binaries = postgres_for(home.account, binaries, home.path)
        _, *initdb = map(str, _initdb(binaries, Path("data"), durable=True))
        raise StartFailed(
            CarryOver(home.cluster, home.account, made_by, binaries.programs, binaries.major, initdb).sentence()
        )
    return postgres_for(home.account, binaries, home.path)


def make_cluster(home: Home, binaries: PostgresBinaries, *, durable: bool) -> None:
    """Make an empty cluster beside its place, then rename it into place.

    Call it with the owner's lock held. Without `durable` initdb does not wait for the disk.

    Raises:
        StartFailed: initdb failed; the text quotes its log, and nothing is left behind.
    """
    _remove_unfinished(home)
    unfinished = home.cluster.with_name(f"data.new-{os.getpid()}")
    unfinished.mkdir(mode=PRIVATE)
    give_to(home.account, unfinished)
    try:
        _run(home, _initdb(binaries, unfinished, durable=durable))
        unfinished.rename(home.cluster)
    except BaseException:
        shutil.rmtree(unfinished)
        raise
    _remove_unfinished(home)  # again: what a killed start's initdb still wrote when this began


def _remove_unfinished(home: Home) -> None:
    for unfinished in home.cluster.parent.glob("data.new-*"):
        shutil.rmtree(unfinished, ignore_errors=True)  # a killed start's initdb may be clearing it as well


def write_access_rules(home: Home) -> tuple[Path, Path]:
    """The files `pg_hba.conf` and `pg_ident.conf`: by socket only, and only root, us and the servers' account.

    They lie in our folder, not the account's, and are written at every start, because "us" may change.
    """
    folder = home.cluster.parent
    rules, names = folder / "pg_hba.conf", folder / "pg_ident.conf"
    users = sorted({"root", current_user(), home.account.name})
    roles = "".join(f'{ROLE} "{user}" {role}\n' for user in users for role in (ROLE, SUPERUSER))
    write_note(rules, f"local all all peer map={ROLE}\n", mode=0o644)
    write_note(names, roles, mode=0o644)
    return rules, names


@dataclass(frozen=True)
class RecordedServer:
    """What a server wrote about itself into its pid file; `status` is starting, ready or stopping."""

    pid: int
    socket_dir: Path
    status: str

    @property
    def is_frozen(self) -> bool:
        """Whether a signal stopped it where it stood: it answers nobody, and cannot even end."""
        return is_frozen(self.pid)

    def require_awake(self) -> None:
        """See that somebody may answer.

        Raises:
            StartFailed: it is frozen.
        """
        if self.is_frozen:
            raise StartFailed(
                f"The database server, process {self.pid}, was stopped by a signal (state T) and answers nobody: let it"
                f" go on by `kill -CONT {self.pid}`, then start again."
            )


def recorded_server(cluster: Path) -> RecordedServer | None:
    """The live server that the pid file names; None when its pid is gone, a zombie, or another program's by now."""
    try:
        lines = os.fsdecode((cluster / "postmaster.pid").read_bytes()).splitlines()
    except FileNotFoundError:
        return None
    if len(lines) <= STATUS_LINE or not works_in(int(lines[0]), cluster):
        return None
    return RecordedServer(int(lines[0]), Path(lines[SOCKET_LINE]), lines[STATUS_LINE].strip())


def running_server(cluster: Path) -> RecordedServer | None:
    """The live server of the cluster that means to go on; what dead or stopping ones leave is waited for and cleared.

    Call it with the owner's lock held: then a live server is an orphan, and stale files are nobody's.
    """
    while recorded_server(cluster) is not None:
        time.sleep(SETTLE_S)  # an orphan may be about to notice that it is one
        server = recorded_server(cluster)
        if server is not None:
            server.require_awake()
            if server.status != "stopping":
                return server
    _clear_remains(cluster)
    return None


def _initdb(binaries: PostgresBinaries, cluster: Path, *, durable: bool) -> list[str | Path]:
    command: list[str | Path] = [binaries.program("initdb"), "--pgdata", cluster, "--username", SUPERUSER]
    command += ["--auth", "peer", "--encoding", "UTF8", "--locale", "C", "--data-checksums", "--no-instructions"]
    if binaries.major >= BUILTIN_LOCALE_SINCE:
        # Built in: an upgrade of the system's locales can never corrupt an index.
        command += ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]
    return command if durable else [*command, "--no-sync"]


def _run(home: Home, command: list[str | Path]) -> None:
    log = home.log("postgres")
    begin = log_size(log)
    child = spawn(
        command,
        log=log,
        cwd=home.cluster.parent,
        environment=server_environment(home.path),
        death_signal=signal.SIGTERM,
        account=home.account,
    )
    try:
        code = child.wait()
    except BaseException:  # Ctrl-C while it works
        end_child(child, STOP_LIMIT_S)
        raise
    if code != 0:
        raise StartFailed(f"Making the database failed{fullness(home.path)}:\n{log_tail(log, begin)}")


def _clear_remains(cluster: Path) -> None:
    """Wait for the backends of a killed server (they hold its shared memory), then remove its pid file."""
    deadline = time.monotonic() + LEFTOVERS_LIMIT_S
    while leftovers := all_that_work_in(cluster):
        if time.monotonic() > deadline:
            raise StartFailed(f"Processes of a former database server do not end: {leftovers}.")
        for pid in leftovers:
            send(pid, signal.SIGQUIT)  # what their postmaster would have sent; recovery follows in any case
        time.sleep(SETTLE_S)
    (cluster / "postmaster.pid").unlink(missing_ok=True)
