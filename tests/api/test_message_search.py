"""The search of message bodies: what is found, in which order, and how it is shown."""

import html
import re
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskwire.api.parameters import SearchQuery, whole_number
from deskwire.model.search import term_prefix
from tests.api.desk import Desk, House
from tests.api.records import at, new_id, record

# Far more than are looked at first.
MANY = 9_000


def say(desk: Desk, *contents: str, channel_id: str | None = None) -> list[str]:
    """A message of each content, every one newer than the one before."""
    channel_id = channel_id or desk.add("channel")
    made = [record("message", channel_id=channel_id, content=content) for content in contents]
    desk.put(*made)
    return [str(each["id"]) for each in made]


def found(desk: Desk, q: str, **query: object) -> list[str]:
    return [each["message_id"] for each in desk.get("/search", {"q": q, **query}).data]


@pytest.mark.parametrize(
    ("content", "q"),
    [
        ("The bell does not ring", "bell"),
        ("The bell does not ring", "BELL ring"),
        ("The bell does not ring", "ring  the"),
        ("The bell does not ring", "ell"),
        ("The bell does not ring", "b"),
        ("The bell does not ring", "oes"),
        ("자전거가 고장났어요", "자전거"),
        ("자전거가 고장났어요", "고장"),
        ("자전거가 고장났어요", "전거 났어"),
        ("자전거가 고장났어요", "장"),
        ("자전거", unicodedata.normalize("NFD", "자전")),
        ("注文した自転車が届きません", "自転車"),
        ("注文した自転車が届きません", "転車"),
        ("注文した自転車が届きません", "届"),
        ("カタカナのテスト", "タカナ"),
        ("自行车坏了怎么办", "坏了"),
        ("自行车坏了怎么办", "怎"),
        ("الدراجة مكسورة", "دراجة"),
        ("الدراجة مكسورة", "كسور"),
        ("จักรยานของฉันเสีย", "ยานของ"),
        ("मेरी साइकिल टूट गई", "साइकिल"),
        ("האופניים שבורים", "אופני"),
        ("Мой велосипед сломан", "ВЕЛОСИПЕД"),
        ("Το ποδήλατο ΧΆΛΑΣΕ", "χάλασε"),
        ("ΟΔΟΣ", "οδος"),
        ("Great 🚲🔧 work", "🚲"),
        ("Great 🚲🔧 work", "🔧 great"),
        ("family 👩‍👩‍👧", "👩‍👩‍👧"),
        ("flag 🇰🇷", "🇰🇷"),
        ("Schöne Grüße", "SCHÖNE"),
        ("Schöne Grüße", "grüsse"),
        ("Schöne GRÜSSE", "grüße"),
        ("Schöne Grüße", "scho\u0308ne"),
        ("scho\u0308ne", "schöne"),
        ("İstanbul", "i̇stanbul"),
        ("İstanbul", "İSTANBUL"),
        ("ﬁnd it", "find"),
        ("don't stop", "don't"),
        ("order #1234-AB", "1234-ab"),
        ("mail to ada@example.org", "ada@example.org"),
        ("50% off", "50%"),
        ("snake_case", "snake_case"),
        ("C++ and C#", "C++"),
        ("AND OR NOT NEAR", "not near"),
        ('say "hi"', '"hi"'),
        ("col:umn", "col:umn"),
        ("star*", "star*"),
        ("a\nb\tc", "a b c"),
        ("x" * 300, "x" * 200),
        ("long " * 2000 + "needle", "needle"),
        ("①②③", "①"),
        ("e\u0301a", "éa"),
        ("\U00020000 rare", "\U00020000"),
        ("zero\u200bwidth", "zero width"),
        ("naïve", "naïve"),
    ],
)
def test_words_and_parts_of_words_are_found_in_any_script_right_after_the_write(
    desk: Desk, content: str, q: str
) -> None:
    say(desk, "unrelated ~~")
    made = say(desk, content)
    assert found(desk, q) == made


@pytest.mark.parametrize(
    "q", ["bell silence", "bel l x", "gnir", "bellring", "thebell", "b+ll", "be$l", "자전거"]
)
def test_every_word_must_be_there_and_nothing_is_a_wildcard(desk: Desk, q: str) -> None:
    say(desk, "The bell does not ring")
    assert found(desk, q) == []


@pytest.mark.parametrize("q", [" ", "...", "!?", "\t", "\u3000", "- -", "%", "'"])
def test_a_search_without_a_word_finds_nothing(desk: Desk, q: str) -> None:
    say(desk, "well ... ! ? - % '")
    assert found(desk, q) == []


def test_whole_words_come_first_and_the_newest_first_among_equals(desk: Desk) -> None:
    whole_old, part_old, whole_new, part_new = say(desk, "a bell", "bells", "bell!", "doorbell")
    assert found(desk, "bell") == [whole_new, whole_old, part_new, part_old]


def test_more_whole_words_are_the_better_match(desk: Desk) -> None:
    both, one, none, new_both = say(desk, "bell ring", "bell ringing", "bells ringing", "ring the bell")
    assert found(desk, "ring bell") == [new_both, both, one, none]


def test_a_whole_word_is_first_however_many_newer_parts_there_are(desk: Desk) -> None:
    (whole,) = say(desk, "bell")
    say(desk, *["bells"] * 150)
    assert found(desk, "bell", limit=1) == [whole]


def test_more_whole_words_are_first_however_many_newer_messages_have_fewer(desk: Desk) -> None:
    all_three, one, two = say(desk, "ring the bell", "bell of rings in therapy", "the bell of rings")
    rest = say(desk, *["bells ringing in therapy"] * 400)
    assert found(desk, "ring the bell", limit=4) == [all_three, two, one, rest[-1]]
    assert found(desk, "bells ring", limit=2) == rest[:-3:-1]
    assert found(desk, "ring of the bell is", limit=3) == []


def test_of_many_words_the_better_match_is_first(desk: Desk) -> None:
    (whole,) = say(desk, "one two three four five sixth")
    say(desk, *["ones twos threes fours fives sixth"] * 400)
    assert found(desk, "one two three four five six", limit=1) == [whole]


def test_nothing_hides_behind_what_only_seems_to_match(desk: Desk) -> None:
    seen, won = say(desk, "please refund this", "it is 50000 won")
    channel_id = desk.add("channel", deleted=True)
    gone = [record("message", channel_id=channel_id, content=f"refund {place}") for place in range(MANY)]
    desk.put(*gone)
    say(desk, *["that costs 1000 won"] * MANY)
    for limit in (1, 100):
        assert found(desk, "refund", limit=limit) == [seen]
        assert found(desk, "0000", limit=limit) == [won]


def test_of_many_in_a_few_minutes_the_newest_come_first_when_older_ones_were_written_later(
    desk: Desk,
) -> None:
    channel_id = desk.add("channel")
    messages = [
        record("message", channel_id=channel_id, created_at=at(-100 + place / 10)) for place in range(600)
    ]
    desk.put(*messages[300:])
    desk.put(*messages[:300])
    for limit in (1, 50, 100):
        assert found(desk, "hello", limit=limit) == [each["id"] for each in messages[: -limit - 1 : -1]]


def test_the_newest_come_first_whatever_the_order_they_were_written_in(desk: Desk) -> None:
    channel_id = desk.add("channel")
    new = [record("message", channel_id=channel_id, created_at=at(place - 100)) for place in range(40)]
    old = [record("message", channel_id=channel_id, created_at=at(place - 9000)) for place in range(60)]
    desk.put(*new)
    desk.put(*old)
    newest_first = [each["id"] for each in reversed(old + new)]
    assert found(desk, "hello", limit=5) == newest_first[:5]
    assert found(desk, "hell", limit=5) == newest_first[:5]
    assert found(desk, "hello", limit=100) == newest_first


def test_a_message_found_at_its_new_time_when_that_was_changed(desk: Desk) -> None:
    channel_id = desk.add("channel")
    messages = [record("message", channel_id=channel_id, created_at=at(place - 100)) for place in range(60)]
    desk.put(*messages)
    desk.put({**messages[0], "created_at": at(0)})
    assert found(desk, "hello", limit=2) == [messages[0]["id"], messages[59]["id"]]


def test_messages_of_one_moment_are_ordered_by_id(desk: Desk) -> None:
    channel_id = desk.add("channel")
    desk.put(*(record("message", channel_id=channel_id, created_at=at(0)) for _ in range(9)))
    assert found(desk, "hello") == sorted(found(desk, "hello"), reverse=True)


def test_the_limit_is_50_unless_told_and_100_at_most(desk: Desk) -> None:
    made = say(desk, *["bell"] * 101)
    assert found(desk, "bell") == made[:-51:-1]
    assert found(desk, "bell", limit=100) == made[:0:-1]
    assert found(desk, "bell", limit=1) == made[-1:]
    assert desk.get("/search", {"q": "bell", "limit": 101}).fields.keys() == {"limit"}
    assert SearchQuery(q="x").limit == whole_number(1, 100)("50")


def test_a_result_has_exactly_the_keys_of_the_contract(desk: Desk) -> None:
    contact_id = desk.add("contact")
    channel_id = desk.add("channel", contact_id=contact_id)
    message_id = desk.add(
        "message",
        channel_id=channel_id,
        sender_type="member",
        sender_name="Kim",
        content_type="markdown",
        content="a **bell**",
        created_at=at(-5),
    )
    assert desk.get("/search", "q=bell").data == [
        {
            "message_id": message_id,
            "channel_id": channel_id,
            "contact_id": contact_id,
            "sender_type": "member",
            "sender_name": "Kim",
            "content_type": "markdown",
            "snippet": "a **<em>bell</em>**",
            "created_at": at(-5),
        }
    ]


def test_a_channel_without_contact_shows_none(desk: Desk) -> None:
    say(desk, "bell")
    (shown,) = desk.get("/search", "q=bell").data
    assert "contact_id" not in shown


@pytest.mark.parametrize(
    ("content", "q", "snippet"),
    [
        ("<b>bell</b> & co", "bell", "&lt;b&gt;<em>bell</em>&lt;/b&gt; &amp; co"),
        ("<em>bell</em>", "em", "&lt;<em>em</em>&gt;bell&lt;/<em>em</em>&gt;"),
        ("\"bell\" 'ring'", "ring", "&quot;bell&quot; &#x27;<em>ring</em>&#x27;"),
        ("&amp; bell", "amp", "&amp;<em>amp</em>; bell"),
        ("Grüße, Grüsse", "grüße", "<em>Grüße</em>, <em>Grüsse</em>"),
        ("자전거가 고장", "전거", "자<em>전거</em>가 고장"),
        ("Bell bELL", "bell", "<em>Bell</em> <em>bELL</em>"),
        ("banana", "ana an", "b<em>anana</em>"),
        ("a\n\n  bell", "bell", "a <em>bell</em>"),
    ],
)
def test_the_snippet_marks_the_match_and_escapes_the_rest(
    desk: Desk, content: str, q: str, snippet: str
) -> None:
    say(desk, content)
    (shown,) = desk.get("/search", {"q": q}).data
    assert shown["snippet"] == snippet


def test_the_snippet_of_a_long_message_is_a_short_part_around_the_match(desk: Desk) -> None:
    say(desk, "before " * 500 + "needle" + " after" * 500)
    (shown,) = desk.get("/search", "q=needle").data
    assert len(shown["snippet"]) < 250
    assert re.fullmatch(r"…(before )+<em>needle</em>( after)+…", shown["snippet"])


@pytest.mark.parametrize(
    "fields",
    [
        {"sender_type": "system"},
        {"sender_type": ""},
        {"content_type": "system"},
        {"deleted": True},
        {"internal_note": True},
    ],
)
def test_system_messages_deleted_ones_and_notes_are_not_found(desk: Desk, fields: dict[str, object]) -> None:
    channel_id = desk.add("channel")
    desk.add("message", channel_id=channel_id, content="bell", **fields)
    shown = desk.add("message", channel_id=channel_id, content="bell", sender_type="bot")
    assert found(desk, "bell") == [shown]


@pytest.mark.parametrize(
    "sender_type", ["member", "contact", "bot", "internal", "workflow", "external", "integration"]
)
def test_messages_of_every_other_sender_are_found(desk: Desk, sender_type: str) -> None:
    message_id = desk.add("message", channel_id=desk.add("channel"), content="bell", sender_type=sender_type)
    assert found(desk, "bell") == [message_id]


def test_a_changed_message_is_found_by_what_it_says_now(desk: Desk) -> None:
    message = record("message", channel_id=desk.add("channel"), content="bell")
    desk.put(message)
    desk.put({**message, "content": "horn"})
    assert (found(desk, "bell"), found(desk, "horn")) == ([], [message["id"]])


def test_many_messages_of_a_deleted_channel_hide_none_of_the_others(desk: Desk) -> None:
    (kept,) = say(desk, "bell")
    deleted = desk.add("channel", deleted=True)
    say(desk, *["bell"] * 300, channel_id=deleted)
    assert found(desk, "bell") == found(desk, "be") == [kept]


def test_messages_of_another_workspace_are_never_found_nor_do_they_hide_any(house: House) -> None:
    desk = house.open_desk()
    neighbour = house.open_desk(new_id()[:-3] + desk.workspace_id[-3:])
    assert term_prefix(neighbour.workspace_id) == term_prefix(desk.workspace_id)
    mine = say(desk, "bell")
    assert found(neighbour, "bell") == []
    say(neighbour, *["bell"] * MANY)
    assert found(desk, "bell") == found(desk, "el") == found(desk, "b") == mine


def test_only_the_content_of_messages_is_searched(desk: Desk) -> None:
    attachment_id = desk.add("attachment", filename="bell.png")
    channel_id = desk.add("channel", name="bell", description="bell")
    desk.add("message", channel_id=channel_id, sender_name="bell", attachment_ids=[attachment_id])
    assert found(desk, "bell") == []


WORDS = [
    "bell",
    "Bells",
    "be",
    "RING",
    "ringing",
    "Straße",
    "strasse",
    "자전거",
    "전거",
    "🚲",
    "x-y",
    "é",
    "e\u0301e",
]


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=8),
    st.lists(
        st.lists(st.sampled_from([*WORDS, "b", "el", "전", "ss"]), min_size=1, max_size=3).map(" ".join),
        min_size=1,
        max_size=5,
    ),
)
def test_a_search_finds_exactly_what_a_plain_model_finds(
    house: House, contents: list[str], asked: list[str]
) -> None:
    desk = house.open_desk()
    made = say(desk, *contents)
    for q in asked:
        expected = {
            id
            for id, content in zip(made, contents, strict=True)
            if all(part in folded(content) for word in q.split() for part in folded(word).split("-"))
        }
        answer = desk.get("/search", {"q": q})
        assert {each["message_id"] for each in answer.data} == expected, q
        for each in answer.data:
            plain = html.unescape(re.sub("</?em>", "", each["snippet"]))
            assert plain == contents[made.index(each["message_id"])]


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
