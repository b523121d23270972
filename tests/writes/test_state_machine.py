"""Any sequence of writes, on SQLite, against a plain model in memory that knows every answer."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from deskwire.desk.checking import check
from deskwire.model.times import format_time
from deskwire.store.attachments import Files
from deskwire.store.sqlite import SqliteStore
from tests.api.desk import House
from tests.engines import SetClock
from tests.writes.writer import Json, Writer

TAGS = ["a", "b", "a,b", "ß", "\U0001f600", "%", " "]
NAMES = st.lists(st.sampled_from(TAGS), min_size=1, max_size=5)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
CONTACT = {
    "email": st.sampled_from([" a@example.com ", "B@example.org"]),
    "phone": st.sampled_from(["1", " 22\n"]),
    "name": TEXTS,
}
NOTHING = {name: st.sampled_from([None, ""]) | texts for name, texts in CONTACT.items()}
ROLES = ("owner", "agent", "viewer")


def expected(contact: Json) -> Json:
    shown = {name: contact[name] for name in ("id", "external_id", "email", "phone") if contact.get(name)}
    names = (contact.get(name) for name in ("name", "email", "phone"))
    shown["display_name"] = next((name for name in names if name), "Anonymous")
    return (
        shown | {"is_member": False} | {name: contact[name] for name in ("tags", "created_at", "updated_at")}
    )


class Desk(RuleBasedStateMachine):
    contacts = Bundle("contacts")
    channels = Bundle("channels")

    migrated: Path
    files: Files

    @initialize()
    def open(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "deskwire.db"
        shutil.copy(self.migrated, path)
        self.clock = SetClock()
        self.house = House(
            SqliteStore(path, self.clock), self.files, self.clock, self.runner.run, path.parent
        )
        self.writer = Writer(self.house.open_desk())
        self.members = {"owner": self.writer.owner} | {role: self.writer.member(role) for role in ROLES[1:]}
        self.contact: dict[str, Json] = {}
        self.channel: dict[str, Json] = {}
        self.sent: dict[tuple[str, str], Json] = {}
        self.versions: dict[str, int] = {}
        self.read: dict[tuple[str, str], int] = {}
        self.told: list[str] = []
        self.taken: set[str] = set()
        self.contact_names: set[str] = set()
        self.channel_names: set[str] = set()
        self.messages: dict[str, list[str]] = {}
        self.audited = 0

    @rule(
        target=contacts,
        fields=st.fixed_dictionaries({}, optional=CONTACT),
        external_id=st.sampled_from(["", "e", "f", "g"]),
    )
    def create(self, fields: Json, external_id: str) -> Any:
        body = fields | ({"external_id": external_id} if external_id else {})
        answer = self.writer("POST", "/contacts", body)
        if external_id in self.taken:
            assert answer.failure == (409, "CONFLICT")
            return multiple()
        assert answer.status == 201, answer.body
        made: dict[str, Any] = {**body}
        made |= {name: body[name].strip() for name in ("email", "phone") if name in body}
        id = answer.json["data"]["id"]
        self.contact[id] = {**made, "id": id, "tags": [], "created_at": self.now(), "updated_at": self.now()}
        assert answer.json["data"] == expected(self.contact[id])
        self.taken |= {external_id} - {""}
        self.told.append("contact.created")
        return id

    @rule(id=contacts, changes=st.fixed_dictionaries({}, optional=NOTHING))
    def update(self, id: str, changes: Json) -> None:
        contact = self.contact[id]
        before = dict(contact)
        for name, value in changes.items():
            if value is not None:
                contact[name] = value if name == "name" else value.strip()
        if any((before.get(name) or "") != (contact.get(name) or "") for name in CONTACT):
            contact["updated_at"] = self.now()
            self.told.append("contact.updated")
        assert self.writer.done("PATCH", f"/contacts/{id}", changes) == expected(contact)

    @rule(id=contacts, names=NAMES)
    def tag_contact(self, id: str, names: list[str]) -> None:
        contact = self.contact[id]
        new = [name for name in dict.fromkeys(names) if name not in contact["tags"]]
        if new:
            contact |= {"tags": contact["tags"] + new, "updated_at": self.now()}
            self.contact_names |= set(new)
        assert self.writer.done("POST", f"/contacts/{id}/tags", {"tags": names}) == expected(contact)

    @rule(id=contacts, names=NAMES)
    def untag_contact(self, id: str, names: list[str]) -> None:
        contact = self.contact[id]
        left = [name for name in contact["tags"] if name not in names]
        if left != contact["tags"]:
            contact |= {"tags": left, "updated_at": self.now()}
        assert self.writer.untag_contact(id, *names).data == expected(contact)

    @rule(target=channels, status=st.sampled_from(["open", "snoozed", "closed"]))
    def put_channel(self, status: str) -> str:
        more = {"snoozed_until": self.now()} if status == "snoozed" else {}
        id = self.writer.channel(status=status, created_at=self.now(), **more)
        self.channel[id] = self.writer.see(f"/channels/{id}")
        self.versions[id], self.messages[id] = 1, []
        return id

    @rule(
        id=channels, content=TEXTS, who=st.sampled_from(["", *ROLES]), request=st.sampled_from(["", "r", "s"])
    )
    def reply(self, id: str, content: str, who: str, request: str) -> None:
        body = {"content_type": "text", "content": content}
        body |= {"sender_member_id": self.members[who]} if who else {}
        body |= {"client_request_id": request} if request else {}
        answer = self.writer("POST", f"/channels/{id}/messages", body)
        if request and (id, request) in self.sent:
            assert (answer.status, answer.json["data"]) == (
                200,
                self.sent[id, request] | {"deduplicated": True},
            )
        elif who == "viewer":
            assert answer.failure == (403, "FORBIDDEN")
        else:
            assert answer.status == 201, answer.body
            made = answer.json["data"]
            assert (made["content"], made["channel_id"], made["deduplicated"]) == (content, id, False)
            assert made["sender_type"] == ("member" if who else "integration")
            self.sent[id, request or made["id"]] = made
            self.messages[id].append(made["id"])
            self.channel[id] |= {"message_count": len(self.messages[id]), "last_message_at": self.now()}
            self.told.append("message.created")

    @rule(id=channels, verb=st.sampled_from(["close", "reopen"]), who=st.sampled_from(ROLES))
    def close_or_reopen(self, id: str, verb: str, who: str) -> None:
        channel, wanted = self.channel[id], "closed" if verb == "close" else "open"
        if channel["status"] != wanted:
            was_assigned = "assigned_type" in channel
            channel |= {"status": wanted}
            channel.pop("snoozed_until", None)
            self.told.append("channel.closed" if verb == "close" else "channel.reopened")
            if verb == "close" and was_assigned:
                del channel["assigned_type"], channel["assigned_member_id"]
                self.told.append("channel.assigned")
            self.changed(id)
        assert self.writer.act(id, verb, actor_member_id=self.members[who]).data == channel

    @rule(id=channels, who=st.sampled_from(ROLES), whom=st.sampled_from(["", *ROLES]))
    def assign(self, id: str, who: str, whom: str) -> None:
        channel, member = self.channel[id], self.members.get(whom)
        answer = self.writer.act(id, "assign", actor_member_id=self.members[who], member_id=member)
        if who == "viewer":
            assert answer.failure == (403, "FORBIDDEN")
            return
        if channel.get("assigned_member_id") != member:
            channel.pop("assigned_type", None)
            channel.pop("assigned_member_id", None)
            channel |= {"assigned_type": "human", "assigned_member_id": member} if member else {}
            self.told.append("channel.assigned")
            self.changed(id)
        assert answer.data == channel

    @rule(
        id=channels, names=st.lists(st.sampled_from([*TAGS, *map(str, range(20))]), min_size=1, max_size=12)
    )
    def tag_channel(self, id: str, names: list[str]) -> None:
        channel = self.channel[id]
        new = [name for name in dict.fromkeys(names) if name not in channel["tags"]]
        answer = self.writer.act(id, "tags", tags=names)
        if new and len(channel["tags"]) + len(new) > 20:
            assert answer.failure == (422, "TAG_LIMIT_EXCEEDED")
            return
        if new:
            channel |= {"tags": channel["tags"] + new}
            self.channel_names |= set(new)
            self.audited += 1
            self.changed(id)
        assert answer.data == channel

    @rule(id=channels, names=NAMES)
    def untag_channel(self, id: str, names: list[str]) -> None:
        channel = self.channel[id]
        left = [name for name in channel["tags"] if name not in names]
        if left != channel["tags"]:
            channel |= {"tags": left}
            self.audited += 1
            self.changed(id)
        assert self.writer.untag(id, *names).data == channel

    @rule(id=channels, who=st.sampled_from(ROLES), which=st.integers(0, 9))
    def mark_read(self, id: str, who: str, which: int) -> None:
        messages = self.messages[id]
        more = {"message_id": messages[which]} if which < len(messages) else {}
        assert self.writer.act(id, "read", actor_member_id=self.members[who], **more).status == 204
        if messages:
            reached = which if more else len(messages) - 1
            self.read[id, who] = max(reached, self.read.get((id, who), 0))

    @rule(us=st.integers(1, 5_000_000))
    def wait(self, us: int) -> None:
        self.clock.advance(us)

    @invariant()
    def the_last_event_is_the_one_expected(self) -> None:
        if self.told:
            assert self.writer.kinds == self.told

    def teardown(self) -> None:
        if not hasattr(self, "house"):
            return
        try:
            self.compare()
        finally:
            self.house.run(self.house.store.close())
            self.runner.close()
            self.folder.cleanup()

    def compare(self) -> None:
        for id, contact in self.contact.items():
            assert self.writer.see(f"/contacts/{id}") == expected(contact)
        for id, channel in self.channel.items():
            assert self.writer.see(f"/channels/{id}") == channel
            positions = {
                self.members[who]: self.messages[id][n] for (of, who), n in self.read.items() if of == id
            }
            assert self.writer.positions(id) == positions
        for message in self.sent.values():
            kept = {
                name: message[name] for name in message if name not in ("client_request_id", "deduplicated")
            }
            assert self.writer.see(f"/messages/{message['id']}") == kept
        usage = dict.fromkeys(self.contact_names, 0)
        for contact in self.contact.values():
            usage |= {name: usage[name] + 1 for name in contact["tags"]}
        assert {tag["name"]: tag["usage_count"] for tag in self.writer.see("/contact-tags")} == usage
        assert {tag["name"] for tag in self.writer.see("/channel-tags")} == self.channel_names
        assert len(self.writer.audit) == self.audited
        numbers: dict[str, list[int]] = {}
        versions: dict[str, int] = {}
        for event in self.writer.events:
            if event["kind"] == "message.created":
                numbers.setdefault(event["channel"]["id"], []).append(event["data"]["seq"])
            elif "channel" in event:
                versions[event["channel"]["id"]] = event["data"]["version"]
        for id, seqs in numbers.items():
            assert seqs == list(range(1, len(self.messages[id]) + 1))
        for id, version in versions.items():
            assert version <= self.versions[id]
        assert self.house.run(self.look()) == []

    async def look(self) -> list[str]:
        return [line async for line in check(self.house.store, lambda done, total: None)]

    def changed(self, id: str) -> None:
        self.channel[id]["updated_at"] = self.now()
        self.versions[id] += 1

    def now(self) -> str:
        return format_time(self.clock.now)


@pytest.fixture
def machine(migrated_sqlite: Path, files: Files) -> type[Desk]:
    Desk.migrated, Desk.files = migrated_sqlite, files
    return Desk


def run_machine(machine: type[Desk], examples: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )


def test_any_sequence_of_writes_does_what_the_model_says(machine: type[Desk]) -> None:
    run_machine(machine, 20, 40)


@pytest.mark.stress
def test_many_long_sequences_of_writes_do_what_the_model_says(machine: type[Desk]) -> None:
    run_machine(machine, 500, 100)
