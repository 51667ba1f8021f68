"""Times as they come in (RFC 3339, §5.6 and §5.7)."""

from datetime import UTC, datetime

import pytest

from models.rules.instants import read_instant

NEW_YEAR = datetime(2017, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("2016-12-31T23:59:59Z", datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2017-01-01t02:00:00.1234567+02:00", datetime(2017, 1, 1, 0, 0, 0, 123456, tzinfo=UTC)),
        ("2016-12-31T18:00:00-06:00", NEW_YEAR),
    ],
)
def test_a_time_is_read_with_its_offset_and_cut_to_microseconds(raw: str, read: datetime) -> None:
    assert read_instant(raw) == read


@pytest.mark.parametrize(
    "raw",
    ["2016-12-31T23:59:60Z", "2016-12-31t23:59:60.9z", "2017-01-01T01:59:60+02:00", "2016-12-31T18:29:60-05:30"],
)
def test_a_leap_second_is_the_beginning_of_the_second_after_it(raw: str) -> None:
    assert read_instant(raw) == NEW_YEAR


@pytest.mark.parametrize(
    "raw",
    [
        "2016-12-30T23:59:60Z",
        "2016-12-31T23:58:60Z",
        "2016-12-31T23:59:60+01:00",
        "2016-12-31T23:59:61Z",
        "9999-12-31T23:59:60Z",
        "0001-01-01T00:00:00+00:01",
        "2016-12-31T23:59:60",
        "2016-12-32T00:00:00Z",
        "2016-12-31 00:00:00Z",
        "2016-12-31T00:00:00.1234567890Z",
        "٢٠١٦-12-31T00:00:00Z",
        "",
    ],
)
def test_what_is_no_time_is_not_read(raw: str) -> None:
    assert read_instant(raw) is None
