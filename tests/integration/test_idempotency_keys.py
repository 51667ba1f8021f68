"""Idempotency keys in the store: claimed without a write, kept by the last one (publication.md §6)."""

import pytest
from sqlalchemy import Engine

from models.errors import OperationInProgress
from models.store.idempotency import RequestKey, claim_key, keep_answer
from tests.rows import Somewhere, acting, an_organization, execute, fetch


def a_key(place: Somewhere, body_hash: str = "hash") -> RequestKey:
    return RequestKey(place.org_id, place.owner, "POST", "/v1/api/projects", "k", body_hash)


def kept(place: Somewhere, body: str) -> None:
    with acting(place) as tx:
        assert claim_key(tx.connection, a_key(place)) is None
        keep_answer(tx.connection, a_key(place), status=201, headers={"ETag": '"1"'}, body=body)


def test_a_kept_answer_is_found_whatever_the_body_was(engine: Engine) -> None:
    place = an_organization(engine)
    kept(place, "{}")
    for body_hash in ("hash", "other"):
        with acting(place) as tx:
            known = claim_key(tx.connection, a_key(place, body_hash))
        assert known is not None
        assert (known.same_body, known.status, known.headers, known.body) == (
            body_hash == "hash",
            201,
            {"ETag": '"1"'},
            "{}",
        )


def test_a_key_of_8_days_ago_is_free_and_its_row_is_written_anew(engine: Engine) -> None:
    place = an_organization(engine)
    kept(place, "old")
    execute(place, "update idempotency_keys set created_at = created_at - interval '8 days' where org_id = :o")
    kept(place, "new")
    assert [row.body for row in fetch(place, "select body from idempotency_keys where org_id = :o")] == ["new"]


def test_claiming_a_key_writes_nothing(engine: Engine) -> None:
    place = an_organization(engine)
    with acting(place) as tx:
        claim_key(tx.connection, a_key(place))
        drawn = tx.connection.exec_driver_sql("select pg_current_xact_id_if_assigned()").scalar_one()
    assert drawn is None


def test_an_answer_is_not_kept_beside_one_that_a_process_of_an_older_version_kept_meanwhile(engine: Engine) -> None:
    place = an_organization(engine)
    with acting(place) as tx:
        assert claim_key(tx.connection, a_key(place)) is None
        execute(
            place,
            """
            insert into idempotency_keys
                (org_id, user_id, method, path, key, body_hash, status, headers, body, created_at)
            values (:o, :user_id, 'POST', '/v1/api/projects', 'k', 'hash', 201, '{}', 'theirs', now())
            """,
            user_id=place.owner,
        )
        with pytest.raises(OperationInProgress):
            keep_answer(tx.connection, a_key(place), status=201, headers={}, body="ours")
    assert [row.body for row in fetch(place, "select body from idempotency_keys where org_id = :o")] == ["theirs"]
