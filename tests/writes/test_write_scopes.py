"""Scopes of the writes: each needs its own and no other, and none lets its holder read."""

import pytest

from deskwire.api.endpoint import Endpoint
from deskwire.api.table import READS
from deskwire.api.writes import WRITES
from deskwire.model.scopes import SCOPES
from tests.api.client import Answer
from tests.api.records import new_id
from tests.writes.writer import Writer

# From the specification's table, not from the code.
NEEDED = {
    "POST /contacts": "contacts:write",
    "PATCH /contacts/{id}": "contacts:write",
    "POST /contacts/{id}/tags": "contacts:write",
    "DELETE /contacts/{id}/tags": "contacts:write",
    "PUT /contacts/{id}/sms-consent": "contacts:write",
    "POST /channels/{id}/messages": "messages:write",
    "POST /channels/{id}/read": "channels:write",
    "POST /channels/{id}/close": "channels:write",
    "POST /channels/{id}/reopen": "channels:write",
    "POST /channels/{id}/assign": "channels:write",
    "POST /channels/{id}/tags": "channels:write",
    "DELETE /channels/{id}/tags": "channels:write",
}
each_write = pytest.mark.parametrize("write", NEEDED)


def attempt(writer: Writer, write: str, token: str) -> Answer:
    method, path = write.split()
    return writer(method, path.format(id=new_id()), token=token)


def test_every_write_of_contacts_and_channels_is_here() -> None:
    there = {f"{each.method} {each.path}" for each in WRITES}
    assert {write for write in there if write.split()[1].startswith(("/contacts", "/channels"))} == set(
        NEEDED
    )


@each_write
def test_every_other_scope_together_is_not_enough(writer: Writer, write: str) -> None:
    token = writer.desk.token(*(scope for scope in SCOPES if scope != NEEDED[write]))
    answer = attempt(writer, write, token)
    assert answer.failure == (403, "INSUFFICIENT_SCOPE")
    assert NEEDED[write] in answer.json["error"]["message"]


@each_write
def test_its_scope_alone_is_enough(writer: Writer, write: str) -> None:
    # Past the scopes, the request is refused for what else it lacks.
    answer = attempt(writer, write, writer.desk.token(NEEDED[write]))
    assert answer.status in (400, 404), answer.body


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
def test_no_write_scope_lets_read(writer: Writer, endpoint: Endpoint) -> None:
    token = writer.desk.token(*(scope for scope in SCOPES if scope.endswith(":write")))
    answer = writer.desk.get(endpoint.path.format(id=new_id()), token=token)
    if endpoint.path == "/workspace":
        assert answer.status == 200
    else:
        assert answer.failure == (403, "INSUFFICIENT_SCOPE")


def test_a_writer_who_may_not_read_is_answered_in_full(writer: Writer) -> None:
    token = writer.desk.token("contacts:write")
    made = writer("POST", "/contacts", {"name": "Ann"}, token=token)
    assert (made.status, made.json["data"]["display_name"]) == (201, "Ann")
    assert writer.desk.get("/contacts", token=token).status == 403
