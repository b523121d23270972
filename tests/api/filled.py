"""A workspace that has one of everything, to read every route of the table in."""

from deskwire.api.endpoint import Endpoint
from deskwire.api.table import READS
from tests.api.client import Answer, QueryText
from tests.api.desk import Desk
from tests.api.records import JsonRecord, at, new_id, record
from tests.api.webhooks import add_logs, add_webhook, log_entry
from tests.engines import NEW_YEAR


def one_of_everything(ids: dict[str, str]) -> list[JsonRecord]:
    return [
        record("member", id=ids["members"]),
        record("team", id=ids["teams"], member_ids=[ids["members"]]),
        record("contact", id=ids["contacts"], name="Ada", tags=["vip"], external_id="crm-1"),
        record("channel", id=ids["channels"], contact_id=ids["contacts"], tags=["urgent"]),
        record("attachment", id=ids["attachments"]),
        record(
            "message",
            id=ids["messages"],
            channel_id=ids["channels"],
            content="hello world",
            attachment_ids=[ids["attachments"]],
        ),
        record("task", id=ids["tasks"]),
        record("campaign", id=ids["campaigns"]),
        record("macro"),
        record("integration"),
        record("workflow"),
        record("ai_agent"),
        record("voice_call", channel_id=ids["channels"], contact_id=ids["contacts"], duration_seconds=1),
        record("business_hours", config={"timezone": "Asia/Seoul"}),
    ]


# What a request must at least say to be answered.
QUERIES: dict[str, QueryText] = {
    "/channels/{id}/messages": {"since": at(-2 * 24 * 3600)},
    "/search": {"q": "hello"},
}


class Filled:
    def __init__(self, desk: Desk, ids: dict[str, str] | None = None) -> None:
        self.desk = desk
        nouns = dict.fromkeys(path.split("/")[1] for path in (e.path for e in READS) if "{id}" in path)
        self.ids = ids or {noun: new_id() for noun in nouns}
        desk.put(*one_of_everything(self.ids))
        webhook_id = add_webhook(desk, id=self.ids["outbound-webhooks"], last_log_id=1)
        add_logs(desk, [log_entry(desk, webhook_id, 1, NEW_YEAR)])

    def path(self, endpoint: Endpoint) -> str:
        return path_with(endpoint, self.ids[endpoint.path.split("/")[1]]) if endpoint.noun else endpoint.path

    def get(self, endpoint: Endpoint, *, token: str | None = None) -> Answer:
        return self.desk.get(self.path(endpoint), query_of(endpoint), token=token)


def path_with(endpoint: Endpoint, id: str) -> str:
    return endpoint.path.replace("{id}", id)


def query_of(endpoint: Endpoint) -> QueryText:
    return QUERIES.get(endpoint.path, "")
