"""Much work at once: Reviews made ready, and clients that ask for their merges through any outage."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Self

import httpx
from pydantic import JsonValue
from sqlalchemy import Engine

from activities.accepting import ProposedOperation
from models.identifiers import OrganizationId, ProjectId, UserId
from tests import commands, rows
from tests.client import PREFIX, Client, Json, Organization, a_project, an_organization
from tests.proposals import a_draft, a_review, creates, published, updates

ENDED = ("succeeded", "failed")
OUTAGES = frozenset({"409 operation_in_progress", "503 unavailable"})
PAUSE_S = 0.1


@dataclass(frozen=True)
class Ready:
    """A Review that waits for its merge, with the key under which it is asked for."""

    review_id: str
    version: JsonValue
    key: str

    @property
    def path(self) -> str:
        return f"/reviews/{self.review_id}/merges"

    @property
    def body(self) -> Json:
        return {"expected_review_version": self.version}


@dataclass(frozen=True)
class Tenant:
    """An organization whose Reviews wait: `alone` touch what no other does, `rivals` change one Memory differently."""

    organization: Organization
    project_id: str
    alone: Sequence[Ready]
    rivals: Sequence[Ready]

    @property
    def reviews(self) -> Sequence[Ready]:
        return [*self.alone, *self.rivals]

    @property
    def client(self) -> Client:
        return self.organization.owner


def tenants(api: Client, *, count: int, alone: int, rivals: int) -> list[Tenant]:
    """Organizations with Reviews over HTTP, made side by side."""
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(lambda _: _tenant(api, alone, rivals), range(count)))


def _tenant(api: Client, alone: int, rivals: int) -> Tenant:
    organization = an_organization(api)
    owner = organization.owner
    project_id = a_project(owner)
    (contested,) = published(owner, project_id, creates("contested.md"))
    drafts = [creates(f"notes/{number}.md", f"note {number}\n") for number in range(alone)]
    drafts += [updates(contested, f"version {number}\n") for number in range(rivals)]
    reviews = [_ready(a_review(owner, a_draft(owner, project_id, draft))) for draft in drafts]
    return Tenant(organization, project_id, reviews[:alone], reviews[alone:])


def _ready(review: Json) -> Ready:
    return Ready(str(review["review_id"]), review["version"], f"merge-{review['review_id']}")


def reviews_in_rows(engine: Engine, organization: Organization, project_id: str, count: int) -> list[Ready]:
    """Reviews of an organization, each of which creates a Memory."""
    place = place_of(engine, organization, project_id)
    return [a_review_in_rows(place, rows.creates(f"notes/{number}.md")) for number in range(count)]


def place_of(engine: Engine, organization: Organization, project_id: str) -> rows.Somewhere:
    """Where the product's own transactions work for an organization without the servers."""
    return rows.Somewhere(
        engine,
        OrganizationId(organization.organization_id),
        UserId(organization.owner_id),
        ProjectId(project_id),
    )


def a_review_in_rows(place: rows.Somewhere, *operations: ProposedOperation) -> Ready:
    """A Review by the owner, submitted without the servers."""
    review_id = commands.a_review(place, rows.a_draft(place, *operations))
    return Ready(review_id, commands.review(place, review_id).version, f"merge-{review_id}")


@dataclass
class Crowd:
    """Many requests at once to one API, as one user; `seen` counts the answers and broken connections."""

    client: Client
    seen: Counter[str] = field(default_factory=Counter)

    async def __aenter__(self) -> Self:
        self._http = httpx.AsyncClient(
            base_url=self.client.base_url + PREFIX,
            headers={"Authorization": f"Bearer {self.client.token}"},
            limits=httpx.Limits(max_connections=None),
            timeout=60,
            trust_env=False,
            verify=False,  # noqa: S501  (loopback, no TLS)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def get(self, path: str, **query: str | int) -> httpx.Response:
        return await self._http.get(path, params=query)

    async def post(self, path: str, body: Json, headers: dict[str, str] | None = None) -> httpx.Response:
        return await self._http.post(path, json=body, headers=headers)

    async def put(self, path: str, body: Json, headers: dict[str, str]) -> httpx.Response:
        return await self._http.put(path, json=body, headers=headers)

    async def patch(self, path: str, body: Json, headers: dict[str, str]) -> httpx.Response:
        return await self._http.patch(path, json=body, headers=headers)

    async def delete(self, path: str, headers: dict[str, str]) -> httpx.Response:
        return await self._http.delete(path, headers=headers)

    async def command(self, path: str, body: Json, key: str, *, wait: int = 0) -> httpx.Response:
        """Ask for a command by a key; `wait` is how long the server may take before it answers 202."""
        prefer = {"Prefer": f"wait={wait}"} if wait else {}
        return await self.post(path, body, {"Idempotency-Key": key, **prefer})

    async def merge(self, review: Ready, *, wait: int = 0) -> httpx.Response:
        """Ask for a merge."""
        return await self.command(review.path, review.body, review.key, wait=wait)

    async def persistently(self, send: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
        """The answer to a request that is repeated until an outage no longer spoils it."""
        while True:
            try:
                answer = await send()
            except httpx.TransportError as error:
                self.seen[type(error).__name__] += 1
            else:
                told = _told(answer)
                self.seen[told] += 1
                if told not in OUTAGES:
                    return answer
            await asyncio.sleep(PAUSE_S)

    async def operation_of(self, path: str, body: Json, key: str, *, wait: int = 0) -> str:
        """Where the operation of a command is found, however often it has to be asked for."""
        answer = await self.persistently(lambda: self.command(path, body, key, wait=wait))
        return location_of(answer)

    async def accepted(self, review: Ready) -> str:
        """Where the operation of a merge is found."""
        return await self.operation_of(review.path, review.body, review.key)

    async def outcome(self, location: str) -> Json:
        """An operation, once it has ended."""
        while True:
            answer = await self.persistently(lambda: self.get(location, wait=5))
            assert answer.status_code == httpx.codes.OK, answer.text
            operation: Json = answer.json()
            if operation["status"] in ENDED:
                return operation


def location_of(answer: httpx.Response) -> str:
    """Where the operation of an accepted command is found."""
    assert "Location" in answer.headers, answer.text
    return str(answer.headers["Location"]).removeprefix(PREFIX)


def _told(answer: httpx.Response) -> str:
    """The status, and the code of a refusal."""
    if answer.status_code < httpx.codes.BAD_REQUEST:
        return str(answer.status_code)
    return f"{answer.status_code} {answer.json()['code']}"


def succeeded(operations: Iterable[Json]) -> list[Json]:
    """The results of those that succeeded."""
    results = [operation["result"] for operation in operations if operation["status"] == "succeeded"]
    return [result for result in results if isinstance(result, dict)]


def failed(operations: Iterable[Json]) -> list[str]:
    """The codes of those that failed."""
    problems = [operation["problem"] for operation in operations if operation["status"] == "failed"]
    return [str(problem["code"]) for problem in problems if isinstance(problem, dict)]
