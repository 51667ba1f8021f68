"""Plays of Hypothesis's state machines: so many, of so many steps, and nothing kept between runs."""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def run_machine(machine: type[RuleBasedStateMachine], *, examples: int, steps: int, derandomize: bool) -> None:
    """Play a machine; a play that fails is shown as it was, and not made smaller: each takes its time."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=derandomize,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=[*HealthCheck],
            print_blob=False,
        ),
    )
