"""After every kind of write the whole database is as it should be."""

from deskwire.desk.checking import check
from tests.api.asking import api_of, ask
from tests.api.desk import House


def test_nothing_differs_after_every_kind_of_write(own_house: House) -> None:
    desk = own_house.open_desk()
    contact, channel = desk.add("contact", tags=["old"]), desk.add("channel", tags=["old"])
    app, acting = api_of(own_house), {"actor_member_id": desk.owner_id}
    writes: list[tuple[str, str, object]] = [
        ("POST", "/contacts", {"external_id": "a", "email": "kim@example.com", "name": "Kim"}),
        ("PATCH", f"/contacts/{contact}", {"name": "Lou", "phone": "123"}),
        ("POST", f"/contacts/{contact}/tags", {"tags": ["new", "old"]}),
        ("DELETE", f"/contacts/{contact}/tags?name=old", None),
        ("PUT", f"/contacts/{contact}/sms-consent", {"opted_in": False, "reason": "STOP"}),
        ("POST", f"/channels/{channel}/messages", {"content_type": "text", "content": "Hello"}),
        ("POST", f"/channels/{channel}/read", acting),
        ("POST", f"/channels/{channel}/assign", acting | {"member_id": desk.owner_id}),
        ("POST", f"/channels/{channel}/close", acting),
        ("POST", f"/channels/{channel}/reopen", acting),
        ("POST", f"/channels/{channel}/tags", acting | {"tags": ["new"]}),
        ("DELETE", f"/channels/{channel}/tags?actor_member_id={desk.owner_id}&name=old", None),
    ]
    for method, path, body in writes:
        answer = own_house.run(ask(app, desk.secret, method, path, body))
        assert answer.status in (200, 201, 204), answer.body

    async def differences() -> list[str]:
        return [line async for line in check(own_house.store, lambda done, total: None)]

    assert own_house.run(differences()) == []
