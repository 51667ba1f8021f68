"""What `/readyz` tells while the API is not ready."""

import json


def index_progress(answer: str) -> float:
    """The part of the search index that has been rebuilt, from 0 to 1; 0 where the answer does not tell."""
    try:
        readiness = json.loads(answer)
    except ValueError:
        return 0.0
    index = readiness.get("index") if isinstance(readiness, dict) else None
    progress = index.get("progress") if isinstance(index, dict) else None
    return float(progress) if isinstance(progress, int | float) else 0.0
