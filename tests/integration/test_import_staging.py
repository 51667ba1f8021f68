"""Staging: files are counted as they come, up to a limit (publication.md §6)."""

import pytest
from sqlalchemy import Engine

from models.errors import OperationInvalid
from models.identifiers import ImportId
from models.store.imports import insert_import, read_import, stage_files
from tests.imports import a_file
from tests.rows import Somewhere, acting, an_organization


def an_empty_import(place: Somewhere) -> ImportId:
    with acting(place) as tx:
        row = insert_import(tx, project_id=place.project_id, title="T", mirror=False, prefix="", source=None)
    assert row is not None
    return row.import_id


def stage(place: Somewhere, import_id: ImportId, *paths: str) -> None:
    with acting(place) as tx:
        stage_files(tx, import_id, [a_file(path) for path in paths])


def staged(place: Somewhere, import_id: ImportId) -> int:
    with place.engine.connect() as connection:
        row = read_import(connection, place.org_id, import_id)
    assert row is not None
    return row.staged


def test_every_path_counts_once(engine: Engine) -> None:
    place = an_organization(engine)
    import_id = an_empty_import(place)
    stage(place, import_id, "a.md", "b.md", "a.md", "a\\b.md")
    stage(place, import_id, "b.md", "c.md")
    assert staged(place, import_id) == 4


def test_more_files_than_an_import_holds_are_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.store.imports.MAX_IMPORT_FILES", 2)
    place = an_organization(engine)
    import_id = an_empty_import(place)
    stage(place, import_id, "a.md", "b.md")
    stage(place, import_id, "b.md")
    with pytest.raises(OperationInvalid) as caught:
        stage(place, import_id, "c.md")
    assert caught.value.context == {"field": "files", "rule": "too_many"}
    assert staged(place, import_id) == 2
