"""Those who wait for events do not wait for one another's feeds, and lose their tokens whatever the feeds do."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from sqlalchemy import Engine

from api.following import Followers
from models.store.events import Position, append_event
from models.store.feed import feed_of, latest_position
from models.store.tokens import Credential, find_credential, issue_token, revoke_token
from tests.rows import Somewhere, acting, an_organization, execute

SOON_S = 4.0


def a_credential(place: Somewhere) -> Credential:
    with acting(place) as tx:
        token = issue_token(tx, user_id=place.owner, name="x", permissions=["read"], expires_at=None)
    with place.engine.connect() as connection:
        credential = find_credential(connection, token.secret)
    assert credential is not None
    return credential


def the_end(place: Somewhere) -> Position:
    with place.engine.connect() as connection:
        return latest_position(connection, place.org_id, feed_of(connection, place.org_id))


def tell(place: Somewhere, name: str) -> None:
    with acting(place) as tx:
        append_event(tx, "test", "test", name)


def tell_what_cannot_be_read(place: Somewhere) -> None:
    """An event of a time that no client can hold."""
    execute(
        place,
        """
        insert into events (org_id, kind, resource_type, resource_id, at) values (:o, 'test', 'test', 'x', 'infinity')
        """,
    )


def while_following(engine: Engine, check: Callable[[Followers], Awaitable[None]]) -> None:
    async def run() -> None:
        followers = Followers(engine)
        looking = asyncio.create_task(followers.run())
        try:
            await check(followers)
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    asyncio.run(run())


def test_a_feed_that_cannot_be_read_holds_nobody_else_up(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    broken, whole = an_organization(engine), an_organization(engine)
    starts = {place.org_id: the_end(place) for place in (broken, whole)}

    async def check(followers: Followers) -> None:
        with (
            followers.following(a_credential(broken), starts[broken.org_id], limit=10) as waiting,
            followers.following(a_credential(whole), starts[whole.org_id], limit=10) as told,
        ):
            tell_what_cannot_be_read(broken)
            assert await waiting.events(1) == []
            tell(whole, "for all")
            assert [event.resource_id for event in await told.events(SOON_S) or []] == ["for all"]

    while_following(engine, check)
    assert [record.message for record in caplog.records if broken.org_id in record.message] != []


def test_a_token_is_seen_to_be_gone_although_the_feed_cannot_be_read(engine: Engine) -> None:
    place = an_organization(engine)
    start, who = the_end(place), a_credential(place)
    tell_what_cannot_be_read(place)

    async def check(followers: Followers) -> None:
        with followers.following(who, start, limit=10) as follower:
            with acting(place) as tx:
                revoke_token(tx, who.token_id)
            assert await follower.events(SOON_S) is None
            assert follower.revoked

    while_following(engine, check)
