"""Every list that has pages: how a row gets into it, and what it then has to show."""

from collections.abc import Sequence

from deskwire.api.endpoint import Endpoint
from tests.api.client import Answer
from tests.api.desk import Desk
from tests.api.records import JsonRecord, at, record

KINDS = {
    "/members": "member",
    "/teams": "team",
    "/teams/{id}/members": "member",
    "/contacts": "contact",
    "/contact-tags": "contact_tag",
    "/channel-tags": "channel_tag",
    "/channels": "channel",
    "/channels/{id}/messages": "message",
    "/macros": "macro",
    "/integrations": "integration",
    "/inbound-webhook-configs": "integration",
    "/campaigns": "campaign",
    "/tasks": "task",
    "/voice/calls": "voice_call",
}
PARENTS = {"/teams/{id}/members": "team", "/channels/{id}/messages": "channel"}


class Listed:
    """A list, and the records that were put into it."""

    def __init__(self, desk: Desk, endpoint: Endpoint) -> None:
        self._desk = desk
        self._endpoint = endpoint
        self._kind = KINDS[endpoint.path]
        self._records: dict[str, JsonRecord] = {}
        parent = PARENTS.get(endpoint.path)
        self._parent = record(parent) if parent else None
        self.parent_id = str(self._parent["id"]) if self._parent else ""
        if self._parent:
            desk.put(self._parent)
        if endpoint.path == "/members":
            desk.put(record("member", id=desk.owner_id, role="owner", active=False))

    def put(self, times: Sequence[str]) -> list[str]:
        """Puts a record of each of these creation times."""
        more: JsonRecord = {"channel_id": self.parent_id} if self._kind == "message" else {}
        made = [record(self._kind, **more, created_at=time) for time in times]
        self._records |= {str(each["id"]): each for each in made}
        self._desk.put(*made)
        if self._endpoint.path == "/teams/{id}/members" and self._parent:
            self._desk.put({**self._parent, "member_ids": list(self._records)})
        return [str(each["id"]) for each in made]

    def change(self, ids: Sequence[str]) -> None:
        self._desk.put(*({**self._records[id], "updated_at": at(-1)} for id in ids))

    def expected(self) -> list[str]:
        """The ids in the order in which the specification lists them."""
        return sorted(self._records, key=lambda id: (str(self._records[id]["created_at"]), id), reverse=True)

    def page(self, **query: object) -> Answer:
        if self._kind == "message":
            query = {"since": at(-29 * 24 * 3600), "until": at(0), **query}
        return self._desk.get(self._endpoint.path.replace("{id}", self.parent_id), query)


def some(desk: Desk, endpoint: Endpoint, number: int) -> Listed:
    """A list of so many rows."""
    listed = Listed(desk, endpoint)
    listed.put([at(-1000 + place) for place in range(number)])
    return listed
