"""`canonry import` that is killed at random together with all servers, and run again until it ends by itself."""

import asyncio
import random
import signal
from collections.abc import Collection, Sequence

from tests.installation import Installation
from tests.mixed.importer import ImportCommand
from tests.mixed.random_kills import Pace, RandomKills, Server, Victim

PACE = Pace(shortest_calm_s=0.0, longest_calm_s=0.6, longest_absence_s=0.2)
END_LIMIT_S = 120


def import_through_kills(
    installation: Installation,
    command: ImportCommand,
    words: Sequence[str],
    *,
    kills: int,
    chance: random.Random,
    codes: Collection[int] = (0,),
) -> RandomKills:
    """Run the command to its end through so many kills; what was killed, `in_flight` being 1 while it had not ended.

    Args:
        installation: whose servers are killed.
        command: what is run.
        words: its options.
        kills: how many.
        chance: decides what is killed when.
        codes: what it may end with.
    """
    return asyncio.run(_run_through_kills(installation, command, words, kills, chance, codes))


async def _run_through_kills(
    installation: Installation,
    command: ImportCommand,
    words: Sequence[str],
    kills: int,
    chance: random.Random,
    codes: Collection[int],
) -> RandomKills:
    servers: dict[str, Victim] = {name: Server(part) for name, part in installation.parts.items()}
    running = asyncio.create_task(_persist(command, words, codes))
    killing = RandomKills({**servers, "import": command}, PACE, chance, lambda: 1 - running.done())
    async with asyncio.timeout(END_LIMIT_S):
        await killing.strike(kills)
        await running
    return killing


async def _persist(command: ImportCommand, words: Sequence[str], codes: Collection[int]) -> None:
    code = -signal.SIGKILL
    while code == -signal.SIGKILL:
        code = await asyncio.to_thread(command.start(*words).wait)
    assert code in codes, command.log.read_text()[-4_000:]
