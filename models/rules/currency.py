"""Currency: whether a Draft that fell behind still means the same (publication.md §3, "One rule")."""

from models.rules.states import Body, State


def stays_equal(*, draft: State, base: State, current: State) -> bool:
    """Whether what a Draft makes of a Memory would be the same made of Current.

    Whether a path of the result has been taken meanwhile is `occupancy`'s question.

    Args:
        draft: the Draft's result.
        base: where the Draft started from; None: the Memory does not exist there.
        current: the same now.
    """
    if current in (base, draft):
        return True
    if draft is None or current is None:
        return False
    return all(now in (before, ours) for before, now, ours in zip(*map(_fields, (base, current, draft)), strict=True))


def _fields(state: State) -> tuple[str | None, str, Body | None]:
    """Field by field, as `three_way` compares them: what does not exist has no path or body, and describes nothing."""
    return (None, "", None) if state is None else (state.path, state.description, state.body)
