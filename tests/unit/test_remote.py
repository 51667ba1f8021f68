"""What a command makes of answers that Canonry does not give: a real HTTP server gives them."""

import threading
import time
from pathlib import Path

import pytest

from canonry.documents.folder import read_folder
from canonry.failures import CommandFailed
from canonry.importing.survey import survey
from canonry.importing.upload import upload
from canonry.refusals import Refused
from models.schemas.tenancy import MeView
from tests.false_server import Given, serving
from tests.import_command import a_folder

PROBLEM = "application/problem+json"
REFUSED = (422, PROBLEM, b'{"code": "operation_invalid", "detail": "No.", "status": 422}')
AWAY = (503, PROBLEM, b'{"code": "unavailable", "detail": "Not now.", "status": 503}')
NOTHING_STAGED = (200, "application/json", b'{"items": [], "next_cursor": null}')


@pytest.mark.parametrize("content", [b"<html>Bad gateway</html>", b"[]", b""])
def test_a_problem_that_is_none_is_told_as_an_answer_of_somebody_else(content: bytes) -> None:
    with serving(lambda _method, _body: (400, PROBLEM, content)) as remote, pytest.raises(CommandFailed) as failure:
        remote.get("/me", MeView)
    assert str(failure.value) == f"{remote.url}/v1/api/me answered 400, not as Canonry does."


def test_an_upload_that_is_refused_ends_at_once_and_leaves_no_request_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("canonry.importing.upload.MAX_REQUEST_FILES", 1)
    found = survey(lambda: read_folder(a_folder(tmp_path, {"away.md": "a\n", "refused.md": "b\n"})), lambda _: None)
    is_away = threading.Event()

    def answer(method: str, body: bytes) -> Given:
        if method == "GET":
            return NOTHING_STAGED
        if b'"away.md"' in body:
            is_away.set()
            return AWAY
        is_away.wait(10)
        return REFUSED

    with serving(answer) as remote:
        began = time.monotonic()
        with pytest.raises(Refused, match=r"No\."):
            upload(remote, "imp_1", found, lambda *_: None)
        assert time.monotonic() - began < 5
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("upload")]
