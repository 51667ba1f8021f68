"""Deltas as a client applies them."""

from tests.client import Client, Json, items, ok
from tests.hash_reference import verify
from tests.proposals import inside, listed, texts


def applied(snapshot: Json, delta: Json) -> Json:
    """The snapshot that a delta makes of its base, by nothing but what the contract says of it."""
    assert inside(snapshot, "commit")["commit_id"] == delta["base"]
    entries = {str(entry["id"]): entry for entry in listed(inside(snapshot, "tree"), "entries")}
    for entry_id in texts(delta, "removed"):
        del entries[entry_id]
    entries |= {str(entry["id"]): entry for entry in listed(delta, "upserted")}
    contents = {str(blob["blob_id"]): blob for blob in [*listed(snapshot, "blobs"), *listed(delta, "blobs")]}
    used = {str(entry["blob_id"]) for entry in entries.values()}
    return {
        "commit": delta["commit"],
        "tree": {"tree_id": delta["tree_id"], "entries": [entries[each] for each in sorted(entries)]},
        "blobs": [contents[each] for each in sorted(used)],
        "project_org_selection": delta["project_org_selection"],
    }


def by_id(snapshot: Json) -> Json:
    """A snapshot with its lists in order of ids, so that equal ones compare as equal."""
    tree = inside(snapshot, "tree")
    entries = sorted(listed(tree, "entries"), key=lambda each: str(each["id"]))
    blobs = sorted(listed(snapshot, "blobs"), key=lambda each: str(each["blob_id"]))
    return {**snapshot, "tree": {**tree, "entries": [*entries]}, "blobs": [*blobs]}


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
    assert by_id(applied(base, given)) == by_id(target)
    verify(applied(base, given))
    held = {str(blob["blob_id"]) for blob in listed(base, "blobs")}
    assert held.isdisjoint(str(blob["blob_id"]) for blob in listed(given, "blobs"))
    before = listed(inside(base, "tree"), "entries")
    assert [entry for entry in listed(given, "upserted") if entry in before] == []
