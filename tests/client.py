"""A small client for black box tests, and the people and projects they need; each test makes its own organization."""

import atexit
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import httpx
from pydantic import JsonValue

PREFIX = "/v1/api"
Json = dict[str, JsonValue]
Documented = list[tuple[str, re.Pattern[str], dict[int, str]]]

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Client:
    """Requests to one server as one token; paths are below `/v1/api` unless they are whole."""

    base_url: str
    token: str | None = None

    def get(self, path: str, /, *, headers: Mapping[str, str] | None = None, **query: str | int) -> httpx.Response:
        return self.request("GET", path, headers=headers, query=query)

    def post(
        self, path: str, body: object, *, key: str | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        named = {} if key is None else {"Idempotency-Key": key}
        return self.request("POST", path, body=body, headers={**named, **(headers or {})})

    def patch(
        self, path: str, body: object, *, version: int | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        return self.request("PATCH", path, body=body, headers={**_if_match(version), **(headers or {})})

    def put(
        self, path: str, body: object, *, version: int | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        return self.request("PUT", path, body=body, headers={**_if_match(version), **(headers or {})})

    def delete(
        self, path: str, *, version: int | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        return self.request("DELETE", path, headers={**_if_match(version), **(headers or {})})

    def request(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        content: bytes | Iterator[bytes] | None = None,
        headers: Mapping[str, str] | Sequence[tuple[bytes, bytes]] | None = None,
        query: Mapping[str, str | int] | None = None,
    ) -> httpx.Response:
        """Send `body` as JSON, or `content` as it is, with only the headers given."""
        all_headers = httpx.Headers(headers)
        if self.token is not None:
            all_headers["Authorization"] = f"Bearer {self.token}"
        documented = _documented_answers(self.base_url)
        url = self.base_url + (path if path.startswith(("/v1/", "/healthz", "/readyz", "/openapi")) else PREFIX + path)
        response = _connections().request(
            method,
            url,
            json=body if content is None and body is not None else None,
            content=content,
            headers=all_headers,
            params=query or None,
        )
        _require_documented(documented, method, httpx.URL(url).path, response)
        return response

    def with_token(self, token: str | None) -> "Client":
        return Client(self.base_url, token)


@dataclass(frozen=True)
class Person:
    """A user and a client that acts as that user."""

    user_id: str
    client: Client


@dataclass(frozen=True)
class Organization:
    """An organization and its owner's client, whose token permits all but `service`."""

    organization_id: str
    owner_id: str
    owner: Client


def an_organization(api: Client, name: str | None = None) -> Organization:
    """A new organization; `api` holds a token with `service`."""
    body: Json = {"name": name or a_name("Organization"), "owner": {"name": "Olga Owner"}}
    made = ok(api.post("/admin/organizations", body), 201)
    return Organization(
        str(_member(made, "organization")["organization_id"]),
        str(_member(made, "owner")["user_id"]),
        api.with_token(str(_member(made, "token")["secret"])),
    )


def a_person(organization: Organization, role: str = "member", name: str | None = None) -> Person:
    """A new user of the organization, with a token that reads and writes."""
    body: Json = {"name": name or a_name("Person"), "role": role}
    user_id = str(ok(organization.owner.post("/admin/users", body), 201)["user_id"])
    return Person(user_id, organization.owner.with_token(a_token(organization.owner, user_id)))


def a_token(client: Client, user_id: str | None = None, *permissions: str) -> str:
    """The secret of a new token, which reads and writes unless told otherwise."""
    body: Json = {"name": a_name("Token"), "permissions": [*(permissions or ("read", "write"))]}
    if user_id is not None:
        body["user_id"] = user_id
    return str(ok(client.post("/admin/tokens", body), 201)["secret"])


def a_project(client: Client, name: str | None = None) -> str:
    """The id of a new project, whose admin is the client's user."""
    return str(ok(client.post("/projects", {"name": name or a_name("Project")}), 201)["project_id"])


def a_member(organization: Organization, project_id: str, role: str = "member") -> Person:
    """A new user of the organization who is a member of the project."""
    person = a_person(organization)
    body: Json = {"user_id": person.user_id, "role": role}
    ok(organization.owner.post(f"/projects/{project_id}/members", body), 201)
    return person


def a_name(kind: str) -> str:
    """A name that nothing else in this test run has."""
    return f"{kind} {next(_numbers)}"


def ok(response: httpx.Response, status: int = 200) -> Json:
    """The body of an answer that has to have the status."""
    assert response.status_code == status, f"{response.status_code}: {response.text}"
    body: Json = response.json()
    return body


def problem(response: httpx.Response, status: int, code: str) -> Json:
    """The problem document of a refusal that has to have the status and code."""
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json"), (
        response.text
    )
    body: Json = response.json()
    assert (body["code"], body["status"]) == (code, status), response.text
    return body


def refused_fields(response: httpx.Response) -> set[tuple[str, str]]:
    """Field and rule of each error of an `invalid_request`."""
    errors = problem(response, 400, "invalid_request")["errors"]
    assert isinstance(errors, list)
    pairs = [error for error in errors if isinstance(error, dict)]
    return {(str(error["field"]), str(error["rule"])) for error in pairs}


def items(response: httpx.Response) -> list[Json]:
    """The items of a page."""
    listed = ok(response)["items"]
    assert isinstance(listed, list)
    return [item for item in listed if isinstance(item, dict)]


def every_route(client: Client) -> list[tuple[str, str]]:
    """Method and path template of all routes below the prefix, as documented."""
    document = ok(client.get("/openapi.json"))
    paths = document["paths"]
    assert isinstance(paths, dict)
    return [
        (verb.upper(), path)
        for path, operations in paths.items()
        for verb in (operations if isinstance(operations, dict) else {})
        if path.startswith(PREFIX)
    ]


def filled(path: str, ids: Mapping[str, str] | None = None) -> str:
    """A path template with the ids in place of its parameters; `x` for those that are not given."""
    return re.sub(r"\{(\w+)\}", lambda parameter: (ids or {}).get(parameter[1], "x"), path)


def _member(body: Json, name: str) -> Json:
    value = body[name]
    assert isinstance(value, dict)
    return value


def _if_match(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


def _require_documented(documented: Documented, method: str, path: str, response: httpx.Response) -> None:
    """Every answer in every test is one that OpenAPI documents for the route, with its status and code."""
    responses = next((answers for verb, route, answers in documented if verb == method and route.fullmatch(path)), None)
    if responses is None:  # no such route, or not with this method
        return
    assert response.status_code in responses, f"{method} {path} answered undocumented {response.status_code}"
    if response.headers.get("content-type") == "application/problem+json":
        code = response.json()["code"]
        assert f"`{code}`" in responses[response.status_code], f"{method} {path} answered undocumented {code}"


@cache
def _documented_answers(base_url: str) -> Documented:
    document = _connections().get(f"{base_url}/openapi.json").json()
    return [
        (
            verb.upper(),
            re.compile(re.sub(r"\{\w+\}", "[^/]+", path)),
            {int(status): answer["description"] for status, answer in operation["responses"].items()},
        )
        for path, operations in document["paths"].items()
        for verb, operation in operations.items()
    ]


@cache
def _connections() -> httpx.Client:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=50)
    client = httpx.Client(timeout=60, trust_env=False, verify=False, limits=limits)  # noqa: S501  (loopback, no TLS)
    atexit.register(client.close)
    return client
