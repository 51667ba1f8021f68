"""Trees: every entry hashes to its digest, and the entries of every version to the tree of its commit.

Walked along each chain, so that a version costs what changed in it; in memory are the digests of one head.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sqlalchemy import RowMapping, TextClause, text

from models.rules.hashes import bucket_digest, bucket_of, entry_digest, tree_id
from models.store.verification.chains import named, refs
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

ENTRY = "memory_id, from_version, to_version, path, description, blob_id, bucket, entry_digest"
ORGANIZATION_COMMITS = text("""
    select '' as owner, version, commit_id, tree_id from commits
    where org_id = :org_id and project_id is null order by version
""")
ORGANIZATION_OPENED = text(f"""
    select '' as owner, {ENTRY} from memory_versions where org_id = :org_id order by from_version
""")  # noqa: S608  (constants)
ORGANIZATION_CLOSED = text("""
    select '' as owner, memory_id, to_version from memory_versions
    where org_id = :org_id and to_version is not null order by to_version
""")
PROJECT_COMMITS = text("""
    select project_id as owner, version, commit_id, tree_id from commits
    where org_id = :org_id and project_id is not null order by project_id, version
""")
PROJECT_OPENED = text(f"""
    select project_id as owner, {ENTRY} from projection_versions where org_id = :org_id
    order by project_id, from_version
""")  # noqa: S608  (constants)
PROJECT_CLOSED = text("""
    select project_id as owner, memory_id, to_version from projection_versions
    where org_id = :org_id and to_version is not null order by project_id, to_version
""")
BUCKETS = text("select bucket, digest from tree_buckets where org_id = :org_id and owner_id = :owner")
OWNERS = text("select distinct owner_id as owner from tree_buckets where org_id = :org_id order by owner_id")

Step = tuple[str, int]
"""An owner and a version of its chain."""


def check_trees(snapshot: Snapshot) -> Iterator[Finding]:
    """Entries, buckets and trees of the organization and of every project, at every version."""
    walked: set[str] = set()
    yield from _walk(snapshot, walked, ORGANIZATION_COMMITS, ORGANIZATION_OPENED, ORGANIZATION_CLOSED)
    yield from _walk(snapshot, walked, PROJECT_COMMITS, PROJECT_OPENED, PROJECT_CLOSED)
    for owner in {*refs(snapshot), *(row["owner"] for row in snapshot.all(OWNERS))} - walked:
        yield from _check_buckets(snapshot, _Tree(owner))


@dataclass(slots=True)
class _Tree:
    """The tree of one owner at the version walked to, as the digests that entries state."""

    owner: str
    members: dict[int, dict[str, bytes]] = field(default_factory=dict)
    digests: dict[int, bytes] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    tree_id: str = ""

    def close(self, memory_id: str) -> None:
        number = bucket_of(memory_id)
        self.members.get(number, {}).pop(memory_id, None)
        self.changed.add(number)

    def open(self, memory_id: str, digest: bytes) -> None:
        number = bucket_of(memory_id)
        self.members.setdefault(number, {})[memory_id] = digest
        self.changed.add(number)

    def hashed(self) -> str:
        for number in self.changed:
            if self.members.get(number):
                self.digests[number] = bucket_digest(self.members[number].items())
            else:
                self.digests.pop(number, None)
        self.changed.clear()
        return tree_id(self.digests)


def _walk(
    snapshot: Snapshot, walked: set[str], commits: TextClause, opened: TextClause, closed: TextClause
) -> Iterator[Finding]:
    """Build each owner's tree version by version, and compare it with the commit's; `walked` gets the owners."""
    openings = _Ordered(snapshot.rows(opened), lambda row: (row["owner"], row["from_version"]))
    closings = _Ordered(snapshot.rows(closed), lambda row: (row["owner"], row["to_version"]))
    tree: _Tree | None = None
    for commit in snapshot.rows(commits):
        if tree is None or tree.owner != commit["owner"]:
            if tree is not None:
                yield from _check_buckets(snapshot, tree)
            tree = _Tree(commit["owner"])
            walked.add(tree.owner)
        step = (commit["owner"], commit["version"])
        yield from _strays(openings.before(step), "begins")
        yield from _strays(closings.before(step), "ends")
        for row in closings.at(step):
            tree.close(row["memory_id"])
        for row in openings.at(step):
            yield from _check_entry(row)
            tree.open(row["memory_id"], row["entry_digest"])
        yield from _check_tree(tree, commit)
    if tree is not None:
        yield from _check_buckets(snapshot, tree)
    yield from _strays(openings.rest(), "begins")
    yield from _strays(closings.rest(), "ends")


class _Ordered:
    """Rows that are taken step by step, in their order."""

    def __init__(self, rows: Iterator[RowMapping], step_of: Callable[[RowMapping], Step]) -> None:
        self._rows = rows
        self._step_of = step_of
        self._next = next(rows, None)

    def before(self, step: Step) -> Iterator[RowMapping]:
        return self._take(lambda at: at < step)

    def at(self, step: Step) -> Iterator[RowMapping]:
        return self._take(lambda at: at == step)

    def rest(self) -> Iterator[RowMapping]:
        return self._take(lambda _: True)

    def _take(self, wanted: Callable[[Step], bool]) -> Iterator[RowMapping]:
        while self._next is not None and wanted(self._step_of(self._next)):
            row, self._next = self._next, next(self._rows, None)
            yield row


def _strays(rows: Iterator[RowMapping], verb: str) -> Iterator[Finding]:
    for row in rows:
        version = row["from_version"] if verb == "begins" else row["to_version"]
        where = f"entry {row['memory_id']} of {named(row['owner'])}"
        yield Finding("entry.version", f"an entry {verb} at a version without commit", where, "a commit", str(version))


def _check_entry(row: RowMapping) -> Iterator[Finding]:
    where = f"entry {row['memory_id']} of {named(row['owner'])} from version {row['from_version']}"
    digest = _digest(row)
    if digest != row["entry_digest"]:
        what = "the entry does not hash to its digest"
        yield Finding("entry.digest", what, where, shown(row["entry_digest"]), shown(digest))
    if row["bucket"] != bucket_of(row["memory_id"]):
        what = "the entry is in another bucket than its id says"
        yield Finding("entry.bucket", what, where, str(bucket_of(row["memory_id"])), str(row["bucket"]))


def _digest(row: RowMapping) -> bytes | None:
    """What the entry hashes to; None where its blob id is not even a digest."""
    try:
        return entry_digest(
            memory_id=row["memory_id"], path=row["path"], description=row["description"], blob_id=row["blob_id"]
        )
    except ValueError:
        return None


def _check_tree(tree: _Tree, commit: RowMapping) -> Iterator[Finding]:
    found, before = tree.hashed(), tree.tree_id
    where = f"commit {commit['commit_id']}, version {commit['version']} of {named(tree.owner)}"
    if found != commit["tree_id"]:
        yield Finding("tree.id", "the entries do not hash to the commit's tree", where, commit["tree_id"], found)
    elif found == before:
        yield Finding("tree.unchanged", "a commit changes nothing", where, "another tree", found)
    tree.tree_id = found


def _check_buckets(snapshot: Snapshot, tree: _Tree) -> Iterator[Finding]:
    """The stored buckets of an owner are those of its head."""
    stored: dict[int, bytes] = {row["bucket"]: row["digest"] for row in snapshot.all(BUCKETS, owner=tree.owner)}
    for number in sorted(stored.keys() | tree.digests.keys()):
        if stored.get(number) != tree.digests.get(number):
            where = f"bucket {number} of {named(tree.owner)}"
            what = "a bucket is not the hash of its entries"
            yield Finding("tree.bucket", what, where, shown(tree.digests.get(number)), shown(stored.get(number)))
