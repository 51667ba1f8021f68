"""Two Reviews merged at once, beside appends, selections and memberships: both in order, or one refused by its code."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Barrier, Event

import httpx
import psycopg
import pytest
from sqlalchemy import Engine, text

from activities.accepting import ProposedOperation
from models.identifiers import OrganizationId
from tests.client import Client, Json, Organization, a_member, a_person, a_project, an_organization, ok
from tests.installation import until
from tests.invariants import check_invariants
from tests.load import Ready, a_review_in_rows, place_of
from tests.proposals import WAIT, a_draft, append, creates, published, select
from tests.rows import creates as adds
from tests.rows import deletes, updates
from tests.stack import Stack

pytestmark = pytest.mark.usefixtures("worker")

FEW, MANY = 12, 60
TOGETHER = 60  # seconds; how long two requests may take that wait for each other


@dataclass(frozen=True)
class Race:
    """Two changes that are merged at once, made for a Memory and a number of its own; `refusal` is the loser's code."""

    name: str
    one: Callable[[str, int], ProposedOperation]
    other: Callable[[str, int], ProposedOperation]
    refusal: str | None = "reconciliation_required"


RACES = (
    Race(
        "different paths",
        lambda _, number: adds(f"apart/{number}/a.md"),
        lambda _, number: adds(f"apart/{number}/b.md"),
        refusal=None,
    ),
    Race("a path", lambda _, number: adds(f"same/{number}.md"), lambda _, number: adds(f"Same/{number}.MD")),
    Race("a path and its folder", lambda _, number: adds(f"x/{number}"), lambda _, number: adds(f"x/{number}/y.md")),
    Race(
        "two texts", lambda memory_id, _: updates(memory_id, "one\n"), lambda memory_id, _: updates(memory_id, "two\n")
    ),
    Race(
        "one text",
        lambda memory_id, _: updates(memory_id, "both\n"),
        lambda memory_id, _: updates(memory_id, "both\n"),
        refusal=None,
    ),
    Race(
        "an edit and a deletion",
        lambda memory_id, _: updates(memory_id, "one\n"),
        lambda memory_id, _: deletes(memory_id),
    ),
)


@pytest.mark.parametrize("number_of_trials", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
def test_of_two_reviews_merged_at_once_both_are_published_or_one_is_refused_by_its_code(
    stack: Stack, engine: Engine, api: Client, number_of_trials: int
) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    starts = [creates(f"start/{number}.md") for number in range(number_of_trials)]
    memory_ids = published(organization.owner, project_id, *starts)
    place = place_of(engine, organization, project_id)
    trials = [
        (race, memory_id, [a_review_in_rows(place, change(memory_id, number)) for change in (race.one, race.other)])
        for number, (race, memory_id) in enumerate(zip(itertools.cycle(RACES), memory_ids, strict=False))
    ]
    before = deadlocks_logged(stack)
    with ThreadPoolExecutor(2) as runners, others_at_work(organization, memory_ids) as done:
        for race, memory_id, reviews in trials:
            answers = merged_at_once(runners, organization.owner, reviews)
            require_order(race, answers)
            if race.name == "two texts":
                require_winner(organization.owner, memory_id, answers)
    assert len(trials) == number_of_trials
    assert min(done.values()) > 0, done
    assert deadlocks_logged(stack) == before
    check_invariants(engine, OrganizationId(organization.organization_id))


def test_of_two_merges_of_one_review_at_once_one_is_refused_and_names_the_commit(engine: Engine, api: Client) -> None:
    organization = an_organization(api)
    place = place_of(engine, organization, a_project(organization.owner))
    with ThreadPoolExecutor(2) as runners:
        for number in range(5):
            review = a_review_in_rows(place, adds(f"{number}.md"))
            answers = merged_at_once(runners, organization.owner, [review, review])
            published_as, refused = sorted(answers, key=lambda answer: answer.status_code)
            assert (published_as.status_code, refused.status_code) == (200, 409)
            assert refused.json()["code"] == "review_closed"
            assert refused.json()["commit_id"] == published_as.json()["commit_id"]
    check_invariants(engine, OrganizationId(organization.organization_id))


def test_a_deadlock_would_be_noticed(stack: Stack, engine: Engine) -> None:
    logged, counted = deadlocks_logged(stack), deadlocks_counted(engine)
    with psycopg.connect(stack.database_url) as one, psycopg.connect(stack.database_url) as other:
        with pytest.raises(psycopg.errors.DeadlockDetected):
            lock_crosswise(one, other)
        assert deadlocks_logged(stack) == logged + 1
    until(lambda: deadlocks_counted(engine) > counted)


def lock_crosswise(one: psycopg.Connection, other: psycopg.Connection) -> None:
    one.execute("select pg_advisory_xact_lock(1)")
    other.execute("select pg_advisory_xact_lock(2)")
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(one.execute, "select pg_advisory_xact_lock(2)")
        try:
            other.execute("select pg_advisory_xact_lock(1)")
        finally:
            other.rollback()
        waiting.result()


def deadlocks_logged(stack: Stack) -> int:
    """How many the server has found; its statistics follow later, when the connection reports."""
    return stack.postgres.log.read_text(errors="replace").count("deadlock detected")


def deadlocks_counted(engine: Engine) -> int:
    with engine.connect() as connection:
        question = text("select deadlocks from pg_stat_database where datname = current_database()")
        return int(connection.execute(question).scalar_one())


def merged_at_once(runners: ThreadPoolExecutor, client: Client, reviews: Sequence[Ready]) -> list[httpx.Response]:
    """The answers to two merges that leave at the same moment, each by a request of its own."""
    start = Barrier(2)

    def run(review: Ready) -> httpx.Response:
        start.wait(TOGETHER)
        return client.post(review.path, review.body, headers=WAIT)

    return list(runners.map(run, reviews))


def require_order(race: Race, answers: Sequence[httpx.Response]) -> None:
    refusals = [answer.json()["code"] for answer in answers if answer.status_code != httpx.codes.OK]
    assert refusals == ([] if race.refusal is None else [race.refusal]), race.name
    commits = {answer.json()["commit_id"] for answer in answers if answer.status_code == httpx.codes.OK}
    assert len(commits) == (2 if race.name == "different paths" else 1), race.name


def require_winner(client: Client, memory_id: str, answers: Sequence[httpx.Response]) -> None:
    """What is published is what the one that succeeded proposed."""
    content = "one\n" if answers[0].status_code == httpx.codes.OK else "two\n"
    assert ok(client.get(f"/org/memories/{memory_id}"))["content"] == content


@contextmanager
def others_at_work(organization: Organization, memory_ids: Sequence[str]) -> Iterator[Counter[str]]:
    """Appends, selections and memberships go on while the block runs; each has to succeed; how many did."""
    done: Counter[str] = Counter()
    over = Event()
    tasks = (appends(organization), selections(organization, memory_ids[0]), memberships(organization))

    def work(name: str, task: Iterator[None]) -> None:
        while not over.is_set():
            next(task)
            done[name] += 1

    with ThreadPoolExecutor(len(tasks)) as threads:
        names = ("appends", "selections", "memberships")
        working: list[Future[None]] = [threads.submit(work, *each) for each in zip(names, tasks, strict=True)]
        try:
            yield done
        finally:
            over.set()
    for each in working:
        each.result()


def appends(organization: Organization) -> Iterator[None]:
    project_id = a_project(organization.owner)
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id)
    for number in itertools.count():
        draft = ok(append(author, draft, creates(f"mine/{number}.md")))
        yield


def selections(organization: Organization, memory_id: str) -> Iterator[None]:
    project_id = a_project(organization.owner)
    for chosen in itertools.cycle([[memory_id], []]):
        ok(select(organization.owner, project_id, chosen))
        yield


def memberships(organization: Organization) -> Iterator[None]:
    project_id = a_project(organization.owner)
    person = a_person(organization)
    path = f"/projects/{project_id}/members"
    while True:
        body: Json = {"user_id": person.user_id, "role": "member"}
        ok(organization.owner.post(path, body), 201)
        yield
        ok(organization.owner.patch(f"{path}/{person.user_id}", {"role": "admin"}))
        yield
        assert organization.owner.delete(f"{path}/{person.user_id}").status_code == httpx.codes.NO_CONTENT
        yield
