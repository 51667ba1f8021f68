"""Fetches the Markdown files of pinned packages into a folder outside the repository."""

import base64
import hashlib
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal

PINNED = Path(__file__).with_suffix(".toml")
SUFFIXES = frozenset({".md", ".mdc"})

MOST_MEMBERS = 20_000
MOST_FILE_BYTES = 2**20
MOST_PACKAGE_BYTES = 64 * 2**20
FETCH_LIMIT_S = 300


@dataclass(frozen=True)
class Package:
    """A package of the pinned list; `file` is what PyPI calls the archive, empty for npm."""

    registry: Literal["npm", "pypi"]
    name: str
    version: str
    digest: str
    licence: str
    file: str = ""

    @property
    def folder(self) -> str:
        """Where its files are below the corpus."""
        return f"{self.registry}/{self.name.replace('/', '-').removeprefix('@')}"


def pinned_packages() -> Sequence[Package]:
    """The list beside this file."""
    return [Package(**entry) for entry in tomllib.loads(PINNED.read_text(encoding="utf-8"))["package"]]


def fetch(packages: Sequence[Package], cache: Path) -> Path:
    """The folder with the Markdown files of all packages; what is there already is not fetched again.

    Raises:
        SystemExit: a client is missing or fails, or an archive is not the pinned one or breaks a limit.
    """
    pinned = hashlib.sha256(PINNED.read_bytes()).hexdigest()[:12]
    corpus = cache / pinned
    for package in packages:
        target = corpus / package.folder
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            _fetch(package, target)
    return corpus


def _fetch(package: Package, target: Path) -> None:
    print(f"fetching {package.registry} {package.name} {package.version}", flush=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as scratch:
        archive, unpacked = Path(scratch, "archive"), Path(scratch, "unpacked")
        archive.mkdir()
        _run(_client(package, archive), archive)
        (file,) = (each for each in archive.iterdir() if each.suffix != ".txt")
        _require(_digest(package, file) == package.digest, f"{file.name} is not the archive that is pinned")
        unpacked.mkdir()
        unpack(file, unpacked)
        unpacked.rename(target)


def _client(package: Package, folder: Path) -> Sequence[str]:
    """The registry's own client, set up as it is on this machine, told to fetch one archive into the folder.

    pip runs the build backend of a source archive for its metadata, after comparing the digest.
    """
    if package.registry == "npm":
        return ["npm", "pack", "--ignore-scripts", "--silent", f"{package.name}@{package.version}"]
    form = "--only-binary" if package.file.endswith(".whl") else "--no-binary"
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{package.name}=={package.version} --hash={package.digest}\n", encoding="utf-8")
    return [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--require-hashes", f"{form}=:all:", "-r", str(wanted)),
    ]


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        ran = subprocess.run(  # noqa: S603  (our own words and the pinned list's)
            command, cwd=folder, capture_output=True, text=True, timeout=FETCH_LIMIT_S, check=False
        )
    except FileNotFoundError:
        sys.exit(f"{command[0]} is needed to fetch the corpus")
    _require(ran.returncode == 0, f"{' '.join(command)} failed:\n{ran.stdout}{ran.stderr}")


def _digest(package: Package, file: Path) -> str:
    if package.registry == "npm":
        return "sha512-" + base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
    return "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest()


def unpack(file: Path, folder: Path) -> None:
    """Write the Markdown files of an archive below the folder, each where the archive has it."""
    written = 0
    for path, opened in _markdown_in(file):
        content = opened.read(MOST_FILE_BYTES + 1)
        written += len(content)
        _require(len(content) <= MOST_FILE_BYTES, f"{path} in {file.name} is longer than {MOST_FILE_BYTES} bytes")
        _require(written <= MOST_PACKAGE_BYTES, f"{file.name} unpacks to more than {MOST_PACKAGE_BYTES} bytes")
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _markdown_in(file: Path) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    """Its regular Markdown files; of a tar file without the one folder that everything is in."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            _require(len(archive.infolist()) <= MOST_MEMBERS, f"{file.name} has too many members")
            for entry in archive.infolist():
                path = PurePosixPath(entry.filename)
                if not entry.is_dir() and _wanted(path):
                    with archive.open(entry) as opened:
                        yield path, opened
        return
    with tarfile.open(file) as tar:
        for number, member in enumerate(tar):
            _require(number < MOST_MEMBERS, f"{file.name} has too many members")
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if member.isreg() and _wanted(path):
                content = tar.extractfile(member)
                if content is not None:
                    yield path, content


def _wanted(path: PurePosixPath) -> bool:
    """Whether it is a Markdown file at a path that stays below where it is written."""
    safe = not path.is_absolute() and ".." not in path.parts and "\\" not in str(path)
    return safe and path.suffix.lower() in SUFFIXES


def _require(holds: bool, otherwise: str) -> None:  # noqa: FBT001  (a condition, not a switch)
    if not holds:
        sys.exit(otherwise)
