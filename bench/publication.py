"""What publication costs, as ratios against baselines of the same run (docs/explanation/performance.md)."""

import argparse
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Engine

from bench.lane import measure_lane
from bench.latency import measure_latency
from bench.measuring import Comparison, Schedule, table
from bench.merging import Extent, measure_merges
from canonry.embedded.postgres import start_postgres
from models.database import build_engine
from models.migrations import upgrade
from models.settings import Settings
from tests.stack import a_reachable_folder, start_api, start_stack, start_worker


@dataclass(frozen=True)
class Plan:
    """How much is measured, and how often."""

    commands: Schedule
    lane_merges: int
    lane_rounds: int
    extent: Extent
    merges: Schedule


# From its fifth execution on, a connection runs a statement prepared; from the tenth, it may keep a plan.
WARM_UP = 12

FULL = Plan(
    commands=Schedule(rounds=7, repeats=15, warm_up=WARM_UP),
    lane_merges=200,
    lane_rounds=5,
    extent=Extent(sizes=(1_000, 10_000, 100_000), readers=(1, 100, 1_000)),
    merges=Schedule(rounds=7, repeats=15, warm_up=WARM_UP),
)
QUICK = Plan(
    commands=Schedule(rounds=2, repeats=2, warm_up=2),
    lane_merges=20,
    lane_rounds=2,
    extent=Extent(sizes=(100, 1_000), readers=(1, 10)),
    merges=Schedule(rounds=2, repeats=2, warm_up=2),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: small, and too short to mean anything")
    plan = QUICK if parser.parse_args().quick else FULL
    for measure in (measure_commands, measure_transactions):
        print(table(measure(plan)), end="\n\n", flush=True)


def measure_commands(plan: Plan) -> list[Comparison]:
    """What a client and an organization wait for, with API and worker running."""
    stack = start_stack()
    try:
        upgrade(stack.database_url)
        api, worker = start_api(stack), start_worker(stack)
        with _pool(stack.database_url) as engine, _quiet_database() as quiet:
            latency = measure_latency(stack, engine, api.url, plan.commands)
            lane = measure_lane(stack, engine, quiet, merges=plan.lane_merges, rounds=plan.lane_rounds, warm_up=WARM_UP)
        worker.stop()
        api.stop()
        return [*latency, lane]
    finally:
        stack.stop()


def measure_transactions(plan: Plan) -> list[Comparison]:
    """What one merge costs the database, with nothing else running."""
    with _quiet_database() as engine:
        return measure_merges(engine, plan.extent, plan.merges)


@contextmanager
def _quiet_database() -> Iterator[Engine]:
    """The database of a server of its own, without API, worker and Temporal."""
    folder = a_reachable_folder()
    server = start_postgres(folder, durable=False)
    try:
        upgrade(server.url)
        with _pool(server.url) as engine:
            yield engine
    finally:
        server.stop()
        shutil.rmtree(folder)


@contextmanager
def _pool(database_url: str) -> Iterator[Engine]:
    engine = build_engine(database_url, Settings(), pool_size=4, application_name="canonry-bench")
    yield engine
    engine.dispose()


if __name__ == "__main__":
    main()
