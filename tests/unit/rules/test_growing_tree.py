"""A tree is hashed the same, entry by entry as all at once."""

from models.rules.growing_tree import GrowingTree
from models.rules.hashes import blob_id, bucket_of, entry_digest, tree_id_of_entries


def test_a_tree_that_grows_has_the_id_of_its_entries_at_every_step() -> None:
    tree, entries = GrowingTree(), dict[str, bytes]()
    assert tree.tree_id == tree_id_of_entries({})
    # More entries than buckets, so that several share one; \uffff before \U0001f600, as their bytes are.
    for memory_id in sorted([*(f"mem_{number:04}" for number in range(1_500)), "mem_\uffff", "mem_\U0001f600"]):
        digest = entry_digest(memory_id=memory_id, path="a.md", description="", blob_id=blob_id(memory_id))
        tree.add(bucket_of(memory_id), digest)
        entries[memory_id] = digest
        if len(entries) % 250 < 3:
            assert tree.tree_id == tree_id_of_entries(entries)
