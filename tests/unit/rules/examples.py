"""States, texts and settings that the tests of the rules share."""

from collections.abc import Callable, Collection, Mapping, Sequence

from hypothesis import HealthCheck, settings

from models.errors import Problem
from models.identifiers import MemoryId
from models.rules.conflicts import Reconciliation
from models.rules.folding import DraftOperation, fold_what_holds
from models.rules.free_paths import FreeAmong
from models.rules.hashes import body_of
from models.rules.occupancy import collisions_with
from models.rules.states import MemoryState, State

# No deadline and no health check by time: the machines that run this are shared.
a_few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def a_state(path: str = "guide.md", *, description: str = "", text: str = "text\n") -> MemoryState:
    return MemoryState(path=path, description=description, body=body_of(text))


def fold(operations: Sequence[DraftOperation], base: Mapping[MemoryId, MemoryState]) -> dict[MemoryId, State]:
    """The final states; the first refusal, if any, is raised."""
    refused: list[Problem] = []
    states = fold_what_holds(operations, base, refused)
    if refused:
        raise refused[0]
    return states


def keeps_its_result(reconciliation: Reconciliation) -> bool:
    """Whether a Draft is brought up to date without asking."""
    return reconciliation.clean and not reconciliation.asking


def each_at(
    versions: Mapping[int, Mapping[MemoryId, MemoryState]],
) -> Callable[[Collection[tuple[MemoryId, int]]], Mapping[int, Mapping[MemoryId, MemoryState]]]:
    """The states of Memories as the versions have them."""

    def asked_about(asked: Collection[tuple[MemoryId, int]]) -> Mapping[int, Mapping[MemoryId, MemoryState]]:
        return {
            version: {name: state for name, state in versions[version].items() if (name, version) in asked}
            for _, version in asked
        }

    return asked_about


def free_beside(standing: Mapping[MemoryId, str]) -> FreeAmong:
    """Free is what collides with nothing that stands."""

    def free_among(paths: Collection[str]) -> list[str]:
        return [path for path in paths if not collisions_with({MemoryId("mem_probe"): a_state(path)}, standing)]

    return free_among
