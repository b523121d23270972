"""Merging two contacts: what moves, what is seen afterwards, and what fails without a trace."""

import msgspec
import pytest
from sqlalchemy import bindparam, select

from deskwire.desk.checking import check
from deskwire.desk.contact_changes import set_sms_consent
from deskwire.desk.merging import Merged, merge_contacts
from deskwire.model.errors import DeskError
from deskwire.model.lines import BadLine, decode_line
from deskwire.store.statement import Statement
from deskwire.store.tables import CHANNELS, EVENTS, SMS_CONSENTS
from tests.api.desk import Desk, House
from tests.api.records import new_id

CONSENTS = Statement(
    select(SMS_CONSENTS.c.contact_id, SMS_CONSENTS.c.reason).where(
        SMS_CONSENTS.c.workspace_id == bindparam("workspace_id")
    )
)
EVENT_BODIES = Statement(select(EVENTS.c.body).where(EVENTS.c.workspace_id == bindparam("workspace_id")))
VERSIONS = Statement(select(CHANNELS.c.version).where(CHANNELS.c.workspace_id == bindparam("workspace_id")))


@pytest.fixture
def desk(own_house: House) -> Desk:
    return own_house.open_desk()


def merge(desk: Desk, keep: str, gone: str) -> Merged:
    return desk.house.run(
        desk.house.store.write(lambda tx: merge_contacts(tx, desk.workspace_id, keep, gone))
    )


def refused(desk: Desk, keep: str, gone: str) -> str:
    before = desk.get("/contacts").data
    with pytest.raises(DeskError) as failure:
        merge(desk, keep, gone)
    assert desk.get("/contacts").data == before
    assert events(desk) == []
    return failure.value.code


def rows(desk: Desk, statement: Statement) -> list[tuple[object, ...]]:
    found = desk.house.run(
        desk.house.store.read(lambda tx: tx.all(statement, workspace_id=desk.workspace_id))
    )
    return [tuple(row) for row in found]


def events(desk: Desk) -> list[dict[str, object]]:
    return [msgspec.json.decode(row[0]) for row in rows(desk, EVENT_BODIES) if isinstance(row[0], bytes)]


def differences(desk: Desk) -> list[str]:
    async def found() -> list[str]:
        return [line async for line in check(desk.house.store, lambda done, total: None)]

    return desk.house.run(found())


def consent(desk: Desk, contact_id: str, reason: str) -> None:
    token = desk.issue("contacts:write").token
    desk.house.run(desk.house.store.write(lambda tx: set_sms_consent(tx, token, contact_id, False, reason)))


def usage(desk: Desk) -> dict[str, int]:
    return {tag["name"]: tag["usage_count"] for tag in desk.get("/contact-tags").data}


def test_all_that_one_had_goes_to_the_other(desk: Desk) -> None:
    keep = desk.add("contact", external_id="k", name="Kim", tags=["vip", "new"])
    gone = desk.add(
        "contact", external_id="g", former_external_ids=["old"], email="g@example.com", tags=["new", "trade"]
    )
    channel = desk.add("channel", contact_id=gone)
    desk.add("channel", contact_id=gone, deleted=True)
    call = desk.add("voice_call", contact_id=gone, channel_id=channel)
    assert merge(desk, keep, gone) == Merged(channels=2, voice_calls=1, external_ids=2, tags=1)
    contact = desk.get(f"/contacts/{keep}").data
    assert contact["tags"] == ["vip", "new", "trade"]
    assert (contact["external_id"], contact["display_name"]) == ("k", "Kim")
    assert "email" not in contact
    assert usage(desk) == {"vip": 1, "new": 1, "trade": 1}
    for external_id in ("k", "g", "old"):
        assert desk.get("/contacts", {"external_id": external_id}).ids == [keep]
    assert desk.get(f"/channels/{channel}").data["contact_id"] == keep
    (shown,) = desk.get("/voice/calls").data
    assert (shown["id"], shown["contact_id"]) == (call, keep)
    assert sorted(rows(desk, VERSIONS)) == [(2,), (2,)]
    assert differences(desk) == []


def test_what_is_gone_is_seen_nowhere(desk: Desk) -> None:
    keep, gone = desk.add("contact", name="Kim"), desk.add("contact", name="Gonzo", external_id="g")
    merge(desk, keep, gone)
    assert desk.get(f"/contacts/{gone}").failure == (404, "NOT_FOUND")
    assert desk.get(f"/contacts/{gone}/tags").failure == (404, "NOT_FOUND")
    assert desk.get("/contacts").ids == [keep]
    assert desk.get("/contacts", {"q": "onz"}).ids == []
    assert desk.get(f"/contacts/{keep}").data["external_id"] == "g"


def test_a_merge_tells_of_the_one_that_stays(desk: Desk) -> None:
    keep, gone = desk.add("contact", name="Kim"), desk.add("contact")
    merge(desk, keep, gone)
    (event,) = events(desk)
    assert event["kind"] == "contact.updated"
    assert event["data"] == {"contact_id": keep, "contact": desk.get(f"/contacts/{keep}").data}


def test_a_consent_goes_to_the_one_that_has_none(desk: Desk) -> None:
    keep, gone = desk.add("contact"), desk.add("contact")
    consent(desk, gone, "of the other")
    merge(desk, keep, gone)
    assert rows(desk, CONSENTS) == [(keep, "of the other")]


def test_the_consent_of_the_one_that_stays_counts(desk: Desk) -> None:
    keep, gone = desk.add("contact"), desk.add("contact")
    consent(desk, keep, "its own")
    consent(desk, gone, "of the other")
    merge(desk, keep, gone)
    assert rows(desk, CONSENTS) == [(keep, "its own")]


def test_together_they_have_at_most_100_tags(desk: Desk) -> None:
    keep = desk.add("contact", tags=[f"k{n}" for n in range(60)])
    gone = desk.add("contact", tags=[f"k{n}" for n in range(20)] + [f"g{n}" for n in range(41)])
    assert refused(desk, keep, gone) == "TAG_LIMIT_EXCEEDED"
    assert differences(desk) == []
    nearly = desk.add("contact", tags=[f"k{n}" for n in range(20)] + [f"g{n}" for n in range(40)])
    merge(desk, keep, nearly)
    assert len(desk.get(f"/contacts/{keep}").data["tags"]) == 100
    assert differences(desk) == []


def test_what_cannot_be_merged_fails_and_leaves_no_trace(desk: Desk) -> None:
    one, foreign = desk.add("contact"), desk.house.open_desk().add("contact")
    assert refused(desk, one, one) == "CONFLICT"
    for unknown in (new_id(), foreign):
        assert refused(desk, one, unknown) == "NOT_FOUND"
        assert refused(desk, unknown, one) == "NOT_FOUND"


def test_what_was_merged_before_is_merged_no_more(desk: Desk) -> None:
    one, gone, other = desk.add("contact"), desk.add("contact"), desk.add("contact")
    merge(desk, one, gone)
    for keep, merged in ((other, gone), (gone, other)):
        with pytest.raises(DeskError, match=f"{gone} was merged into {one}"):
            merge(desk, keep, merged)


def test_a_merge_follows_a_merge(desk: Desk) -> None:
    first, second, third = (desk.add("contact", external_id=name) for name in "abc")
    merge(desk, second, third)
    merge(desk, first, second)
    for external_id in "abc":
        assert desk.get("/contacts", {"external_id": external_id}).ids == [first]
    assert differences(desk) == []


def test_no_line_of_a_file_merges() -> None:
    line = {
        "kind": "contact",
        "id": new_id(),
        "created_at": "2026-01-01T00:00:00Z",
        "merged_into": new_id(),
    }
    with pytest.raises(BadLine, match="merged_into: is no field of this kind"):
        decode_line(msgspec.json.encode(line))
