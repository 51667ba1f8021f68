"""The public API as the demonstration uses it: every command may be repeated, and every refusal is shown."""

import time
from typing import Any

import httpx
from pydantic import JsonValue

from canonry.failures import CommandFailed

WAIT_S = 30
PATIENCE_S = 120
"""A command takes milliseconds; one that takes this long has a reason that stands in the logs."""
Json = dict[str, Any]


class Api:
    """One person's view of a server.

    Args:
        url: where the server is.
        token: whose token.
    """

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.Client(
            base_url=f"{url}/v1/api",
            headers={"Authorization": f"Bearer {token}"},
            timeout=WAIT_S + 10,
            trust_env=False,
        )

    def get(self, path: str, **query: str) -> Json:
        """Read something."""
        return self._checked(self._http.get(path, params=query))

    def post(self, path: str, body: dict[str, JsonValue], *, key: str | None = None) -> Json:
        """Ask for something, and wait until it is done.

        Args:
            path: the route.
            body: the request.
            key: an Idempotency-Key; run again with the same one, the first answer comes back and nothing happens twice.
        """
        headers = {"Prefer": f"wait={WAIT_S}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        return self._done(self._http.post(path, json=body, headers=headers))

    def put(self, path: str, body: dict[str, JsonValue], *, version: int) -> Json:
        """Replace something at the version that was read."""
        headers = {"Prefer": f"wait={WAIT_S}", "If-Match": f'"{version}"'}
        return self._done(self._http.put(path, json=body, headers=headers))

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def _done(self, response: httpx.Response) -> Json:
        """The outcome of a command: a replay and a slow one are followed to their end."""
        answer = self._checked(response)
        if "operation_id" not in answer:
            return answer
        give_up_at = time.monotonic() + PATIENCE_S
        while answer["status"] in ("pending", "running"):
            if time.monotonic() > give_up_at:
                raise CommandFailed(f"{answer['kind']} is still {answer['status']}; the worker's log says why.")
            answer = self.get(f"/operations/{answer['operation_id']}", wait=str(WAIT_S))
        if answer["status"] == "failed":
            raise CommandFailed(f"{answer['kind']}: {answer['problem']['detail']}")
        result: Json = answer["result"]
        return result

    def _checked(self, response: httpx.Response) -> Json:
        if response.is_error:
            detail = response.json().get("detail", response.text)
            raise CommandFailed(f"{response.request.method} {response.request.url.path}: {detail}")
        answer: Json = response.json()
        return answer
