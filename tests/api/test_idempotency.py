"""Idempotency-Key: the same request again is answered again, and done once."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import bindparam, func, select

from deskwire.api.endpoint import Call, Endpoint, Made
from deskwire.api.table import ENDPOINTS
from deskwire.desk.sealing import Seal
from deskwire.model.limits import IDEMPOTENT_ANSWER_LIFETIME_US, IDEMPOTENT_ANSWERS_TRIMMED
from deskwire.store.statement import Statement
from deskwire.store.tables import IDEMPOTENT_ANSWERS
from deskwire.store.transaction import Tx
from tests.api.asking import api_of, ask
from tests.api.client import Answer
from tests.api.desk import Desk

KEPT = Statement(
    select(func.count())
    .select_from(IDEMPOTENT_ANSWERS)
    .where(IDEMPOTENT_ANSWERS.c.workspace_id == bindparam("workspace_id"))
)
NEW_CONTACT: Endpoint = next(one for one in ENDPOINTS if (one.method, one.path) == ("POST", "/contacts"))


def create(desk: Desk, key: str | None, body: object, secret: str | None = None) -> Answer:
    headers = [] if key is None else [("idempotency-key", key)]
    return desk.house.run(ask(api_of(desk.house), secret or desk.secret, "POST", "/contacts", body, *headers))


def kept(desk: Desk) -> object:
    row = desk.house.run(desk.house.store.read(lambda tx: tx.one(KEPT, workspace_id=desk.workspace_id)))
    assert row is not None
    return row[0]


def test_the_same_key_and_body_give_the_first_answer_again(desk: Desk) -> None:
    first, again = (create(desk, "k", {"name": "Kim"}) for _ in range(2))
    assert first.status == again.status == 201
    assert first.body == again.body
    assert len(desk.get("/contacts").data) == 1


def test_an_answer_is_given_again_after_what_it_tells_of_has_changed(desk: Desk) -> None:
    first = create(desk, "k", {"name": "Kim"})
    changed = ask(
        api_of(desk.house), desk.secret, "PATCH", f"/contacts/{first.json['data']['id']}", {"name": "Lou"}
    )
    assert desk.house.run(changed).status == 200
    assert create(desk, "k", {"name": "Kim"}).body == first.body


def test_a_key_whose_answer_cannot_be_opened_any_more_is_refused_and_makes_nothing(desk: Desk) -> None:
    assert create(desk, "k", {"name": "Kim"}).status == 201
    api = api_of(desk.house, seal=Seal(b"another key with its 32 bytes !!"))
    asked = ask(api, desk.secret, "POST", "/contacts", {"name": "Kim"}, ("idempotency-key", "k"))
    answer = desk.house.run(asked)
    assert answer.failure == (409, "CONFLICT")
    assert "secret key" in answer.json["error"]["message"]
    assert len(desk.get("/contacts").data) == 1


def test_without_a_key_a_retry_makes_a_duplicate(desk: Desk) -> None:
    for _ in range(2):
        assert create(desk, None, {"name": "Kim"}).status == 201
    assert len(desk.get("/contacts").data) == 2


def test_another_body_under_the_same_key_is_refused(desk: Desk) -> None:
    create(desk, "k", b'{"name":"Kim"}')
    assert create(desk, "k", b'{"name":"Lou"}').failure == (422, "IDEMPOTENCY_MISMATCH")
    # The bytes count, not what they mean.
    assert create(desk, "k", b'{"name": "Kim"}').failure == (422, "IDEMPOTENCY_MISMATCH")
    assert len(desk.get("/contacts").data) == 1


def test_a_key_belongs_to_its_token(desk: Desk) -> None:
    other = desk.token("contacts:write")
    assert create(desk, "k", {"name": "Kim"}).status == 201
    assert create(desk, "k", {"name": "Lou"}, other).status == 201


def test_what_failed_is_not_remembered(desk: Desk) -> None:
    create(desk, None, {"external_id": "a"})
    assert create(desk, "k", {"external_id": "a"}).failure == (409, "CONFLICT")
    assert create(desk, "k", {"external_id": 7}).failure == (400, "INVALID_BODY")
    assert kept(desk) == 0
    assert create(desk, "k", {"external_id": "b"}).status == 201


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "\x7f", "é", "a\tb"])
def test_a_key_that_breaks_its_form_is_refused(desk: Desk, key: str) -> None:
    answer = create(desk, key, {"name": "Kim"})
    assert answer.failure == (400, "INVALID_BODY")
    assert set(answer.fields) == {"Idempotency-Key"}
    assert desk.get("/contacts").data == []


def test_two_keys_are_refused(desk: Desk) -> None:
    keys = (("idempotency-key", "a"), ("idempotency-key", "b"))
    answer = desk.house.run(ask(api_of(desk.house), desk.secret, "POST", "/contacts", {}, *keys))
    assert answer.failure == (400, "INVALID_BODY")


def test_a_key_may_have_255_visible_characters(desk: Desk) -> None:
    assert create(desk, "!~" * 127 + "x", {}).status == 201


def test_a_key_is_forgotten_after_24_hours(desk: Desk) -> None:
    create(desk, "k", {"name": "Kim"})
    desk.house.clock.advance(IDEMPOTENT_ANSWER_LIFETIME_US - 1)
    assert create(desk, "k", {"name": "Lou"}).code == "IDEMPOTENCY_MISMATCH"
    desk.house.clock.advance(1)
    second = create(desk, "k", {"name": "Lou"})
    assert second.status == 201
    assert create(desk, "k", {"name": "Lou"}).body == second.body
    assert kept(desk) == 1


def test_what_has_expired_is_removed_in_small_steps(desk: Desk) -> None:
    for number in range(IDEMPOTENT_ANSWERS_TRIMMED + 2):
        create(desk, f"k{number}", {})
    desk.house.clock.advance(IDEMPOTENT_ANSWER_LIFETIME_US)
    create(desk, "new", {})
    assert kept(desk) == 3
    create(desk, "newer", {})
    assert kept(desk) == 2


def test_simultaneous_requests_under_one_key_make_one_thing(desk: Desk) -> None:
    async def everybody() -> list[Answer]:
        app = api_of(desk.house)
        header = ("idempotency-key", "k")
        return await asyncio.gather(
            *(ask(app, desk.secret, "POST", "/contacts", {"name": "Kim"}, header) for _ in range(20))
        )

    answers = desk.house.run(everybody())
    made = {answer.body for answer in answers if answer.status == 201}
    assert len(made) == 1
    for answer in answers:
        assert answer.status == 201 or (answer.failure == (409, "CONFLICT") and answer.header("retry-after"))
    assert len(desk.get("/contacts").data) == 1


def test_a_request_whose_first_one_is_under_way_does_not_wait(desk: Desk, engine: str) -> None:
    """On an embedded database operations run one after another, so there it cannot arise."""
    if engine == "sqlite":
        pytest.skip("operations run one after another")
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow(tx: Tx, call: Call) -> Any:
        begun.set()
        await may_end.wait()
        return Made(b"{}")

    async def both() -> tuple[Answer, Answer]:
        app = api_of(desk.house, [replace(NEW_CONTACT, operation=slow)])
        header = ("idempotency-key", "k")
        first = asyncio.create_task(ask(app, desk.secret, "POST", "/contacts", {}, header))
        await begun.wait()
        second = await ask(app, desk.secret, "POST", "/contacts", {}, header)
        may_end.set()
        return await first, second

    first, second = desk.house.run(both())
    assert first.status == 201
    assert second.failure == (409, "CONFLICT")
    assert second.header("retry-after") == "1"
