"""The SQL side of who sees what: every statement about structured memories takes its condition from here.

A statement calls the table `m` and holds one of the conditions below; its names come from an `Envelope` by the function
beside it, which lets nothing pass that the envelope does not hold. A lint test refuses any other statement
(`tests/unit/test_structured_visibility.py`).
"""

from collections.abc import Sequence
from typing import TypedDict

from models.errors import Forbidden
from models.identifiers import OrganizationId
from models.rules.visibility import Envelope, Place


class VisibleNames(TypedDict):
    """The parameters of `VISIBLE`, of `PLACES` and of `WHOLE`."""

    org_id: OrganizationId
    whole: bool
    only: str | None
    scopes: list[str]
    scope_ids: list[str]


class PlaceNames(TypedDict):
    """The parameters of `AT_PLACE`."""

    org_id: OrganizationId
    scope: str
    scope_id: str


VISIBLE = """
    m.org_id = %(org_id)s and m.deleted_at is null
    and (%(whole)s and (%(only)s::text is null or m.scope = %(only)s) or (m.scope, m.scope_id) in (
        select p.scope, p.scope_id from unnest(%(scopes)s::text[], %(scope_ids)s::text[]) as p(scope, scope_id)
    ))
"""
"""Whatever the envelope shows, for look-ups by id; deleted ones are not there."""

PLACES = "unnest(%(scopes)s::text[], %(scope_ids)s::text[]) as p(scope, scope_id)"
IN_PLACE = "m.org_id = %(org_id)s and m.scope = p.scope and m.scope_id = p.scope_id and m.deleted_at is null"
"""The same place by place, `from PLACES cross join lateral (… where IN_PLACE …)`: each is read in its index's order."""

WHOLE = "m.org_id = %(org_id)s and m.deleted_at is null and (%(only)s::text is null or m.scope = %(only)s)"
"""Every place of the organization, or of one scope, for an envelope that is `whole`."""

AT_PLACE = "m.org_id = %(org_id)s and m.scope = %(scope)s and m.scope_id = %(scope_id)s"
"""One place that the envelope holds, what was deleted there included."""


def visible_names(envelope: Envelope, places: Sequence[Place] | None = None) -> VisibleNames:
    """The parameters of `VISIBLE`, `PLACES`, `WHOLE`; `places` narrows to some of the envelope's, others drop out."""
    shown = [place for place in envelope.readable if places is None or place in places]
    if envelope.whole and places is not None:
        shown = [place for place in places if envelope.spans(place)]
    return {
        "org_id": envelope.org_id,
        "whole": envelope.whole and places is None,
        "only": envelope.only,
        "scopes": [place.scope for place in shown],
        "scope_ids": [place.scope_id for place in shown],
    }


def readable_names(envelope: Envelope, place: Place) -> PlaceNames:
    """The parameters of `AT_PLACE` for a read.

    Raises:
        Problem: the envelope does not hold the place; its reason, else Forbidden.
    """
    if place not in envelope.readable and not envelope.spans(place):
        raise envelope.refused.get(place.scope) or Forbidden("This scope cannot be read here.")
    return _names(envelope, place)


def writable_names(envelope: Envelope, place: Place) -> PlaceNames:
    """The parameters of `AT_PLACE` for a write.

    Raises:
        Problem: the envelope does not let the place be written; its reason, else Forbidden.
    """
    if place not in envelope.writable and not envelope.spans(place):
        reason = envelope.refused.get(place.scope) or envelope.unwritable.get(place.scope)
        raise reason or Forbidden("This scope cannot be written here.")
    return _names(envelope, place)


def _names(envelope: Envelope, place: Place) -> PlaceNames:
    return {"org_id": envelope.org_id, "scope": place.scope, "scope_id": place.scope_id}
