"""A header that has one value is refused when it comes twice."""

import http.client
import json
from urllib.parse import urlsplit

import pytest

from tests.client import Client, a_project, an_organization, items, ok, problem, refused_fields

BODY = b'{"name": "n"}'
JSON = (b"Content-Type", b"application/json")


def authorization(client: Client) -> tuple[bytes, bytes]:
    return (b"Authorization", f"Bearer {client.token}".encode())


def test_two_preconditions_are_invalid_even_if_they_agree(api: Client) -> None:
    owner = an_organization(api).owner
    path = f"/projects/{a_project(owner)}"
    headers = [JSON, (b"If-Match", b'"1"'), (b"If-Match", b'"1"')]
    assert refused_fields(owner.request("PATCH", path, content=BODY, headers=headers)) == {("If-Match", "repeated")}
    assert ok(owner.get(path))["version"] == 1


def test_two_idempotency_keys_are_invalid_and_neither_is_used(api: Client) -> None:
    owner = an_organization(api).owner
    headers = [JSON, (b"Idempotency-Key", b"k"), (b"Idempotency-Key", b"l")]
    refused = owner.request("POST", "/projects", content=BODY, headers=headers)
    assert refused_fields(refused) == {("Idempotency-Key", "repeated")}
    assert items(owner.get("/projects")) == []
    ok(owner.post("/projects", {"name": "n"}, key="k"), 201)


@pytest.mark.parametrize("other", [b"text/plain", b"application/json; charset=utf-16"])
def test_two_content_types_are_unsupported(api: Client, other: bytes) -> None:
    owner = an_organization(api).owner
    for headers in ([JSON, (b"Content-Type", other)], [(b"Content-Type", other), JSON]):
        refused = owner.request("POST", "/projects", content=BODY, headers=headers)
        problem(refused, 415, "unsupported_media_type")


def test_two_credentials_are_none(api: Client) -> None:
    one, other = an_organization(api).owner, an_organization(api).owner
    nobody = api.with_token(None)
    for second in (authorization(one), authorization(other), (b"Authorization", b"Bearer x")):
        refused = nobody.request("GET", "/me", headers=[authorization(one), second])
        problem(refused, 401, "unauthenticated")


def test_two_hosts_are_refused(api: Client) -> None:
    served = urlsplit(api.base_url)
    for second in (served.netloc, "evil.example"):
        connection = http.client.HTTPConnection(served.netloc)
        connection.putrequest("GET", "/healthz", skip_host=True)
        connection.putheader("Host", served.netloc)
        connection.putheader("Host", second)
        connection.endheaders()
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["code"]) == (403, "forbidden")
        connection.close()
