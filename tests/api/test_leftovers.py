"""What is refused leaves nothing that waits for the garbage collector, which a server runs seldom."""

import gc
from typing import Any

import pytest

from deskwire.api.app import Request
from deskwire.desk.identity import new_id
from tests.api.asking import api_of, ask
from tests.api.desk import Desk

NOBODY = new_id()
REFUSED: dict[str, tuple[str, str, object, str]] = {
    "unknown token": ("GET", "/workspace", None, "INVALID_TOKEN"),
    "unknown path": ("GET", "/nowhere", None, "NOT_FOUND"),
    "unknown method": ("PUT", "/workspace", {}, "METHOD_NOT_ALLOWED"),
    "bad query": ("GET", "/channels?limit=0", None, "INVALID_QUERY"),
    "bad body": ("POST", "/contacts", {"name": 7}, "INVALID_BODY"),
    "no JSON": ("POST", "/contacts", b"{", "INVALID_BODY"),
    "read of nothing": ("GET", f"/contacts/{NOBODY}", None, "NOT_FOUND"),
    "read aside of nothing": ("GET", f"/contacts/{NOBODY}/tags", None, "NOT_FOUND"),
    "write to nothing": ("PATCH", f"/contacts/{NOBODY}", {"name": "Kim"}, "NOT_FOUND"),
    "conflict": ("POST", "/contacts", {"external_id": "taken"}, "CONFLICT"),
    "refused URL": ("POST", "/outbound-webhooks", {"name": "a", "url": "https://localhost/"}, "INVALID_BODY"),
}


@pytest.mark.parametrize("with_key", [False, True], ids=["", "with a key"])
@pytest.mark.parametrize(("method", "path", "body", "code"), REFUSED.values(), ids=REFUSED)
def test_nothing_of_what_is_refused_is_left(
    desk: Desk, method: str, path: str, body: object, code: str, with_key: bool
) -> None:
    secret = "dwp_unknown" if code == "INVALID_TOKEN" else desk.secret
    headers = [("idempotency-key", "k")] if with_key else []
    api = api_of(desk.house)
    desk.house.run(ask(api, desk.secret, "POST", "/contacts", {"external_id": "taken"}))

    def left() -> list[Any]:
        return [each for each in gc.get_objects() if type(each) is Request]

    gc.collect()
    gc.disable()
    try:
        answer = desk.house.run(ask(api, secret, method, path, body, *headers))
        assert answer.failure[1] == code
        assert left() == []
    finally:
        gc.enable()
