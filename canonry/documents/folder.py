"""The Markdown files of a folder, one at a time: what git ignores, what is hidden and symlinks are passed over."""

import os
import stat
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from canonry.documents.front_matter import read_document
from canonry.documents.manifest import MANIFEST, Manifest, parse_manifest
from canonry.documents.overlooking import IGNORE_FILE, IgnoreRules, is_hidden, is_markdown
from canonry.failures import CommandFailed
from models.errors import OperationInvalid, TooLarge
from models.identifiers import MemoryId
from models.rules.bodies import MAX_BODY_BYTES
from models.rules.paths import accept_path

UNREADABLE = "unreadable"
NOT_UTF8 = "not_utf8"

MAX_FILE_BYTES = 4 * MAX_BODY_BYTES
"""More is not read: a body within its limit has room for CRLF, front matter and a long blank end."""

MAX_MANIFEST_BYTES = 256 * MAX_FILE_BYTES
_EXCLUDE_FILE = Path(".git", "info", "exclude")


@dataclass(frozen=True, slots=True)
class Found:
    """A file of UTF-8; `path` is relative, with `/`, in NFC, and `text` as it is in the file."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file whose text is not to be had, or a folder (`is_folder`) that nobody can look into.

    `memory_id` is what the beginning of a file that is too large says. In a name that is not UTF-8 each byte stands as
    a lone surrogate, as Python has it.
    """

    path: str
    code: str
    detail: str
    memory_id: MemoryId | None = None
    is_folder: bool = False


def read_folder(root: Path) -> Iterator[Found | Unreadable]:
    """Every `.md` and `.mdc` file below a folder, each file where `canonry export` put it, always in the same order.

    Raises:
        CommandFailed: there is no such folder, or nobody can look into it; before the first file.
    """
    require_folder(root)
    try:
        with os.scandir(root):
            manifest = folder_manifest(root)
    except OSError as error:
        raise CommandFailed(f"{root} cannot be read: {error.strerror}.") from error
    return _read(root, None if manifest is None else manifest.also)


def folder_manifest(root: Path) -> Manifest | None:
    """What the folder was exported from, None where it was not.

    Raises:
        CommandFailed: its manifest is none, or cannot be read.
    """
    try:
        data = _contents(root / MANIFEST, limit=MAX_MANIFEST_BYTES)
    except OSError as error:
        raise CommandFailed(f"{root} cannot be read: {error.strerror}.") from error
    return None if data is None else parse_manifest(data, str(root / MANIFEST))


def require_folder(path: Path) -> None:
    """Refuse what is no folder.

    Raises:
        CommandFailed: nothing is there, or something else.
    """
    try:
        if path.is_dir():
            return
        missing = not path.exists()
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}.") from error
    raise CommandFailed(f"{path} does not exist." if missing else f"{path} is not a folder.")


def found(path: str, data: bytes) -> Found | Unreadable:
    """The file of these bytes; of a larger one its beginning is enough."""
    path = _nfc(path)
    if len(data) > MAX_FILE_BYTES:
        memory_id = read_document(data[:MAX_BODY_BYTES].decode(errors="replace")).memory_id
        return Unreadable(path, TooLarge.code, f"The file has more than {MAX_FILE_BYTES:,} bytes.", memory_id)
    try:
        path.encode()
    except UnicodeEncodeError:
        return Unreadable(path, NOT_UTF8, "The name is not UTF-8.")
    try:
        return Found(path, data.decode())
    except UnicodeDecodeError as error:
        return Unreadable(path, NOT_UTF8, f"The text is not UTF-8 (byte {error.start + 1}).")


def _read(root: Path, also: Collection[str] | None) -> Iterator[Found | Unreadable]:
    # An exported folder stands on its own: what it lies in has no say.
    above, prefix = (IgnoreRules(), "") if also is not None else _rules_above(root)
    listed = set[str]()
    for item in _walk(root, above, prefix):
        if isinstance(item, Unreadable):
            yield item
        else:
            listed.add(item)
            yield from _read_file(root, item)
    for path in also or ():
        if path not in listed and _is_inside(root, path):
            yield from _read_file(root, path)


def _rules_above(root: Path) -> tuple[IgnoreRules, str]:
    """The rules of the git working tree that the folder lies in, and the folder's path there with a slash, or empty.

    A folder that those rules ignore was named by somebody who knows it, so they say nothing about it.
    """
    root = root.resolve()
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    rules, names = IgnoreRules(), root.relative_to(top).parts
    for depth in range(len(names)):
        here = "/".join(names[:depth])
        rules = rules.within(here, _ignore_files(top / here))
        if rules.ignores("/".join(names[: depth + 1]), is_folder=True):
            return IgnoreRules(), ""
    return rules, "".join(f"{name}/" for name in names)


def _walk(root: Path, rules: IgnoreRules, prefix: str) -> Iterator[str | Unreadable]:
    """The paths of the Markdown files; `prefix` is where the rules' paths begin."""
    waiting = [("", rules)]
    while waiting:
        folder, above = waiting.pop()
        try:
            with os.scandir(root / folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Unreadable(_nfc(folder), UNREADABLE, f"The folder: {error.strerror}.", is_folder=True)
            continue
        here = above.within((prefix + folder).rstrip("/"), _ignore_files(root / folder))
        below = []
        for entry in inside:
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_hidden(entry.name) or not (is_folder or is_markdown(entry.name)):
                continue
            if here.ignores(prefix + path, is_folder=is_folder):
                continue
            if is_folder:
                below.append((path, here))
            elif entry.is_file(follow_symlinks=False):
                yield path
        waiting += reversed(below)


def _ignore_files(folder: Path) -> list[str]:
    """The texts of a folder's ignore files, the weakest first. git follows no symlink to one, either."""
    texts = [_bytes_of(folder / name) for name in (_EXCLUDE_FILE, Path(IGNORE_FILE))]
    return [data.decode("utf-8-sig", "surrogateescape") for data in texts if data is not None]


def _read_file(root: Path, path: str) -> Iterator[Found | Unreadable]:
    """The file; nothing where there is none any more, or something that is no file."""
    try:
        data = _contents(root / path)
    except OSError as error:
        yield Unreadable(_nfc(path), UNREADABLE, f"The file: {error.strerror}.")
        return
    if data is not None:
        yield found(path, data)


def _bytes_of(path: Path) -> bytes | None:
    try:
        return _contents(path)
    except OSError:
        return None


def _contents(path: Path, *, limit: int = MAX_FILE_BYTES) -> bytes | None:
    """The first bytes of a regular file, one more than the limit; None where there is none.

    Raises:
        OSError: it is there, and cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(limit + 1)


def _is_inside(root: Path, path: str) -> bool:
    """Whether a manifest's path leads to a place in the folder without a symlink on the way."""
    try:
        place, names = root, accept_path(path).split("/")
    except OperationInvalid:
        return False
    for name in names:
        place /= name
        if place.is_symlink():
            return False
    return True


def _nfc(path: str) -> str:
    return unicodedata.normalize("NFC", path)
