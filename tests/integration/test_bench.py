"""The benchmarks run; what they measure means nothing here."""

import shutil
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from bench.lane import measure_lane
from bench.latency import measure_latency
from bench.measuring import Schedule
from bench.memory import measure_requests
from bench.memory_load import AT_MOST, measure_load
from bench.memory_load import Extent as LoadExtent
from bench.merging import Extent, measure_merges
from bench.organizations import a_library
from bench.snapshots import Served, memory, sizes, times
from bench.starting import measure_start
from bench.text_merge import measure_text_merges
from models.database import build_engine
from models.settings import Settings
from tests.client import Client
from tests.stack import Service, Stack, start_api

ONCE = Schedule(rounds=1, repeats=1, warm_up=0)


@pytest.fixture(scope="session")
def engine(stack: Stack) -> Iterator[Engine]:
    """A pool on the database that API and worker serve."""
    pool = build_engine(stack.database_url, Settings(), pool_size=10, application_name="canonry-test")
    yield pool
    pool.dispose()


def test_one_merge_is_measured_by_size_and_by_affected_projects(engine: Engine) -> None:
    comparisons = measure_merges(engine, Extent(sizes=(30, 60), readers=(1, 2)), ONCE)
    assert [(comparison.subject, comparison.baseline) for comparison in comparisons] == [
        ("merge of 3 edits among 60 Memories", "merge of 3 edits among 30 Memories"),
        ("merge of 3 additions to 60 Memories", "merge of 3 additions to 30 Memories"),
        ("merge affecting 2 projects", "merge affecting 1 project"),
        ("merge affecting 1 project", "bare writes, 1 project"),
        ("merge affecting 2 projects", "bare writes, 2 projects"),
    ]


def test_commands_are_measured_against_an_empty_workflow(
    stack: Stack, engine: Engine, api: Client, worker: Service
) -> None:
    submitted, merged = measure_latency(stack, engine, api.base_url, ONCE)
    assert submitted.against == merged.against
    assert min(*submitted.measured, *merged.measured, *submitted.against) > 0


def test_a_lane_is_measured_against_a_loop(stack: Stack, engine: Engine, worker: Service) -> None:
    comparison = measure_lane(stack, engine, engine, merges=3, rounds=1, warm_up=1)
    assert len(comparison.ratios) == 1


def test_deltas_and_snapshots_are_measured_by_size_memory_and_time(engine: Engine, stack: Stack) -> None:
    service = start_api(stack)
    try:
        served = Served(engine, service)
        assert len(sizes(served, 50)) == 1 + 2
        library = a_library(engine, 50)
        assert len(memory(served, [library])) == 1 + 2
        assert [len(comparison.ratios) for comparison in times(served, library, ONCE)] == [1, 1]
    finally:
        service.stop()


@pytest.mark.long
def test_requests_of_memories_are_measured_against_handlers_by_hand() -> None:
    comparisons = measure_requests(ONCE, 100)
    assert {comparison.at_most for comparison in comparisons} == {2.0}
    assert all(min(*comparison.measured, *comparison.against) > 0 for comparison in comparisons)


@pytest.mark.long
def test_searches_and_turns_are_measured_by_how_many_memories_there_are() -> None:
    comparisons = measure_load(ONCE, LoadExtent(few=20, many=200, clients=2, requests=20))
    assert [comparison.at_most for comparison in comparisons] == [AT_MOST, AT_MOST, None, None]
    assert all(min(*comparison.measured, *comparison.against) > 0 for comparison in comparisons)


@pytest.mark.long
def test_a_warm_start_is_measured_against_the_servers_by_hand() -> None:
    in_turn, at_once = measure_start(ONCE)
    assert in_turn.measured == at_once.measured
    assert min(*in_turn.measured, *in_turn.against, *at_once.against) > 0


@pytest.mark.skipif(shutil.which("git") is None, reason="git is what it is compared with")
def test_text_merges_are_measured_against_git() -> None:
    comparisons = measure_text_merges(ONCE)
    measured = [comparison for comparison in comparisons if comparison.baseline == "git merge-file"]
    assert [comparison.subject for comparison in measured] == [
        "32,000 bytes of four repeated lines, 3 edits a side",
        "32,000 bytes of four repeated lines, a tenth of the lines edited a side",
        "200,000 bytes of real Markdown, 3 edits a side",
        "200,000 bytes of real Markdown, a tenth of the lines edited a side",
    ]
    assert {comparison.at_most for comparison in measured} == {2.0}
