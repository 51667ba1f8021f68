"""Random steps for Drafts: few paths that collide in every way, and few values, so that things meet."""

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from tests.publication_model import Step

PATHS = ("a", "A", "a/b", "b", "b/c", "B/C", "caf\u00e9", "CAF\u00c9/x", "cafe\u0301")
ROOMY_PATHS = (*PATHS, *(f"{name}.md" for name in "defghijklmnopqrs"))
BODIES = ("one\n", "two\n", "three\n")
DESCRIPTIONS = ("", "about", "what")

Draw = tuple[int, int, int]
"""Which action, on which of the known Memories, with which values; each modulo what there is."""

draws = st.tuples(st.integers(0, 5), st.integers(0, 7), st.integers(0, len(PATHS) - 1))
roomy_draws = st.tuples(st.integers(0, 5), st.integers(0, 7), st.integers(0, len(ROOMY_PATHS) - 1))
"""The same with paths besides that are in nobody's way."""


def step_of(draw: Draw, known: Iterable[str], archived: Sequence[str] = ()) -> Step:
    """The step that a draw stands for; of a create the id is not known yet.

    Where something is archived, some creates bring that back instead.
    """
    action, target, value = draw
    path, body, description = ROOMY_PATHS[value], BODIES[value % len(BODIES)], DESCRIPTIONS[value % len(DESCRIPTIONS)]
    memories = sorted(known)
    if action == 1 and archived:
        return Step("restore", archived[target % len(archived)], path, description, body)
    if action <= 1 or not memories:
        return Step("create", "new", path, description, body)
    memory = memories[target % len(memories)]
    return {
        2: Step("rename", memory, path=path),
        3: Step("delete", memory),
        4: Step("update", memory, body=body),
        5: Step("update", memory, description=description),
    }[action]
