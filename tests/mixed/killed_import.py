"""`canonry import` that is killed at random, alone or together with all servers, and run again until it ends."""

import asyncio
import random
from collections.abc import Collection, Mapping, Sequence

from tests.installation import Installation
from tests.mixed.importer import ImportCommand
from tests.mixed.random_kills import Pace, RandomKills, Server, Victim

PACE = Pace(shortest_calm_s=0.0, longest_calm_s=0.6, longest_absence_s=0.2)
END_LIMIT_S = 120


def everything(installation: Installation, command: ImportCommand) -> dict[str, Victim]:
    """The command and every server."""
    return {**{name: Server(part) for name, part in installation.parts.items()}, "import": command}


def import_through_kills(
    command: ImportCommand,
    words: Sequence[str],
    victims: Mapping[str, Victim],
    *,
    kills: int,
    chance: random.Random,
    codes: Collection[int] = (0,),
) -> RandomKills:
    """Run the command to its end through so many kills; what was killed, `in_flight` being 1 while it had not ended.

    Args:
        command: what is run.
        words: its options.
        victims: what is killed, by name.
        kills: how many.
        chance: decides what is killed when.
        codes: what it may end with.
    """
    return asyncio.run(_run_through_kills(command, words, victims, kills, chance, codes))


async def _run_through_kills(
    command: ImportCommand,
    words: Sequence[str],
    victims: Mapping[str, Victim],
    kills: int,
    chance: random.Random,
    codes: Collection[int],
) -> RandomKills:
    running = asyncio.create_task(command.run_to_its_end(*words, codes=codes))
    killing = RandomKills(victims, PACE, chance, lambda: 1 - running.done())
    async with asyncio.timeout(END_LIMIT_S):
        await killing.strike(kills)
        await running
    return killing
