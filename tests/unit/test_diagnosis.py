"""What the doctor makes of numbers that no test can wait for, and what it never shows."""

import pytest

from canonry.diagnosis.api import api_line
from canonry.diagnosis.database import clock_line, feed_line
from canonry.diagnosis.folder import room_line
from canonry.diagnosis.lines import duration, shown, size
from models.store.installation import Session
from tests.false_server import serving


@pytest.mark.parametrize(
    ("sessions", "mark", "text", "advice"),
    [
        ([], "ok", "lag 0.0 s, longest transaction 0 s", ""),
        ([Session(7, "psql", 3.0, holds_feed=True)], "ok", "lag 3.0 s, longest transaction 3 s", ""),
        (
            [Session(7, "psql", 10.0, holds_feed=True)],
            "warn",
            "lag 10.0 s, longest transaction 10 s",
            "Followers see changes that late; look again in half a minute.",
        ),
        (
            [Session(7, "psql", 90.0, holds_feed=False)],
            "warn",
            "lag 0.0 s, longest transaction 90 s (process 7, psql)",
            "End it, if nobody needs it: `select pg_terminate_backend(7)`.",
        ),
        (
            [Session(7, "", 90.0, holds_feed=True)],
            "bad",
            "lag 90.0 s, longest transaction 90 s (process 7, unnamed)",
            "End it, if nobody needs it: `select pg_terminate_backend(7)`.",
        ),
        (  # a verification reads for long, and holds nobody up
            [Session(7, "canonry-command", 900.0, holds_feed=False), Session(8, "canonry-api", None, holds_feed=False)],
            "ok",
            "lag 0.0 s, longest transaction 0 s",
            "",
        ),
    ],
)
def test_what_holds_the_feed_up_is_named(sessions: list[Session], mark: str, text: str, advice: str) -> None:
    line = feed_line(sessions)
    assert (line.mark, line.text, line.advice) == (mark, text, advice)


@pytest.mark.parametrize(("apart_s", "mark"), [(0.5, "ok"), (-3.0, "warn"), (120.0, "bad")])
def test_clocks_that_are_apart_are_told(apart_s: float, mark: str) -> None:
    assert clock_line(apart_s).mark == mark


@pytest.mark.parametrize(("free", "mark"), [(50_000_000_000, "ok"), (1_000_000_000, "warn"), (100_000_000, "bad")])
def test_a_disk_that_fills_up_is_told(free: int, mark: str) -> None:
    assert room_line(free, "").mark == mark


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("postgresql://me:hunter2@db/x", "postgresql://***@db/x"),
        ("no postgresql://u:SEC@RET/PW@127.0.0.1:1/x", "no postgresql://***@127.0.0.1:1/x"),
        ("postgresql://u:SE?C#RET@db/x and me@home", "postgresql://***@db/x and me@home"),
        ("postgresql://db/x?password=a@b", "postgresql://db/x?password=***"),
        ("host=db password=hunter2 user=me", "host=db password=*** user=me"),
        ("postgresql://db/x?password=hunter2&a=b", "postgresql://db/x?password=***&a=b"),
        ("the token cnr_abc-1_2 is", "the token *** is"),
        ("a\x1b[2J\nb", r"a\x1b[2J\nb"),
    ],
)
def test_secrets_and_what_steers_a_terminal_are_not_shown(text: str, what: str) -> None:
    assert shown(text) == what


def test_durations_and_sizes_are_in_the_unit_that_says_most() -> None:
    assert [duration(seconds) for seconds in (0.2, 90, 300, 7_200, 400_000)] == [
        "0 s",
        "90 s",
        "5 min",
        "2 h",
        "5 days",
    ]
    assert [size(number) for number in (0, 340_000_000, 2_100_000_000)] == ["0 MB", "340 MB", "2.1 GB"]


def test_an_api_whose_index_is_being_rebuilt_says_how_far_it_is() -> None:
    parts = (
        b'"database": "up", "migrations": "up", "temporal": "up", "index": {"status": "rebuilding", "progress": 0.4}'
    )
    with serving(lambda _method, _body: (503, "application/problem+json", b"{" + parts + b"}")) as remote:
        line = api_line(remote.url)
    assert line.mark == "bad"
    assert line.text.endswith("is not ready: index (40% rebuilt)")
