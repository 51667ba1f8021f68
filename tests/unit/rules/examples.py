"""States, texts and settings that the tests of the rules share."""

from hypothesis import HealthCheck, settings

from models.rules.hashes import body_of
from models.rules.states import MemoryState

# No deadline and no health check by time: the machines that run this are shared.
a_few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def a_state(path: str = "guide.md", *, description: str = "", text: str = "text\n") -> MemoryState:
    return MemoryState(path=path, description=description, body=body_of(text))
