"""Commands in their order of arrival, each carried out until its outcome stands."""

from collections.abc import Awaitable, Callable, Iterable, Iterator

from temporalio import workflow

from activities.messages import Command, CommandOutcome
from workflows.patience import FIRST_PAUSE, LONGEST_PAUSE


class CommandQueue:
    """Commands not yet done; the one in hand stays at the front, so that its re-deliveries are known too."""

    def __init__(self, commands: Iterable[Command] = ()) -> None:
        self._by_id = {command.operation_id: command for command in commands}

    def __bool__(self) -> bool:
        return bool(self._by_id)

    def __iter__(self) -> Iterator[Command]:
        return iter(self._by_id.values())

    def add(self, command: Command) -> None:
        """Take a command; one that waits already is ignored."""
        self._by_id.setdefault(command.operation_id, command)

    async def carry_out_all(self, attempt: Callable[[Command], Awaitable[CommandOutcome]]) -> None:
        """Carry out what arrives, from the first command on, until none is left or the history has grown long."""
        await workflow.wait_condition(lambda: bool(self))
        while self:
            await self.carry_out_first(attempt)
            if workflow.info().is_continue_as_new_suggested():
                return

    async def carry_out_first(self, attempt: Callable[[Command], Awaitable[CommandOutcome]]) -> None:
        """Attempt the first command, with a durable pause in between, until its outcome stands; then forget it.

        It stays first when the history grew long meanwhile: the workflow then continues as new and goes on with it.
        A finished one that is delivered once more is attempted once more, and the activity finds its outcome in the
        row: remembering it here would strand an operation that was lost in between.
        """
        command = next(iter(self))
        pause = FIRST_PAUSE
        while not (await attempt(command)).finished:
            await workflow.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            if workflow.info().is_continue_as_new_suggested():
                return
        del self._by_id[command.operation_id]
