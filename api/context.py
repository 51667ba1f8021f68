"""Turns over HTTP: what one is given, and what earlier ones of a session were (memory.md §4, §7)."""

from activities.turns import Asked, take_turn
from api.answers import Answer, answer, document_answer
from api.calls import Hot, Read
from api.lookups import find_session
from api.paging import Paging
from api.routing import Routes, always
from models.errors import IndexNotReady
from models.identifiers import SessionId
from models.rules.query_text import Said, user_texts
from models.schemas.common import ListQuery, Page
from models.schemas.context import ContextBody, ContextRequest, InjectionBody
from models.store.injections import list_injections as stored_injections
from models.store.sessions import read_session

routes = Routes("sessions")

MAX_CONTEXT_BYTES = 4 * 1024 * 1024


@routes.hot(
    "POST",
    "/sessions/{session_id}/context",
    accepts=ContextRequest,
    answers=ContextBody,
    max_body=MAX_CONTEXT_BYTES,
    problems=(IndexNotReady,),
    only_reads=always,
)
def get_context(call: Hot, session_id: str) -> Answer:
    """What an agent needs for its next turn: the memories that matter, and perhaps a nudge. It needs only `read`."""
    session = find_session(call, session_id)
    body = call.body(ContextRequest, permission="read")
    services = call.incoming.services
    texts = user_texts(Said(message.role, message.content) for message in body.messages)
    asked = Asked(texts, body.events, body.k, body.turn_id)
    return document_answer(take_turn(call.connection, services.index, session, asked, services.settings.memory))


@routes.read("/sessions/{session_id}/injections", answers=Page[InjectionBody], query=ListQuery)
def list_injections(call: Read, session_id: str) -> Answer:
    """What the turns of a session were given, newest first: ids and scores, never contents or queries."""
    org_id, user_id = call.principal.org_id, call.principal.user_id
    session = read_session(call.connection, org_id, user_id, SessionId(session_id))
    paging = Paging(call.query(ListQuery), "injections", org_id, session.session_id)
    rows = stored_injections(call.connection, org_id, session.session_id, after=paging.after_id, limit=paging.fetch)
    page = paging.page(
        Page[InjectionBody], rows, show=InjectionBody.model_validate, position=lambda row: [row.injection_id]
    )
    return answer(page)
