"""What the bench takes out of fetched archives: Markdown at its place, within limits, and nothing else."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench import corpus_packages
from bench.corpus_packages import pinned_packages, unpack


def test_regular_markdown_files_of_a_tar_file_are_written_below_their_common_folder(tmp_path: Path) -> None:
    members = {"package/README.md": b"# Read\n", "package/docs/a.MDC": b"a\n", "package/index.js": b"x"}
    assert unpacked(a_tar(tmp_path, members), tmp_path) == {"README.md": b"# Read\n", "docs/a.MDC": b"a\n"}


def test_regular_markdown_files_of_a_wheel_are_written_where_they_are(tmp_path: Path) -> None:
    archive = tmp_path / "x.whl"
    with zipfile.ZipFile(archive, "w") as wheel:
        for name in ("x/README.md", "x/code.py", "../outside.md", "/absolute.md"):
            wheel.writestr(name, name)
    assert unpacked(archive, tmp_path) == {"x/README.md": b"x/README.md"}


@pytest.mark.parametrize("name", ["package/../../outside.md", "package/..\\outside.md", "package//../outside.md"])
def test_nothing_is_written_outside_the_folder(tmp_path: Path, name: str) -> None:
    assert unpacked(a_tar(tmp_path, {name: b"x\n"}), tmp_path) == {}
    assert not list(tmp_path.rglob("outside*"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_what_is_no_regular_file_is_left_out(tmp_path: Path, kind: bytes) -> None:
    archive = tmp_path / "x.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("package/link.md")
        member.type, member.linkname = kind, "/etc/hostname"
        tar.addfile(member)
    assert unpacked(archive, tmp_path) == {}


@pytest.mark.parametrize("limit", ["MOST_FILE_BYTES", "MOST_PACKAGE_BYTES", "MOST_MEMBERS"])
def test_an_archive_beyond_a_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    archive = a_tar(tmp_path, {"package/a.md": b"x" * 10, "package/b.md": b"x" * 10})
    monkeypatch.setattr(corpus_packages, limit, 1)
    with pytest.raises(SystemExit):
        unpacked(archive, tmp_path)


def test_the_pinned_packages_name_a_digest_and_a_licence_each() -> None:
    packages = pinned_packages()
    assert len({package.folder for package in packages}) == len(packages)
    for package in packages:
        assert package.digest.startswith("sha512-" if package.registry == "npm" else "sha256:")
        assert package.licence
        assert bool(package.file) == (package.registry == "pypi")


def a_tar(folder: Path, members: Mapping[str, bytes]) -> Path:
    archive = folder / "x.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return archive


def unpacked(archive: Path, root: Path) -> Mapping[str, bytes]:
    """The files of an archive, by path."""
    folder = root / "unpacked" / "folder"
    folder.mkdir(parents=True)
    unpack(archive, folder)
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
