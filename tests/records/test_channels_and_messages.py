"""What an import derives for channels and messages: counts, numbers, versions, search, references shown."""

from sqlalchemy import bindparam, select

from deskwire.desk.search import search
from deskwire.store.statement import Statement
from deskwire.store.tables import MESSAGES
from tests.records.desk import Desk, channel, message, record, uid

NUMBERS = Statement(
    select(MESSAGES.c.id, MESSAGES.c.seq)
    .where(MESSAGES.c.workspace_id == bindparam("workspace_id"))
    .order_by(MESSAGES.c.id)
)


def numbers(desk: Desk) -> dict[int, int | None]:
    rows = desk.read(lambda tx: tx.all(NUMBERS, workspace_id=desk.workspace_id))
    return {int(str(id)[-12:], 16): seq if isinstance(seq, int) else None for id, seq in rows}


def found(desk: Desk, q: str) -> list[str]:
    results = desk.read(lambda tx: search(tx, desk.workspace_id, q, 50))
    return [result.decode().split('"message_id":"')[1][:36] for result in results]


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.000000Z"


def test_messages_are_numbered_by_time_and_then_id_within_their_channel(desk: Desk) -> None:
    desk.load(
        message(13, 1, created_at=at(3)),
        message(12, 1, created_at=at(1)),
        message(11, 1, created_at=at(3)),
        message(14, 2, created_at=at(2)),
        message(15, 1, created_at=at(2), deleted=True),
        message(16, 1, created_at=at(2), internal_note=True),
        channel(1),
        channel(2),
    )
    assert numbers(desk) == {12: 1, 15: 2, 16: None, 11: 3, 13: 4, 14: 1}
    assert desk.value("channels", "last_seq", 1) == 4


def test_new_messages_take_the_next_numbers_and_old_ones_keep_theirs(desk: Desk) -> None:
    desk.load(channel(1), message(10, 1, created_at=at(5)), message(11, 1, internal_note=True))
    desk.load(
        message(10, 1, created_at=at(5), internal_note=True),
        message(11, 1, created_at=at(1)),
        message(12, 1, created_at=at(0)),
    )
    assert numbers(desk) == {10: 1, 12: 2, 11: 3}
    assert desk.differences() == []


def test_a_channel_counts_its_visible_messages_and_knows_the_last(desk: Desk) -> None:
    desk.load(
        channel(1),
        message(10, 1, created_at=at(1)),
        message(11, 1, created_at=at(2)),
        message(12, 1, created_at=at(8), deleted=True),
        message(13, 1, created_at=at(9), internal_note=True),
        channel(2, message_count=5, last_message_at=at(1)),
    )
    assert (desk.shown("channels", 1)["message_count"], desk.shown("channels", 1)["last_message_at"]) == (
        2,
        at(2),
    )
    assert desk.shown("channels", 2)["message_count"] == 0 and "last_message_at" not in desk.shown(
        "channels", 2
    )


def test_messages_alone_count_for_a_channel_imported_before(desk: Desk) -> None:
    desk.load(channel(1, name="Kim", tags=["late"]))
    desk.load(message(10, 1, created_at=at(1)))
    shown = desk.shown("channels", 1)
    assert (shown["message_count"], shown["name"], shown["tags"]) == (1, "Kim", ["late"])
    assert desk.value("channels", "version", 1) == 1


def test_a_message_may_come_to_another_channel_and_both_are_counted(desk: Desk) -> None:
    desk.load(channel(1), channel(2), *(message(number, 1, created_at=at(number)) for number in (10, 11, 12)))
    desk.load(message(11, 2, created_at=at(11)), message(13, 1, created_at=at(13)))
    assert desk.shown("channels", 1)["message_count"] == 3
    assert desk.shown("channels", 2)["message_count"] == 1
    assert numbers(desk) == {10: 2, 12: 3, 13: 4, 11: 1}
    assert desk.differences() == []


def test_the_version_of_a_channel_grows_by_one_with_each_import_of_it(desk: Desk) -> None:
    for version in (1, 2, 3):
        desk.load(channel(1, status="closed"))
        assert desk.value("channels", "version", 1) == version


def test_what_can_be_searched_is_found_and_nothing_else(desk: Desk) -> None:
    desk.load(
        channel(1),
        message(10, 1, content="Where is my refund?", sender_type="contact"),
        message(11, 1, content="refund", sender_type="contact", deleted=True),
        message(12, 1, content="refund", sender_type="member", internal_note=True),
        message(13, 1, content="refund", sender_type="system"),
        message(14, 1, content="주문 refunds", sender_type="member"),
    )
    assert found(desk, "refund") == [uid(10), uid(14)] and found(desk, "주") == [uid(14)]
    desk.load(message(10, 1, content="Thanks", sender_type="contact"))
    assert found(desk, "refund") == [uid(14)] and found(desk, "thank") == [uid(10)]
    desk.load(message(10, 1, content="Thanks", sender_type="contact", deleted=True))
    assert found(desk, "thank") == []


def test_of_many_matches_the_newest_are_found_first_however_the_file_was_ordered(desk: Desk) -> None:
    def said(number: int) -> str:
        return f"2026-01-01T{number // 60:02}:{number % 60:02}:00Z"

    desk.load(
        channel(1),
        *(
            message(
                number + 100, 1, content="hello", sender_type="contact", created_at=said(number * 7 % 300)
            )
            for number in range(300)
        ),
    )
    times = {uid(number + 100): number * 7 % 300 for number in range(300)}
    assert [times[id] for id in found(desk, "hello")] == list(range(299, 249, -1))


def test_a_message_shows_the_attachments_that_are_ready(desk: Desk) -> None:
    references = [{"id": uid(number), "type": "file", "filename": "?"} for number in (5, 3, 4)]
    desk.load(
        channel(1),
        record("attachment", 3, filename="a.png", content_type="image/png"),
        record("attachment", 4, filename="b", status="pending"),
        record("attachment", 5, filename="c.mp3", content_type="audio/mpeg"),
        message(10, 1, attachment_ids=[uid(3), uid(4), uid(5), uid(3)]),
        message(11, 1, attachments=references),
    )
    picture = {"id": uid(3), "type": "image", "filename": "a.png"}
    sound = {"id": uid(5), "type": "audio", "filename": "c.mp3"}
    assert desk.shown("messages", 10)["attachments"] == [picture, sound]
    assert desk.shown("messages", 11)["attachments"] == [sound, picture]
    assert [one["attachment_ids"] for one in desk.exported("message")] == [
        [uid(3), uid(4), uid(5)],
        [uid(5), uid(3), uid(4)],
    ]


def test_what_becomes_of_an_attachment_is_shown_by_its_messages(desk: Desk) -> None:
    desk.load(channel(1), record("attachment", 3, filename="a"), message(10, 1, attachment_ids=[uid(3)]))
    desk.load(record("attachment", 3, filename="b", content_type="video/mp4"))
    assert desk.shown("messages", 10)["attachments"] == [{"id": uid(3), "type": "video", "filename": "b"}]
    desk.load(record("attachment", 3, filename="b", status="failed"))
    assert "attachments" not in desk.shown("messages", 10)
    assert numbers(desk) == {10: 1} and desk.differences() == []
