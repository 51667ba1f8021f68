"""The manifest of an exported folder is changed all at once or not at all."""

import json
import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from canonry.documents.manifest import MANIFEST, Manifest, amend_manifest, parse_manifest

NOBODY = 65534

KEYS = {
    "format": "canonry-export/1",
    "scope": "org",
    "commit_id": "c1",
    "tree_id": "t1",
    "also": ["Möhre.txt"],
    "later": {"more": None},
}


def written(folder: Path) -> Manifest:
    """Write a manifest with a key of a later version."""
    data = (json.dumps(KEYS) + "\n").encode()
    (folder / MANIFEST).write_bytes(data)
    return parse_manifest(data, MANIFEST)


def keys(folder: Path) -> object:
    return json.loads((folder / MANIFEST).read_bytes())


@contextmanager
def a_read_only_folder() -> Iterator[Path]:
    """A folder below /tmp with a manifest, for the time that this process is somebody to whom its modes apply."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written(folder)
        folder.chmod(0o555)
        (folder / MANIFEST).chmod(0o444)
        before = os.geteuid()
        if before == 0:
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(before)
            folder.chmod(0o755)


def test_what_is_changed_leaves_every_other_key_as_it_is(tmp_path: Path) -> None:
    amend_manifest(tmp_path, written(tmp_path), {"commit_id": "c2", "taken": {"a.md": "d"}})

    assert keys(tmp_path) == {**KEYS, "commit_id": "c2", "taken": {"a.md": "d"}}
    assert [each.name for each in tmp_path.iterdir()] == [MANIFEST]


def test_the_mode_of_the_file_stays(tmp_path: Path) -> None:
    seen = written(tmp_path)
    (tmp_path / MANIFEST).chmod(0o640)

    amend_manifest(tmp_path, seen, {"taken": {"a.md": "d"}})

    assert (tmp_path / MANIFEST).stat().st_mode & 0o777 == 0o640


def test_a_manifest_that_another_export_wrote_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    seen = written(tmp_path)
    amend_manifest(tmp_path, seen, {"commit_id": "c2"})

    amend_manifest(tmp_path, seen, {"commit_id": "c3"})

    assert keys(tmp_path) == {**KEYS, "commit_id": "c2"}


def test_a_folder_that_cannot_be_written_is_left_as_it_is() -> None:
    with a_read_only_folder() as folder:
        seen = parse_manifest((folder / MANIFEST).read_bytes(), MANIFEST)
        with pytest.raises(PermissionError):
            (folder / "new").touch()

        amend_manifest(folder, seen, {"taken": {"a.md": "d"}})

        assert keys(folder) == KEYS
        assert [each.name for each in folder.iterdir()] == [MANIFEST]


def test_a_disk_that_takes_no_more_leaves_the_manifest_whole(tmp_path: Path) -> None:
    seen = written(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, limits[1]))
    try:
        amend_manifest(tmp_path, seen, {"taken": {"a.md": "d"}})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert keys(tmp_path) == KEYS
    assert [each.name for each in tmp_path.iterdir()] == [MANIFEST]


def test_a_manifest_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    seen = written(tmp_path)
    (tmp_path / MANIFEST).unlink()

    amend_manifest(tmp_path, seen, {"taken": {"a.md": "d"}})

    assert list(tmp_path.iterdir()) == []
