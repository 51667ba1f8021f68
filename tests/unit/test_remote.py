"""What a command makes of answers that Canonry does not give: a real HTTP server gives them."""

import threading
import time
from pathlib import Path

import pytest

from canonry.documents.folder import read_folder
from canonry.embedded.ports import free_port
from canonry.failures import CommandFailed
from canonry.importing.survey import survey
from canonry.importing.upload import upload
from canonry.refusals import Refused
from canonry.remote import Remote
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


def test_an_address_where_nobody_has_ever_answered_is_doubted_after_five_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("canonry.patience.PATIENCE_WITH_STRANGERS_S", 0.1)
    remote = Remote(f"http://127.0.0.1:{free_port()}", "cnr_test", lambda _: None)

    with pytest.raises(CommandFailed, match=r"is the address right\?$"):
        remote.get("/me", MeView)

    remote.close()


def test_a_server_that_has_answered_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonry.patience.PATIENCE_WITH_STRANGERS_S", 0.0)
    answers = [AWAY, AWAY, REFUSED]

    with serving(lambda _method, _body: answers.pop(0)) as remote, pytest.raises(Refused, match=r"No\."):
        remote.get("/me", MeView)


def test_a_token_that_is_refused_is_named_by_where_it_was_found() -> None:
    unauthenticated = (401, PROBLEM, b'{"code": "unauthenticated", "detail": "No such token.", "status": 401}')

    with serving(lambda _method, _body: unauthenticated) as remote, pytest.raises(Refused) as failure:
        remote.get("/me", MeView)
    assert str(failure.value) == "No such token. It is the token of CANONRY_TOKEN."


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
