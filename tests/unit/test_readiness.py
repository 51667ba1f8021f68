"""A start waits for an index that is being rebuilt as long as it gets on."""

import pytest

from canonry.readiness import index_progress


@pytest.mark.parametrize(
    ("answer", "progress"),
    [
        ('{"code": "unavailable", "index": {"status": "rebuilding", "progress": 0.25}}', 0.25),
        ('{"code": "unavailable", "index": {"status": "up", "progress": 1.0}}', 1.0),
        ('{"code": "forbidden"}', 0.0),
        ("[Errno 111] Connection refused", 0.0),
        ("[]", 0.0),
        ("", 0.0),
    ],
)
def test_the_progress_of_an_index_is_read_from_whatever_is_answered(answer: str, progress: float) -> None:
    assert index_progress(answer) == progress
