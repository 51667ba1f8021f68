"""Whatever Current and the Drafts of a Review do, each offered resolution settles it."""

from collections.abc import Mapping, Sequence
from itertools import islice, product

from hypothesis import assume, given
from hypothesis import strategies as st

from models.identifiers import MemoryId
from models.rules.occupancy import collisions_within
from models.rules.states import State
from tests.reconciliation_steps import (
    ARCHIVED,
    BASE,
    ELSEWHERE,
    LINES,
    OUR_LINES,
    OVERLAPPING_LINES,
    TAKEN,
    THEIR_LINES,
    Document,
    P,
    Q,
    Step,
    after,
    related,
)
from tests.unit.rules.examples import many
from tests.unit.rules.table_world import World, state_of
from tests.unit.rules.test_reconciliation_table import codes, offers, require_the_same_once_rebased

PATHS = [P, related(P, "case"), Q, f"{Q}/inside.md", TAKEN, ELSEWHERE, ARCHIVED]
CONTENTS = [LINES, THEIR_LINES, OUR_LINES, OVERLAPPING_LINES]

paths, descriptions, contents = map(st.sampled_from, (PATHS, ["", "one", "two"], CONTENTS))
memories = st.sampled_from(["M", "O", "A", "new"])
steps = st.one_of(
    st.builds(Step, st.just("create"), st.just("new"), paths, descriptions, contents),
    st.builds(
        Step, st.just("restore"), st.just("A"), st.none() | paths, st.none() | descriptions, st.none() | contents
    ),
    st.builds(Step, st.just("update"), memories, st.none(), descriptions, st.none() | contents),
    st.builds(Step, st.just("rename"), memories, paths),
    st.builds(Step, st.just("delete"), memories),
)
changes = st.lists(steps, max_size=5)


@many
@given(theirs=changes, ours=changes)
def test_whatever_is_published_each_resolution_makes_the_draft_clean(theirs: list[Step], ours: list[Step]) -> None:
    published, draft = that_hold(theirs, new="N"), that_hold(ours, new="X")
    assume(draft and not collisions_within(standing(published)))
    require_each_choice_to_settle(World(published, draft))


@many
@given(theirs=changes, ours=changes)
def test_whatever_an_earlier_draft_does_each_resolution_makes_the_later_one_clean(
    theirs: list[Step], ours: list[Step]
) -> None:
    first, second = that_hold(theirs, new="N"), that_hold(ours, new="X")
    assume(first and second and not collisions_within(standing(first)))
    require_each_choice_to_settle(World((), first, second))


def require_each_choice_to_settle(world: World) -> None:
    evaluation = world.evaluate()
    assume(set(codes(evaluation)) <= {"reconciliation_required"})
    draft_id = world.drafts[-1].draft_id
    assert set(evaluation.needs_reconciliation) <= {draft_id}
    choices = offers(world.reconciliation(evaluation))
    assert all(choices.values())
    for chosen in islice(product(*choices.values()), 40):
        settled = world.evaluate(confirmed={draft_id: dict(zip(choices, chosen, strict=True))})
        assert settled.blockers == []
        require_the_same_once_rebased(world, settled)


def that_hold(drawn: Sequence[Step], *, new: str) -> list[Step]:
    """The steps whose target is there, or is not, as it must be; what is created has the letter `new`."""
    kept: list[Step] = []
    for step in drawn:
        named = Step(
            step.action, new if step.memory == "new" else step.memory, step.path, step.description, step.content
        )
        there = after(BASE, tuple(kept))
        known, active = named.memory in there, there.get(named.memory) is not None
        if (not known) if named.action == "create" else (known and not active) if named.action == "restore" else active:
            kept.append(named)
    return kept


def standing(published: Sequence[Step]) -> Mapping[MemoryId, State]:
    documents: Mapping[str, Document | None] = after(BASE, tuple(published))
    return {MemoryId(letter): state_of(document) for letter, document in documents.items()}
