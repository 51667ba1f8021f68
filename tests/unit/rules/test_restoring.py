"""What a restore brings back where it does not say otherwise."""

from dataclasses import replace

import pytest

from models.errors import TargetMissing
from models.identifiers import MemoryId
from models.rules.folding import Action, DraftOperation
from models.rules.hashes import body_of
from models.rules.restoring import Restoring, as_deleted
from models.rules.states import MemoryState

M = MemoryId("mem_1")
BASE = MemoryState("a.md", "First", body_of("one\n"))
LAST = MemoryState("last.md", "Last", body_of("last\n"))
RESTORE = DraftOperation(Action.RESTORE, M)
DELETE = DraftOperation(Action.DELETE, M)
EDIT = DraftOperation(Action.UPDATE, M, body=body_of("two\n"))
MOVE = DraftOperation(Action.RENAME, M, new_path="b.md")


def placed(state: MemoryState) -> DraftOperation:
    return replace(RESTORE, path=state.path, body=state.body, description=state.description)


def test_what_no_operation_deleted_comes_back_as_it_was_published_last() -> None:
    restoring = Restoring(base={}, published={M: LAST})
    assert restoring.complete(RESTORE, [], 0) == placed(LAST)


def test_what_the_draft_deleted_comes_back_as_the_draft_had_made_it() -> None:
    restoring = Restoring(base={M: BASE}, published={M: BASE})
    expected = placed(replace(BASE, path="b.md", body=body_of("two\n")))
    assert restoring.complete(RESTORE, [EDIT, MOVE, DELETE], 3) == expected


def test_a_restore_keeps_what_it_says() -> None:
    restoring = Restoring(base={}, published={M: LAST})
    said = replace(RESTORE, path="here.md", body=body_of("new\n"), description="")
    assert restoring.complete(said, [], 0) == said


def test_what_was_never_published_is_missing() -> None:
    restoring = Restoring(base={}, published={})
    with pytest.raises(TargetMissing) as refused:
        restoring.complete(RESTORE, [DELETE], 4)
    assert refused.value.context["index"] == 4


def test_the_last_deletion_counts_and_what_follows_it_does_not() -> None:
    back = placed(LAST)
    assert as_deleted([DELETE, back, EDIT, DELETE, back, MOVE], BASE) == replace(LAST, body=body_of("two\n"))
    assert as_deleted([EDIT], BASE) is None
    assert as_deleted([DELETE], None) is None
