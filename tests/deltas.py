"""Deltas as a client applies them, by the code that docs/how-to/follow-by-deltas.md gives it."""

import re
from pathlib import Path

from tests.client import Client, Json, items, ok
from tests.hash_reference import verify
from tests.proposals import inside, listed

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "follow-by-deltas.md"


def applied(snapshot: Json, delta: Json) -> Json:
    """What the code that the documentation gives to clients makes of a snapshot and a delta."""
    [block] = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    exec(block, names)  # noqa: S102  (the page's own code is what is tested)
    published = names["apply"]
    assert callable(published)
    result: Json = published(snapshot, delta)
    return result


def delta(client: Client, base: str, target: str) -> Json:
    return ok(client.get(f"/commits/{target}/delta", base=base))


def snapshots(client: Client, chain: str) -> list[Json]:
    """Every version of a chain, oldest first, each with the hashes of what it claims to be."""
    found = [ok(client.get(f"/commits/{commit['commit_id']}")) for commit in items(client.get(chain))][::-1]
    for snapshot in found:
        verify(snapshot)
    return found


def commit_id(snapshot: Json) -> str:
    return str(inside(snapshot, "commit")["commit_id"])


def require_exact(base: Json, target: Json, given: Json) -> None:
    """Assert that a delta makes exactly the target of the base, and brings nothing that the base has."""
    assert given["base"] == commit_id(base)
    assert applied(base, given) == target
    verify(applied(base, given))
    held = {str(blob["blob_id"]) for blob in listed(base, "blobs")}
    assert held.isdisjoint(str(blob["blob_id"]) for blob in listed(given, "blobs"))
    before = listed(inside(base, "tree"), "entries")
    assert [entry for entry in listed(given, "upserted") if entry in before] == []
