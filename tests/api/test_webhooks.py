"""Outbound webhooks through the API: registered, changed, switched, deleted; secrets; isolation."""

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

import pytest
from sqlalchemy import bindparam, select

from deskwire.delivery.resolving import Lookup
from deskwire.desk.checking import check
from deskwire.desk.outbox import emit
from deskwire.desk.webhook_rows import lock_webhook
from deskwire.desk.webhooks import toggle_webhook
from deskwire.model.addresses import Address
from deskwire.model.contacts import ContactRecord, show_contact
from deskwire.model.events import ContactEventData
from deskwire.model.limits import DELIVERY_HORIZON_US
from deskwire.model.webhooks import EVENT_KINDS
from deskwire.store.statement import Row, Statement
from deskwire.store.tables import DELIVERIES, IDEMPOTENT_ANSWERS, WEBHOOKS
from deskwire.store.transaction import Tx
from deskwire.wiring.receivers import PublicReceivers
from tests.api.asking import api_of, ask
from tests.api.client import Answer
from tests.api.desk import Desk
from tests.api.records import at, new_id
from tests.api.webhooks import URL, add_delivery, add_webhook, kept_webhook
from tests.engines import NEW_YEAR

NEW = {"name": "Receiver", "url": URL}
HOUR_US = 3600 * 1_000_000
DELIVERY = Statement(
    select(
        DELIVERIES.c.held,
        DELIVERIES.c.due_at,
        DELIVERIES.c.cycles,
        DELIVERIES.c.counts,
        DELIVERIES.c.untried,
        DELIVERIES.c.holder,
        DELIVERIES.c.fence,
    ).where(
        DELIVERIES.c.workspace_id == bindparam("workspace_id"),
        DELIVERIES.c.event_id == bindparam("event_id"),
    )
)
HELD = Statement(select(DELIVERIES.c.held).where(DELIVERIES.c.workspace_id == bindparam("workspace_id")))
PERSON = ContactRecord(id=new_id(), name="Kim", created_at=NEW_YEAR)
EVENT = ContactEventData(contact_id=PERSON.id, contact=show_contact(PERSON))
KEPT_SECRETS = Statement(
    select(WEBHOOKS.c.secret, WEBHOOKS.c.document).where(WEBHOOKS.c.workspace_id == bindparam("workspace_id"))
)
KEPT_ANSWERS = Statement(
    select(IDEMPOTENT_ANSWERS.c.answer).where(IDEMPOTENT_ANSWERS.c.workspace_id == bindparam("workspace_id"))
)


def request(
    desk: Desk, method: str, path: str = "", body: object = None, key: str | None = None, **more: Any
) -> Answer:
    headers = [] if key is None else [("idempotency-key", key)]
    secret = more.pop("secret", desk.secret)
    return desk.house.run(
        ask(api_of(desk.house, **more), secret, method, f"/outbound-webhooks{path}", body, *headers)
    )


def create(desk: Desk, key: str | None = None, **fields: Any) -> Answer:
    return request(desk, "POST", "", {**NEW, **fields}, key)


def rows(desk: Desk, statement: Statement, **values: str) -> Sequence[Row]:
    return desk.house.run(
        desk.house.store.read(lambda tx: tx.all(statement, workspace_id=desk.workspace_id, **values))
    )


def delivery(desk: Desk, event_id: str) -> Row:
    (row,) = rows(desk, DELIVERY, event_id=event_id)
    return tuple(bool(value) if at in (0, 3, 4) else value for at, value in enumerate(row))


def differences(desk: Desk) -> list[str]:
    async def all_of() -> list[str]:
        return [line async for line in check(desk.house.store, lambda *_: None)]

    return desk.house.run(all_of())


def test_a_new_webhook_is_active_and_shows_its_secret_once(desk: Desk) -> None:
    answer = create(desk, event_filters=["channel.closed", "message.created"])
    assert answer.status == 201
    made = answer.json["data"]
    secret = made.pop("secret")
    assert len(secret) == 64 and set(secret) <= set("0123456789abcdef")
    assert made == {
        "id": made["id"],
        **NEW,
        "event_filters": ["channel.closed", "message.created"],
        "status": "active",
        "failure_count": 0,
        "created_at": at(0),
        "updated_at": at(0),
    }
    assert desk.get(f"/outbound-webhooks/{made['id']}").data == made
    assert desk.get("/outbound-webhooks").json == {"success": True, "data": [made]}


def test_two_webhooks_have_two_secrets(desk: Desk) -> None:
    first, second = create(desk).json["data"], create(desk).json["data"]
    assert first["secret"] != second["secret"]
    assert first["id"] != second["id"]


def test_webhooks_are_listed_newest_first_with_the_id_as_tie_breaker(desk: Desk) -> None:
    newest = add_webhook(desk, created_at=NEW_YEAR + 1)
    alike = sorted((add_webhook(desk) for _ in range(5)), reverse=True)
    oldest = add_webhook(desk, created_at=NEW_YEAR - 1)
    assert desk.get("/outbound-webhooks").ids == [newest, *alike, oldest]


def test_what_a_webhook_shows_of_its_health(desk: Desk) -> None:
    id = add_webhook(
        desk, status="error", failure_count=10, error_message="it answered 500", last_delivered_at=NEW_YEAR
    )
    shown = desk.get(f"/outbound-webhooks/{id}").data
    assert shown["last_delivered_at"] == at(0)
    assert (shown["status"], shown["failure_count"]) == ("error", 10)
    assert shown["error_message"] == "it answered 500"
    untried = desk.get(f"/outbound-webhooks/{add_webhook(desk)}").data
    assert untried.keys().isdisjoint({"last_delivered_at", "error_message", "secret"})


@pytest.mark.parametrize(
    ("fields", "field", "problem"),
    [
        ({"name": ""}, "name", "must not be empty"),
        ({"name": "x" * 256}, "name", "must be at most 255 characters"),
        ({"name": None}, "name", "must be a text, not null"),
        ({"name": 7}, "name", "must be a text, not a whole number"),
        ({"name": "a\0b"}, "name", "must not contain NUL"),
        ({"url": None}, "url", "must be a text, not null"),
        ({"url": "https://hooks.example.com/" + "x" * 2023}, "url", "must be at most 2048 characters"),
        ({"url": "http://hooks.example.com/"}, "url", "must begin with https://"),
        ({"url": ""}, "url", "must begin with https://"),
        (
            {"url": "https://me:pass@hooks.example.com/"},
            "url",
            "must not contain a user name or password",
        ),
        ({"url": "https://10.0.0.1/"}, "url", "must have a domain name, not an IP address"),
        ({"url": "https://0x7f.1/"}, "url", "must have a domain name, not an IP address"),
        ({"url": "https://hooks.example.com:22/"}, "url", "must have port 443, 8443 or one above 1023"),
        ({"event_filters": None}, "event_filters", "must be a list, not null"),
        ({"event_filters": "message.created"}, "event_filters", "must be a list, not a text"),
        ({"event_filters": [None]}, "event_filters", "must be a text, not null"),
        ({"secret": "x"}, "secret", "is not a field of this request"),
        ({"status": "inactive"}, "status", "is not a field of this request"),
    ],
)
def test_what_breaks_a_rule_is_refused_with_the_field_and_the_rule(
    desk: Desk, fields: dict[str, Any], field: str, problem: str
) -> None:
    id = add_webhook(desk)
    before = desk.get("/outbound-webhooks").body
    for answer in (create(desk, **fields), request(desk, "PATCH", f"/{id}", fields)):
        assert answer.failure == (400, "INVALID_BODY")
        assert answer.fields == {field: problem}
    assert desk.get("/outbound-webhooks").body == before


@pytest.mark.parametrize("filters", [["message.deleted"], ["message.created", "*"], [""]])
def test_an_unknown_kind_is_refused_and_the_kinds_are_listed(desk: Desk, filters: list[str]) -> None:
    answer = create(desk, event_filters=filters)
    assert answer.failure == (400, "INVALID_BODY")
    assert set(answer.fields) == {"event_filters"}
    assert all(kind in answer.json["error"]["message"] for kind in EVENT_KINDS)


@pytest.mark.parametrize("missing", ["name", "url"])
def test_name_and_url_are_required(desk: Desk, missing: str) -> None:
    body = {name: value for name, value in NEW.items() if name != missing}
    answer = request(desk, "POST", "", body)
    assert (answer.failure, answer.fields) == ((400, "INVALID_BODY"), {missing: "is required"})


def test_lengths_count_code_points(desk: Desk) -> None:
    name = "🦊" * 255
    assert create(desk, name=name).json["data"]["name"] == name
    assert create(desk, name="🦊" * 256).failure == (400, "INVALID_BODY")
    url = "https://hooks.example.com/".ljust(2048, "x")
    assert create(desk, url=url).json["data"]["url"] == url


def test_a_kind_that_is_named_twice_counts_once(desk: Desk) -> None:
    made = create(desk, event_filters=["channel.closed", "message.created", "channel.closed"]).json["data"]
    assert made["event_filters"] == ["channel.closed", "message.created"]


def test_a_change_changes_only_what_is_sent(desk: Desk) -> None:
    made = create(desk, event_filters=["channel.closed"]).json["data"]
    del made["secret"]
    path = f"/{made['id']}"
    desk.house.clock.advance(1_000_000)
    renamed = request(desk, "PATCH", path, {"name": "Other"}).data
    assert renamed == made | {"name": "Other", "updated_at": at(1)}
    moved = request(desk, "PATCH", path, {"url": "https://other.example.com:8443/x"}).data
    assert moved == renamed | {"url": "https://other.example.com:8443/x"}
    everything = request(desk, "PATCH", path, {"event_filters": []}).data
    assert everything == moved | {"event_filters": []}
    assert desk.get(f"/outbound-webhooks{path}").data == everything
    assert differences(desk) == []


@pytest.mark.parametrize("body", [{}, NEW, {"event_filters": ["channel.closed"]}])
def test_a_change_to_what_is_there_already_changes_nothing(desk: Desk, body: dict[str, object]) -> None:
    made = create(desk, event_filters=["channel.closed"]).json["data"]
    del made["secret"]
    desk.house.clock.advance(1_000_000)
    assert request(desk, "PATCH", f"/{made['id']}", body).data == made


def test_a_deleted_webhook_is_gone_and_what_is_queued_for_it_leads_nowhere(desk: Desk) -> None:
    id = add_webhook(desk)
    add_delivery(desk, id)
    answer = request(desk, "DELETE", f"/{id}")
    assert (answer.status, answer.body) == (204, b"")
    assert desk.get("/outbound-webhooks").data == []
    for method, path in EACH_OF_ONE:
        assert request(desk, method, path.format(id=id), {}).failure == (404, "NOT_FOUND")


EACH_OF_ONE = [
    ("GET", "/{id}"),
    ("PATCH", "/{id}"),
    ("DELETE", "/{id}"),
    ("POST", "/{id}/regenerate-secret"),
    ("POST", "/{id}/toggle"),
    ("GET", "/{id}/delivery-logs"),
]


@pytest.mark.parametrize(("method", "path"), EACH_OF_ONE)
def test_a_webhook_of_another_workspace_is_as_if_it_did_not_exist(
    desk: Desk, other_desk: Desk, method: str, path: str
) -> None:
    id = add_webhook(other_desk)
    before = kept_webhook(other_desk, id)
    for named in (id, new_id(), "x", "1"):
        assert request(desk, method, path.format(id=named), {}).failure == (404, "NOT_FOUND")
    assert kept_webhook(other_desk, id) == before


@pytest.mark.parametrize(("method", "path"), [*EACH_OF_ONE, ("GET", ""), ("POST", "")])
def test_each_operation_needs_its_scope_and_no_other(desk: Desk, method: str, path: str) -> None:
    needed, other = "webhooks:read", "webhooks:write"
    if method != "GET":
        needed, other = other, needed
    target = path.format(id=add_webhook(desk))
    body = NEW if path == "" or method == "PATCH" else None
    refused = request(desk, method, target, body, secret=desk.token(other))
    assert refused.failure == (403, "INSUFFICIENT_SCOPE")
    assert request(desk, method, target, body, secret=desk.token(needed)).status in (200, 201, 204)


def test_a_new_secret_takes_the_place_of_the_old_one(desk: Desk) -> None:
    made = create(desk).json["data"]
    answer = request(desk, "POST", f"/{made['id']}/regenerate-secret").data
    assert set(answer) == {"id", "secret"}
    assert answer["id"] == made["id"]
    assert len(answer["secret"]) == 64 and answer["secret"] != made["secret"]
    kept = kept_webhook(desk, made["id"])
    assert desk.house.seal.open(kept.secret, kept.id).decode() == answer["secret"]


def test_secrets_are_sealed_wherever_they_are_kept(desk: Desk) -> None:
    made = create(desk, key="k").json["data"]
    rotated = request(desk, "POST", f"/{made['id']}/regenerate-secret").data
    kept = [*rows(desk, KEPT_SECRETS), *rows(desk, KEPT_ANSWERS)]
    assert len(kept) == 2
    for secret in (made["secret"], rotated["secret"]):
        assert not [value for row in kept for value in row if secret.encode() in bytes(value)]  # type: ignore[arg-type]
        assert not [value for row in kept for value in row if bytes.fromhex(secret) in bytes(value)]  # type: ignore[arg-type]


def test_no_file_of_the_database_holds_a_secret(desk: Desk, engine: str) -> None:
    made = create(desk, key="k").json["data"]
    if engine == "postgres":
        pytest.skip("its files are the server's")
    for file in desk.house.folder.glob("deskwire.db*"):
        assert made["secret"].encode() not in file.read_bytes()


def test_the_same_key_shows_the_same_secret_again(desk: Desk) -> None:
    first, again = create(desk, key="k"), create(desk, key="k")
    assert (first.status, first.body) == (again.status, again.body)
    assert first.status == 201
    assert len(desk.get("/outbound-webhooks").data) == 1
    assert create(desk, key="k", name="Other").failure == (422, "IDEMPOTENCY_MISMATCH")


def test_simultaneous_requests_under_one_key_make_one_webhook(desk: Desk) -> None:
    async def everybody() -> list[Answer]:
        api, header = api_of(desk.house), ("idempotency-key", "k")
        requests = (ask(api, desk.secret, "POST", "/outbound-webhooks", NEW, header) for _ in range(20))
        return await asyncio.gather(*requests)

    answers = desk.house.run(everybody())
    assert len({answer.body for answer in answers if answer.status == 201}) == 1
    assert {answer.status for answer in answers} <= {201, 409}
    assert len(desk.get("/outbound-webhooks").data) == 1


def lookup(*addresses: str) -> Lookup:
    async def look_up(host: str) -> Sequence[Address]:
        return [ip_address(address) for address in addresses]

    return look_up


@pytest.mark.parametrize(
    ("addresses", "reason"),
    [
        (["10.1.2.3"], "a private address"),
        (["93.184.216.34", "127.0.0.1"], "a loopback address"),
        (["2606:2800:220:1::1", "::1"], "a loopback address"),
        (["169.254.169.254"], "a cloud's metadata address"),
    ],
)
def test_a_name_that_leads_to_a_refused_address_is_refused(
    desk: Desk, addresses: list[str], reason: str
) -> None:
    receivers = PublicReceivers((), lookup(*addresses))
    for method, path in (("POST", ""), ("PATCH", f"/{add_webhook(desk)}")):
        answer = request(desk, method, path, NEW, receivers=receivers)
        assert answer.failure == (400, "INVALID_BODY")
        assert answer.fields == {"url": f"must not lead to hooks.example.com, which has {reason}"}


def test_a_name_that_leads_to_public_addresses_is_taken(desk: Desk) -> None:
    receivers = PublicReceivers((), lookup("93.184.216.34", "2606:2800:220:1::1"))
    assert request(desk, "POST", "", NEW, receivers=receivers).status == 201


def test_what_is_allowed_is_not_looked_up(desk: Desk) -> None:
    async def never(host: str) -> Sequence[Address]:
        raise AssertionError(host)

    receivers = PublicReceivers([("127.0.0.1", 9000)], never)
    local = {**NEW, "url": "http://127.0.0.1:9000/in"}
    assert request(desk, "POST", "", local, receivers=receivers).status == 201
    elsewhere = {**NEW, "url": "http://127.0.0.1:9001/in"}
    assert request(desk, "POST", "", elsewhere, receivers=receivers).failure == (400, "INVALID_BODY")


def test_without_a_url_in_it_a_change_looks_nothing_up(desk: Desk) -> None:
    async def never(host: str) -> Sequence[Address]:
        raise AssertionError(host)

    receivers = PublicReceivers((), never)
    assert request(desk, "PATCH", f"/{add_webhook(desk)}", {"name": "x"}, receivers=receivers).status == 200


def test_an_answer_under_a_key_is_given_again_though_the_name_leads_elsewhere_by_now(desk: Desk) -> None:
    first = create(desk, key="k")
    inward = PublicReceivers((), lookup("10.0.0.1"))
    assert request(desk, "POST", "", NEW, "k", receivers=inward).body == first.body
    assert request(desk, "POST", "", NEW, "other", receivers=inward).failure == (400, "INVALID_BODY")


@pytest.mark.parametrize(
    ("status", "failures", "after", "failures_after"),
    [("active", 3, "inactive", 3), ("inactive", 3, "active", 3), ("error", 10, "active", 0)],
)
def test_toggling_goes_from_state_to_state(
    desk: Desk, status: str, failures: int, after: str, failures_after: int
) -> None:
    id = add_webhook(desk, status=status, failure_count=failures)
    shown = request(desk, "POST", f"/{id}/toggle").data
    assert shown == {"id": id, "status": after, "failure_count": failures_after}
    read = desk.get(f"/outbound-webhooks/{id}").data
    assert (read["status"], read["failure_count"]) == (after, failures_after)


@pytest.mark.parametrize("status", ["inactive", "error"])
def test_activating_sends_what_is_held_and_younger_than_24_hours(desk: Desk, status: str) -> None:
    id = add_webhook(desk, status=status)
    now = desk.house.clock.now
    spent = {"cycles": 7, "counts": False, "untried": False, "fence": 4}
    held = add_delivery(desk, id, held=True, due_at=now + 9 * HOUR_US, **spent)
    requeued = add_delivery(desk, id, due_at=now + HOUR_US, **spent)
    abandoned = add_delivery(desk, id, due_at=now, holder=new_id(), **spent)
    young = add_delivery(desk, id, held=True, accepted_at=now - DELIVERY_HORIZON_US + 1)
    old = add_delivery(desk, id, held=True, accepted_at=now - DELIVERY_HORIZON_US, due_at=now + 5)
    sending = add_delivery(desk, id, holder=new_id(), due_at=now + HOUR_US, **spent)
    another = add_delivery(desk, add_webhook(desk, status="error"), held=True, due_at=now + 5)
    untouched = [delivery(desk, one) for one in (old, sending, another)]

    assert request(desk, "POST", f"/{id}/toggle").data["status"] == "active"

    for one in (held, requeued, abandoned):
        assert delivery(desk, one) == (False, now, 0, True, True, None, 5)
    assert delivery(desk, young) == (False, now, 0, True, True, None, 1)
    assert [delivery(desk, one) for one in (old, sending, another)] == untouched


def test_activating_wakes_whoever_delivers(desk: Desk) -> None:
    id = add_webhook(desk, status="inactive")
    bell = desk.house.store.bell
    desk.house.run(bell.wait(0))
    request(desk, "POST", f"/{id}/toggle")
    assert bell._rung.is_set()


def test_deactivating_leaves_what_is_queued_as_it_is(desk: Desk) -> None:
    id = add_webhook(desk)
    event_id = add_delivery(desk, id, cycles=2)
    before = delivery(desk, event_id)
    assert request(desk, "POST", f"/{id}/toggle").data["status"] == "inactive"
    assert delivery(desk, event_id) == before


def test_an_event_that_arises_while_a_webhook_is_activated_is_not_left_held(desk: Desk, engine: str) -> None:
    """It is accepted by a transaction that has seen the webhook in error, and ends after the toggle began."""
    if engine == "sqlite":
        pytest.skip("operations run one after another")
    id, store = add_webhook(desk, status="error"), desk.house.store
    emitted, may_end = asyncio.Event(), asyncio.Event()

    async def arise(tx: Tx) -> None:
        await emit(tx, desk.workspace_id, "contact.created", new_id(), EVENT)
        emitted.set()
        await may_end.wait()

    async def both() -> None:
        arising = asyncio.create_task(store.write(arise))
        await emitted.wait()
        toggling = asyncio.create_task(store.write(lambda tx: toggle_webhook(tx, desk.workspace_id, id)))
        done, _ = await asyncio.wait([toggling], timeout=0.2)
        assert not done
        may_end.set()
        await arising
        await toggling

    desk.house.run(both())
    ((held,),) = rows(desk, HELD)
    assert held is False


def test_an_event_does_not_wait_for_a_delivery_that_is_recorded(desk: Desk, engine: str) -> None:
    if engine == "sqlite":
        pytest.skip("operations run one after another")
    id, store = add_webhook(desk), desk.house.store

    async def record(tx: Tx) -> None:
        await lock_webhook(tx, desk.workspace_id, id)
        async with asyncio.timeout(10):
            await store.write(
                lambda other: emit(other, desk.workspace_id, "contact.created", new_id(), EVENT)
            )

    desk.house.run(store.write(record))
    assert len(rows(desk, HELD)) == 1
