"""The API, asked as any client would."""

import httpx

from canonry.diagnosis.lines import Line, bad, ok, shown, warn
from canonry.embedded.ports import is_free
from models.settings import Settings

ANSWER_LIMIT_S = 5.0
PARTS = ("database", "migrations", "temporal")


def api_line(url: str) -> Line:
    """What `/readyz` says at a URL where something is to serve."""
    try:
        answer = httpx.get(f"{url}/readyz", timeout=ANSWER_LIMIT_S, trust_env=False)
        parts = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        advice = "Read api.log where it runs, or check the address."
        return bad("api", f"{shown(url)} does not answer", advice)
    down = [part for part in PARTS if isinstance(parts, dict) and parts.get(part) != "up"]
    down += _index_trouble(parts.get("index") if isinstance(parts, dict) else None)
    if answer.status_code != httpx.codes.OK:
        named = ", ".join(down) or f"status {answer.status_code}"
        return bad("api", f"{shown(url)} is not ready: {named}", "It serves when these parts do.")
    if down:
        return warn("api", f"{shown(url)} is ready without {', '.join(down)}", "Commands wait until it is back.")
    return ok("api", f"{shown(url)} is ready")


def _index_trouble(index: object) -> list[str]:
    """What keeps the search index from answering, if anything does."""
    if not isinstance(index, dict) or index.get("status") == "up":
        return []
    progress = index.get("progress")
    return [f"index ({progress:.0%} rebuilt)" if isinstance(progress, float | int) else "index"]


def port_line(settings: Settings) -> Line:
    """Whether a start would get the API's port, where nothing of ours is known to serve on it."""
    where = f"{settings.host}:{settings.port}"
    if is_free(settings.port, settings.host):
        return ok("api", f"stopped, {where} is free")
    return warn("api", f"another program listens on {where}", "Choose another port with --port, or stop that program.")
