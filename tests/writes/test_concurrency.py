"""50 clients at once: what one of them may do, one of them does."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import pytest

from deskwire.desk.checking import check
from deskwire.model.limits import CHANNEL_TAGS, CONTACT_TAGS
from deskwire.model.moments import Moment
from tests.api.client import Answer
from tests.engines import SetClock
from tests.writes.writer import Json, Writer

CLIENTS = 50
Requests = Iterable[tuple[str, str, Json | None]]


@pytest.fixture
def channel(writer: Writer) -> str:
    return writer.channel()


@pytest.fixture(autouse=True)
def sound(writer: Writer) -> Iterable[None]:
    """Whatever was done, the database is right afterwards."""
    yield

    async def look() -> list[str]:
        lines = [line async for line in check(writer.house.store, lambda done, total: None)]
        # Other tests of the session put messages beside the numbers.
        return [line for line in lines if "have no number" not in line]

    assert writer.house.run(look()) == []


def at_once(writer: Writer, requests: Requests) -> list[Answer]:
    async def gather() -> list[Answer]:
        return list(await asyncio.gather(*(writer.write(*request) for request in requests)))

    answers = writer.house.run(gather())
    assert not [answer.body for answer in answers if answer.status >= 500]
    return answers


def reply(channel: str, number: int, **more: object) -> tuple[str, str, Json]:
    body = {"content_type": "text", "content": f"Reply {number}", **more}
    return "POST", f"/channels/{channel}/messages", body


def test_one_of_50_gets_an_external_id(writer: Writer) -> None:
    answers = at_once(
        writer, [("POST", "/contacts", {"external_id": "e", "name": f"n{n}"}) for n in range(CLIENTS)]
    )
    assert Counter(answer.status for answer in answers) == {201: 1, 409: CLIENTS - 1}
    (made,) = [answer.json["data"] for answer in answers if answer.status == 201]
    assert writer.see("/contacts") == [made]
    assert writer.kinds == ["contact.created"]


def test_of_50_sends_under_one_id_one_makes_a_message(writer: Writer, channel: str) -> None:
    answers = at_once(writer, [reply(channel, n, client_request_id="r") for n in range(CLIENTS)])
    assert Counter(answer.status for answer in answers) == {201: 1, 200: CLIENTS - 1}
    (first,) = [answer.json["data"] for answer in answers if answer.status == 201]
    for answer in answers:
        assert {**answer.json["data"], "deduplicated": False} == first
    assert writer.see(f"/channels/{channel}")["message_count"] == 1
    assert [event["data"]["seq"] for event in writer.events] == [1]


def test_50_replies_are_numbered_without_a_gap(writer: Writer, channel: str) -> None:
    other = writer.channel()
    bad = ("POST", f"/channels/{channel}/messages", {"content_type": "text", "content": ""})
    requests: list[tuple[str, str, Json | None]] = []
    for number in range(CLIENTS):
        requests += [reply(channel, number), bad] if number % 2 else [reply(other, number)]
    at_once(writer, requests)
    seqs: dict[str, list[int]] = {channel: [], other: []}
    for event in writer.events:
        seqs[event["channel"]["id"]].append(event["data"]["seq"])
        assert event["channel"]["message_count"] == event["data"]["seq"]
    assert sorted(seqs[channel]) == sorted(seqs[other]) == list(range(1, CLIENTS // 2 + 1))
    for place in (channel, other):
        assert writer.see(f"/channels/{place}")["message_count"] == CLIENTS // 2


def test_what_happens_to_a_channel_has_moments_of_its_own_in_order(
    writer: Writer, channel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tick(clock: SetClock) -> Moment:
        clock.advance(1)
        return clock.now

    monkeypatch.setattr(SetClock, "__call__", tick)
    members = [writer.member(), writer.member()]
    assignments: Requests = [
        ("POST", f"/channels/{channel}/assign", {"actor_member_id": writer.owner, "member_id": member})
        for member in members * (CLIENTS // 2)
    ]
    at_once(writer, [each for n, one in enumerate(assignments) for each in (reply(channel, n), one)])
    for kind, number in (("message.created", "seq"), ("channel.assigned", "version")):
        of_kind = [event for event in writer.events if event["kind"] == kind]
        moments = [event["timestamp"] for event in sorted(of_kind, key=lambda event: event["data"][number])]
        assert len(moments) > 1
        assert all(one < next_one for one, next_one in pairwise(moments))


def test_new_names_in_any_order_meet_without_a_deadlock(writer: Writer) -> None:
    contacts = [writer.contact()["id"] for _ in range(CLIENTS)]
    writer.done("POST", f"/contacts/{contacts[0]}/tags", {"tags": ["k", "q"]})
    alphabet = [chr(97 + number) for number in range(20)]
    requests: list[tuple[str, str, Json | None]] = []
    for number, contact in enumerate(contacts):
        turned = alphabet[number % 20 :] + alphabet[: number % 20]
        requests.append(("POST", f"/contacts/{contact}/tags", {"tags": turned[:: -1 if number % 2 else 1]}))
    answers = at_once(writer, requests)
    assert {answer.status for answer in answers} == {200}
    assert {(tag["name"], tag["usage_count"]) for tag in writer.see("/contact-tags")} == {
        (name, CLIENTS) for name in alphabet
    }


def test_adding_and_removing_keep_the_usage_right(writer: Writer) -> None:
    contacts = [writer.contact()["id"] for _ in range(10)]
    requests: list[tuple[str, str, Json | None]] = []
    for number in range(CLIENTS):
        path = f"/contacts/{contacts[number % 10]}/tags"
        names = ["a", "b", f"own{number}"]
        requests.append(("POST", path, {"tags": names[:: -1 if number % 3 else 1]}))
        requests.append(("DELETE", f"{path}?name=b&name=a", None))
    at_once(writer, requests)
    carried = Counter(name for contact in contacts for name in writer.see(f"/contacts/{contact}/tags"))
    assert {tag["name"]: tag["usage_count"] for tag in writer.see("/contact-tags", "limit=100")} == {
        "a": carried["a"],
        "b": carried["b"],
        **{f"own{number}": 1 for number in range(CLIENTS)},
    }


def test_new_names_for_channels_meet_without_a_deadlock(writer: Writer) -> None:
    channels = [writer.channel() for _ in range(CLIENTS)]
    writer.act(channels[0], "tags", tags=["k", "q"])
    alphabet = [chr(97 + number) for number in range(20)]
    requests: list[tuple[str, str, Json | None]] = []
    for number, channel in enumerate(channels):
        turned = alphabet[number % 20 :] + alphabet[: number % 20]
        body = {"actor_member_id": writer.owner, "tags": turned[:: -1 if number % 2 else 1]}
        requests.append(("POST", f"/channels/{channel}/tags", body))
    assert {answer.status for answer in at_once(writer, requests)} == {200}
    assert {tag["name"] for tag in writer.see("/channel-tags")} == set(alphabet)


def test_no_more_than_the_limit_get_onto_a_channel(writer: Writer, channel: str) -> None:
    requests = [
        ("POST", f"/channels/{channel}/tags", {"actor_member_id": writer.owner, "tags": [f"t{number}"]})
        for number in range(CLIENTS)
    ]
    answers = at_once(writer, requests)
    assert Counter(answer.status for answer in answers) == {200: CHANNEL_TAGS, 422: CLIENTS - CHANNEL_TAGS}
    shown = writer.see(f"/channels/{channel}")["tags"]
    assert len(set(shown)) == CHANNEL_TAGS
    assert {tag["name"] for tag in writer.see("/channel-tags")} == set(shown)
    assert len(writer.audit) == CHANNEL_TAGS


def test_no_more_than_the_limit_get_onto_a_contact(writer: Writer) -> None:
    contact = writer.contact()["id"]
    path = f"/contacts/{contact}/tags"
    requests = [("POST", path, {"tags": [f"t{number}-{n}" for n in range(7)]}) for number in range(CLIENTS)]
    answers = at_once(writer, requests)
    assert Counter(answer.status for answer in answers) == {200: CONTACT_TAGS // 7, 422: CLIENTS - 14}
    assert len(writer.see(path)) == CONTACT_TAGS // 7 * 7


def story(writer: Writer, channel: str) -> list[Json]:
    """The channel's events in the order of its versions, the first of a change first."""
    return sorted(
        (event for event in writer.events if event["channel"]["id"] == channel),
        key=lambda event: event["data"]["version"],
    )


def test_close_against_reopen_makes_one_story(writer: Writer, channel: str) -> None:
    verbs = ["close" if number % 2 else "reopen" for number in range(CLIENTS)]
    body = {"actor_member_id": writer.owner}
    answers = at_once(writer, [("POST", f"/channels/{channel}/{verb}", body) for verb in verbs])
    for verb, answer in zip(verbs, answers, strict=True):
        assert answer.json["data"]["status"] == ("closed" if verb == "close" else "open")
    told = story(writer, channel)
    assert [event["data"]["version"] for event in told] == list(range(2, len(told) + 2))
    for earlier, later in pairwise(told):
        assert earlier["kind"] != later["kind"]
    assert told[0]["kind"] == "channel.closed"
    assert told[-1]["channel"] == writer.see(f"/channels/{channel}")


def test_assign_against_close_makes_one_story(writer: Writer, channel: str) -> None:
    members = [writer.member() for _ in range(5)]
    requests: list[tuple[str, str, Json | None]] = []
    for number in range(CLIENTS):
        verb = ("assign", "close", "reopen", "assign")[number % 4]
        body: Json = {"actor_member_id": writer.owner}
        if verb == "assign":
            body["member_id"] = members[number % 5]
        requests.append(("POST", f"/channels/{channel}/{verb}", body))
    at_once(writer, requests)
    told = story(writer, channel)
    assigned, versions = False, set()
    for event in told:
        if event["kind"] == "channel.closed":
            assert "assigned_member_id" not in event["channel"] and event["assigned_member"] is None
            was_assigned = assigned
            assigned = False
            companions = [
                each["kind"] for each in told if each["data"]["version"] == event["data"]["version"]
            ]
            assert companions == ["channel.closed", "channel.assigned"][: 1 + was_assigned]
        elif event["kind"] == "channel.assigned":
            assigned = event["assigned_member"] is not None
            assert assigned == ("assigned_member_id" in event["channel"])
        versions.add(event["data"]["version"])
    assert versions == set(range(2, len(versions) + 2))
    last = writer.see(f"/channels/{channel}")
    assert told[-1]["channel"] == last


def test_a_reading_position_ends_at_the_latest(writer: Writer, channel: str) -> None:
    ids = []
    for number in range(10):
        writer.house.clock.advance(1)
        ids.append(writer.reply(channel, f"{number}")["id"])
    path, actor = f"/channels/{channel}/read", writer.owner
    at_once(
        writer,
        [("POST", path, {"actor_member_id": actor, "message_id": ids[n * 7 % 10]}) for n in range(CLIENTS)],
    )
    assert writer.positions(channel) == {actor: ids[-1]}


def test_changes_of_one_contact_are_not_lost(writer: Writer) -> None:
    contact = writer.contact()["id"]
    requests: list[tuple[str, str, Json | None]] = []
    for number in range(CLIENTS // 2):
        requests.append(("PATCH", f"/contacts/{contact}", {"name": f"n{number}"}))
        requests.append(("POST", f"/contacts/{contact}/tags", {"tags": [f"t{number}"]}))
    at_once(writer, requests)
    shown = writer.see(f"/contacts/{contact}")
    assert set(shown["tags"]) == {f"t{number}" for number in range(CLIENTS // 2)}
    assert shown["display_name"].startswith("n")
    assert writer.see("/contacts", f"q={shown['display_name']}") == [shown]
