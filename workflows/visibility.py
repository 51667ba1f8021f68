"""Search attributes as Temporal's clients and workflows set them, and their registration."""

import asyncio
from collections.abc import Mapping

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

from workflows.search_attributes import SEARCH_ATTRIBUTES

TYPES: Mapping[str, "IndexedValueType.ValueType"] = {"Keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD}
POLL_S = 0.1


def keyword(name: str) -> SearchAttributeKey[str]:
    """The typed key of one of `SEARCH_ATTRIBUTES`."""
    return SearchAttributeKey.for_keyword(name)


def attributes(**values: str) -> TypedSearchAttributes:
    """What to start a workflow with, by attribute name."""
    return TypedSearchAttributes([SearchAttributePair(keyword(name), value) for name, value in values.items()])


async def register(client: Client) -> None:
    """Add the search attributes that the namespace lacks, and return once they can be used.

    Safe to repeat and to run in several processes at once. A cluster takes seconds to spread new attributes:
    callers bound the wait.

    Raises:
        RPCError: the server does not answer, or refuses.
    """
    if not (missing := await _missing(client)):
        return
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(
                namespace=client.namespace,
                search_attributes={name: TYPES[SEARCH_ATTRIBUTES[name]] for name in missing},
            )
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.ALREADY_EXISTS:
            raise
    while not await _usable(client):  # noqa: ASYNC110  (nothing announces it)
        await asyncio.sleep(POLL_S)


async def _missing(client: Client) -> list[str]:
    answer = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return [name for name in SEARCH_ATTRIBUTES if name not in answer.custom_attributes]


async def _usable(client: Client) -> bool:
    """Whether the frontend, which checks what a start brings, has learnt every name."""
    try:
        await client.count_workflows(" and ".join(f'{name} = "none"' for name in SEARCH_ATTRIBUTES))
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        return False
    return True
