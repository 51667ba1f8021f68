"""Where the server is that the environment names."""

import os

import httpx

from canonry.failures import CommandFailed


def named_server() -> str | None:
    """The URL in `CANONRY_URL`, without `/v1/api`; None where it is not set.

    Raises:
        CommandFailed: it is no URL of a server.
    """
    given = os.environ.get("CANONRY_URL")
    if not given:
        return None
    try:
        url = httpx.URL(given)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in {"http", "https"} or not url.host or url.query or url.fragment or url.userinfo:
        raise CommandFailed("CANONRY_URL: accepted is http://host:port or https://host, without a query or a password.")
    return str(url).rstrip("/").removesuffix("/v1/api")
