"""What a problem says of the candidates that it brings."""

from typing import Any


def contested(problem: dict[str, Any]) -> dict[str, list[str]]:
    """By Draft that needs reconciliation, the codes of its conflicts."""
    return {
        candidate["draft_id"]: [conflict["code"] for conflict in candidate["conflicts"]]
        for candidate in problem["candidates"]
    }
