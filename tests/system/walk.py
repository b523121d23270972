"""Every GET of the API, asked of a running desk: every list to its end, every record, every file."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

from tests.system.operators import PREFIX, Answer, Client

LISTS = (
    *("/members", "/teams", "/contacts", "/contact-tags", "/channel-tags", "/channels", "/macros"),
    *("/integrations", "/inbound-webhook-configs", "/campaigns", "/tasks", "/voice/calls", "/ai-agents"),
)
PLAIN = ("/workspace", "/hours", "/workflows")
SEARCHES = (
    "bike",
    "자전거",
    "注文",
    "Rechnung",
    "merci",
    "a e",
    "brake repair",
    "%",
    "no such word anywhere",
)
CONTACT_PARTS = ("ann", "KIM", "@example", "+82", "_", "김")
WINDOW = timedelta(days=30)
# Of what is answered only this differs from desk to desk and from moment to moment.
FLEETING = re.compile(rb'"(url|url_expires_at|next_cursor)":"[^"]*"')


class Walk:
    """What was answered, by what was asked; a list's pages stand under its path and their numbers.

    A brisk walk reads the messages of each channel, and one in ten of them by itself.
    """

    def __init__(self, client: Client, *, brisk: bool = False) -> None:
        self._client = client
        self._messages = 0
        self._step = 10 if brisk else 1
        self.answers: dict[str, bytes] = {}

    def run(self) -> dict[str, bytes]:
        for path in PLAIN:
            self.read(path)
        found = {path: list(self.pages(path)) for path in LISTS}
        for path in ("/members", "/contacts", "/channels", "/campaigns", "/tasks"):
            for record in found[path]:
                self.read(f"{path}/{record['id']}")
        for team in found["/teams"]:
            list(self.pages(f"/teams/{team['id']}/members"))
        for contact in found["/contacts"]:
            self.read(f"/contacts/{contact['id']}/tags")
        for contact in found["/contacts"][:40]:
            if "external_id" in contact:
                self.read(f"/contacts?external_id={quote(contact['external_id'])}")
        for tag in found["/channel-tags"]:
            list(self.pages(f"/channels?tags={quote(tag['name'])}"))
        for part in CONTACT_PARTS:
            list(self.pages(f"/contacts?q={quote(part)}"))
        for words in SEARCHES:
            self.read(f"/search?q={quote(words)}&limit=100")
        for channel in found["/channels"]:
            self.read_messages(channel)
        return self.answers

    def read_messages(self, channel: dict[str, Any]) -> None:
        last = channel.get("last_message_at")
        if last is None:
            return
        # Imported messages may be older than their channel, so a window more is looked into.
        at, end = datetime.fromisoformat(channel["created_at"]) - WINDOW, datetime.fromisoformat(last)
        while at < end:
            since, until = (each.strftime("%Y-%m-%dT%H:%M:%S.%fZ") for each in (at, at + WINDOW))
            for message in self.pages(f"/channels/{channel['id']}/messages?since={since}&until={until}"):
                self._messages += 1
                if self._messages % self._step == 0:
                    self.read(f"/messages/{message['id']}")
                for attachment in message.get("attachments", ()):
                    self.read_attachment(attachment["id"])
            at += WINDOW

    def read_attachment(self, id: str) -> None:
        link = urlsplit(self.read(f"/attachments/{id}").data["url"])
        file = self._client.get(f"{link.path}?{link.query}", Authorization="")
        assert file.status == 200
        self.answers[f"file {id}"] = file.headers["content-disposition"].encode() + file.body

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        number, cursor = 0, ""
        query = "&" if "?" in path else "?"
        while True:
            answer = self._client.get(f"{PREFIX}{path}{query}limit=100{cursor}")
            yield from answer.data
            self.keep(f"{path} page {number}", answer)
            meta = answer.json["meta"]
            if not meta["has_more"]:
                return
            number, cursor = number + 1, f"&cursor={meta['next_cursor']}"

    def read(self, path: str) -> Answer:
        answer = self._client.api(path)
        assert answer.status == 200, (path, answer)
        self.keep(path, answer)
        return answer

    def keep(self, asked: str, answer: Answer) -> None:
        self.answers[asked] = FLEETING.sub(rb'"\1":""', answer.body)


def differences(all: dict[str, bytes], some: dict[str, bytes]) -> list[str]:
    assert len(some) > len(all) / 3
    return [asked for asked in some if all.get(asked) != some[asked]]
