"""How the cost of something grows with its input."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

SLACK_S = 0.2


def require_linear(work: Callable[[T], object], whole: T, half: T) -> None:
    """Assert that twice the input costs no more than some twice the time of the processor.

    What grows with the square of inputs of 100,000 and more costs four times as much, and seconds at least.
    """
    assert _cost_s(work, whole) < 3 * _cost_s(work, half) + SLACK_S


def _cost_s(work: Callable[[T], object], given: T) -> float:
    return min(_once_s(work, given) for _ in range(2))


def _once_s(work: Callable[[T], object], given: T) -> float:
    began = time.process_time()
    work(given)
    return time.process_time() - began
