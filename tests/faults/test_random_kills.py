"""Everything that Canonry offers, used by many at once, while anything of it is killed at any moment."""

import asyncio
import random
import time
from collections import Counter

import pytest

from models.identifiers import OrganizationId
from tests.installation import Installation, an_installation, log_text
from tests.invariants import check_invariants
from tests.mixed.books import require_agreement
from tests.mixed.load import BEARABLE, MixedLoad, a_mixed_load
from tests.mixed.random_kills import Pace, RandomKills, Server, Victim, a_seed
from tests.verification import verified

END_LIMIT_S = 120

QUICK = Pace(shortest_calm_s=0.2, longest_calm_s=1.0, longest_absence_s=0.2)
STEADY = Pace(shortest_calm_s=0.1, longest_calm_s=6.0, longest_absence_s=2.0)

# Short batches and many runs of a lane: kills fall between as many steps as possible.
SETTINGS = {"CANONRY_LANE_BATCH_SIZE": "2", "CANONRY_LANE_MAX_BATCHES": "4"}


def test_everything_that_was_accepted_happens_once_through_5_random_kills(
    capfd: pytest.CaptureFixture[str],
) -> None:
    report = work_through_kills(kills=5, pace=QUICK, libraries=2, authors=2)
    with capfd.disabled():
        print(report)  # noqa: T201


@pytest.mark.long
@pytest.mark.timeout(1_500)
def test_everything_that_was_accepted_happens_once_through_200_random_kills(
    capfd: pytest.CaptureFixture[str],
) -> None:
    report = work_through_kills(kills=200, pace=STEADY, libraries=3, authors=4)
    with capfd.disabled():
        print(report)  # noqa: T201


def work_through_kills(*, kills: int, pace: Pace, libraries: int, authors: int) -> str:
    """Kill at random under a mixed load, check all that the clients were told, and all rows; a table of it."""
    seed = a_seed()
    chance = random.Random(seed)  # noqa: S311  (to be repeated, not secret)
    began = time.monotonic()
    with an_installation(**SETTINGS) as installation:
        load = a_mixed_load(installation.client, libraries=libraries, authors=authors, chance=chance)
        servers: dict[str, Victim] = {name: Server(part) for name, part in installation.parts.items()}
        victims = {**servers, "import": load.import_command}
        killing = RandomKills(victims, pace, chance, lambda: load.in_flight)
        try:
            asyncio.run(load.run_during(killing.strike(kills), end_limit_s=END_LIMIT_S))
            checked = checks(installation, load)
            verdict = verified(installation)
        except BaseException:
            print(f"seed {seed}\n{killing.table()}\n{load.seen}")  # noqa: T201
            raise
    return "\n".join(
        [
            f"\n{killing.table()}",
            told("done", done(load)),
            told("answers", load.seen),
            told("compared with what the clients were told", checked),
            f"canonry verify: {verdict}",
            f"{time.monotonic() - began:.0f} s, seed {seed}",
        ]
    )


def checks(installation: Installation, load: MixedLoad) -> Counter[str]:
    """Assert that nothing is lost or doubled, and that nobody saw more of the kills than an outage."""
    assert load.seen.keys() <= BEARABLE
    for part in installation.parts.values():
        assert "unforeseen" not in log_text(part), log_text(part)[-4_000:]
    compared: Counter[str] = Counter()
    for library in load.libraries:
        books = [(author.client, author.book) for author in load.authors_of(library)]
        compared += require_agreement(installation.engine, library, books)
        check_invariants(installation.engine, OrganizationId(library.organization.organization_id))
    return compared


def done(load: MixedLoad) -> Counter[str]:
    return sum((author.book.done for author in load.authors), Counter[str]())


def told(what: str, counted: Counter[str]) -> str:
    return f"{what}: " + ", ".join(f"{count} {name}" for name, count in sorted(counted.items()))
