"""300 people follow the feed, half by waiting and half by streams, and nobody else notices."""

import asyncio
import json
import time

import httpx
import pytest

from models.settings import Settings
from tests.client import PREFIX, Json, a_project, an_organization
from tests.feed import now
from tests.installation import an_installation
from tests.load import Crowd
from tests.proposals import a_draft

WAITING, STREAMS, READS = 150, 150, 60
WAIT_S = 20

OPEN_CONNECTIONS = "select count(*) from pg_stat_activity where application_name in ('canonry-api', 'canonry-listen')"


@pytest.mark.long
def test_300_followers_hold_up_nobody_take_no_connection_and_are_told_within_seconds() -> None:
    with an_installation() as installation:
        organization = an_organization(installation.client)
        owner, project_id = organization.owner, a_project(organization.owner)
        cursor = now(owner)

        async def scenario() -> None:
            async with Crowd(owner) as crowd, _many_connections(owner.base_url + PREFIX) as client:
                headers = {"Authorization": f"Bearer {owner.token}"}
                told = [
                    *(asyncio.create_task(_waited(client, headers, cursor)) for _ in range(WAITING)),
                    *(asyncio.create_task(_streamed(client, headers, cursor)) for _ in range(STREAMS)),
                ]
                await asyncio.sleep(3)
                began = time.monotonic()
                answers = await asyncio.gather(*(crowd.get("/drafts") for _ in range(READS)))
                assert {answer.status_code for answer in answers} == {200}
                took = time.monotonic() - began
                assert took < 5, f"{READS} reads took {took:.1f} s"
                assert not any(task.done() for task in told)
                connections = await asyncio.to_thread(installation.count, OPEN_CONNECTIONS)
                assert connections <= Settings().api_pool_size + 1
                draft = await asyncio.to_thread(a_draft, owner, project_id)
                began = time.monotonic()
                events = await asyncio.wait_for(asyncio.gather(*told), WAIT_S)
                print(f"300 told in {time.monotonic() - began:.1f} s; {READS} reads in {took:.1f} s")  # noqa: T201
                assert {(event["kind"], event["resource_id"]) for event in events} == {
                    ("draft.created", draft["draft_id"])
                }

        asyncio.run(scenario())


def _many_connections(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=60, limits=httpx.Limits(max_connections=None), trust_env=False)


async def _waited(client: httpx.AsyncClient, headers: dict[str, str], cursor: str) -> Json:
    answer = await client.get("/events", headers=headers, params={"after": cursor, "wait": WAIT_S})
    (event,) = answer.json()["items"]
    return dict(event)


async def _streamed(client: httpx.AsyncClient, headers: dict[str, str], cursor: str) -> Json:
    async with client.stream("GET", "/events/stream", headers=headers, params={"after": cursor}) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                event: Json = json.loads(line.removeprefix("data: "))
                return event
    raise AssertionError("the stream has ended")
