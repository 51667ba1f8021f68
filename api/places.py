"""Which scope a request outside of sessions names, and what its caller sees of it (memory.md §2, §7)."""

from urllib.parse import parse_qs

from api.calls import Hot
from models.errors import Forbidden, InvalidRequest, JsonValue
from models.identifiers import UserId, WorkstreamId
from models.rules.envelopes import GLOBAL, CallerFacts, rest_envelope
from models.rules.structured_fields import broken_name_rule, normalize_name
from models.rules.visibility import Envelope, Place
from models.schemas.common import MAX_ID_CHARACTERS, broken_text_rule
from models.schemas.structured import RestScope
from models.store.structured_access import read_workstream_owner
from models.store.workstreams import no_workstream

REPLACED = "\ufffd"
REPLACED_ENCODED = b"%EF%BF%BD"
"""What the server makes of bytes in a path that are no UTF-8, and the same where a client means it."""


def envelope_of(call: Hot, *, writes: bool = False) -> Envelope:
    """What the caller sees, and the workstream that the query or the body names, before either is judged.

    Raises:
        NotFound: the organization has no such workstream.
        Forbidden: it is somebody else's, or another user's scope is named, or a scope that the caller does not write.
    """
    scope, scope_id = _named(call)
    who = call.principal
    workstream_id = WorkstreamId(scope_id) if scope == "workstream" and scope_id else None
    owner: UserId | None = None
    if workstream_id is not None:
        owner = read_workstream_owner(call.connection, who.org_id, workstream_id)
        if owner is None:
            raise no_workstream()
    elif scope == "user" and scope_id not in ("", who.user_id):
        raise Forbidden("A user's memories are their own.")
    envelope = rest_envelope(
        CallerFacts(
            who.org_id,
            who.user_id,
            who.role,
            who.global_write,
            serves="service" in who.permissions,
            workstream_id=workstream_id,
            workstream_owner=owner,
        )
    )
    if workstream_id is not None and (problem := envelope.refused.get("workstream")):
        raise problem
    if writes and scope in ("", "global") and (problem := envelope.unwritable.get("global")):
        raise problem
    return envelope


def place_in(call: Hot, scope: RestScope | None, scope_id: str | None) -> Place:
    """The place that a judged request names; without a scope it is the global one."""
    if scope == "user":
        return Place(scope, scope_id or call.principal.user_id)
    return GLOBAL if scope_id is None or scope is None else Place(scope, scope_id)


def read_name(call: Hot, raw: str) -> str:
    """The normalized name in a path.

    Raises:
        InvalidRequest: it breaks a rule of names, or is not UTF-8.
    """
    name = normalize_name(raw)
    rule = broken_name_rule(name)
    if REPLACED in name and REPLACED_ENCODED not in call.incoming.raw_path.upper():
        rule = "utf_8"
    if rule is not None:
        raise InvalidRequest.of("name", rule)
    return name


def _named(call: Hot) -> tuple[JsonValue, str]:
    """Scope and id as they are named; what could be none is left to be refused when it is judged."""
    members = _members(call)
    scope, scope_id = members.get("scope", ""), members.get("scope_id", "")
    if not isinstance(scope_id, str) or len(scope_id) > MAX_ID_CHARACTERS or broken_text_rule(scope_id):
        return None, ""
    return scope, scope_id


def _members(call: Hot) -> dict[str, JsonValue]:
    """Those of a body that is an object; in any other request, of the query."""
    if call.incoming.method == "POST" and not call.incoming.path_parameters:
        value = call.json().value
        return value if isinstance(value, dict) else {"scope": None}
    if b"scope" not in call.incoming.query:
        return {}
    given = parse_qs(call.incoming.query.decode("latin-1"), keep_blank_values=True)
    return {name: values[0] if len(values) == 1 else None for name, values in given.items()}
