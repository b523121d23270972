"""`q` of contacts: a part of name, e-mail or phone, in any case, where every character stands for itself."""

import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskwire.desk.contacts import FEW_CANDIDATES
from deskwire.model.contacts import ContactRecord
from deskwire.model.moments import Moment
from deskwire.model.search import contact_terms, term_prefix
from deskwire.store import kinds
from deskwire.store.records import put_all
from deskwire.store.search import Entry, Subject
from deskwire.store.transaction import Tx
from tests.api.desk import Desk, House
from tests.api.records import new_id, record
from tests.engines import NEW_YEAR


def found(desk: Desk, q: str) -> list[str]:
    return [each["display_name"] for each in desk.walk("/contacts", {"q": q, "limit": 100})]


@pytest.mark.parametrize(
    ("name", "q"),
    [
        ("Ada Lovelace", "LOVE"),
        ("Straße", "STRASSE"),
        ("STRASSE", "straße"),
        ("Ärger", "äRGER"),
        ("A\u0308rger", "ärger"),
        ("Ärger", "a\u0308R"),
        ("Ελένη Παπάς", "ΠΑΠΆΣ"),
        ("Дмитрий", "ДМИТ"),
        ("Ահարոն", "ահԱ"),
        ("Ⅳ. Ludwig", "ⅳ."),
        ("김철수", "철수"),
        ("김철수", "철"),
        ("山田太郎", "田太"),
        ("ヤマダ タロウ", "マダ タ"),
        ("王小明", "小"),
        ("محمد علي", "مد ع"),
        ("สมชาย", "มชา"),
        ("Ada 🚲", "🚲"),
        ("👩‍👩‍👧 family", "👩‍👧"),
        ("İstanbul", "i̇stan"),
        ("ﬁnn", "FIN"),
        ("O'Brien", "o'b"),
        ('"Ada"', '"ada"'),
        ("back\\slash", "k\\s"),
        ("100%", "0%"),
        ("a_b", "A_B"),
        ("a b", " "),
        ("a*b", "*"),
        ("[x]", "[X"),
        ("a\tb", "\t"),
        ("a\nb", "\n"),
        ("a\u3000b", "\u3000"),
        ("(x) AND y", "AND"),
        ("NEAR(x)", "near("),
        ("x:y", "x:y"),
        ("-x", "-"),
        ("^x$", "^"),
        ("x\u200by", "\u200b"),
        ("\u00adx", "\u00ad"),
        ("x\ufeffy", "x\ufeffy"),
        ("\U000f0000x", "\U000f0000"),
        ("\U0010ffff", "\U0010ffff"),
        ("a\x1fb", "\x1f"),
        ("a\x7fb", "a\x7fb"),
        ("a\x85b", "a\x85b"),
        ("{};", "{}"),
        ("<b>", "<B>"),
        ("&amp;", "&a"),
        ("a  b", "  "),
        ("\U0001d504da", "\U0001d504d"),
    ],
)
def test_a_part_of_a_name_is_found_in_any_script_and_case(desk: Desk, name: str, q: str) -> None:
    desk.add("contact", name="somebody else", email="else@example.com", phone="112233")
    contact_id = desk.add("contact", name=name)
    assert desk.get("/contacts", {"q": q}).ids[:1] == [contact_id]
    assert len(desk.get("/contacts", {"q": q}).ids) == (2 if q in "somebody else" else 1)


@pytest.mark.parametrize(
    "q", ["ada@", "EXAMPLE.ORG", "@", ".org", "ada@example.org", "+49 30", "30 1", "0 1"]
)
def test_parts_of_the_email_and_of_the_phone_are_found(desk: Desk, q: str) -> None:
    desk.add("contact", name="X", email="x@sample.com", phone="777")
    contact_id = desk.add("contact", name="Y", email="ada@example.org", phone="+49 30 1")
    assert contact_id in desk.get("/contacts", {"q": q}).ids
    assert len(desk.get("/contacts", {"q": q}).ids) == (2 if q == "@" else 1)


@pytest.mark.parametrize(
    "q",
    ["%", "_", "%da", "A_a", "a%", "\\%", "\\", "*", "?", "A.a", "'", '"', "ada ", " ada", "adaa", "aada"],
)
def test_nothing_in_q_is_a_wildcard_and_blanks_count(desk: Desk, q: str) -> None:
    desk.add("contact", name="Ada", email="ada@example.org", phone="301")
    assert desk.get("/contacts", {"q": q}).data == []


@pytest.mark.parametrize(
    ("name", "q"), [("a bx b_", "a b_"), ("b x %a", "b %a"), ("%a %b", "%%"), ("a_b axbc _bc", "a_bc")]
)
def test_a_wildcard_is_not_one_even_where_the_name_has_the_character(desk: Desk, name: str, q: str) -> None:
    contact_id = desk.add("contact", name=name)
    assert desk.get("/contacts", {"q": q}).data == []
    assert desk.get("/contacts", {"q": name}).ids == [contact_id]


@pytest.mark.parametrize("q", ["ada", "AD", "a", "d", "A"])
def test_one_and_two_characters_are_enough(desk: Desk, q: str) -> None:
    contact_id = desk.add("contact", name="Ada")
    assert desk.get("/contacts", {"q": q}).ids == [contact_id]


@pytest.mark.parametrize("between", ["", " ", "\n", "\x1f", "\x00"[:0], "\t", ",", "\r\n"])
def test_no_match_goes_across_two_fields(desk: Desk, between: str) -> None:
    desk.add("contact", name="Ada", email="grace@example.org", phone="301")
    for first, second in (("ada", "grace"), ("org", "301"), ("a", "g"), ("ada", "301")):
        assert desk.get("/contacts", {"q": f"{first}{between}{second}"}).data == []


def test_only_name_email_and_phone_are_searched(desk: Desk) -> None:
    desk.add(
        "contact",
        external_id="bell",
        former_external_ids=["bells"],
        tags=["bell"],
        avatar_url="https://example.com/bell.png",
    )
    assert found(desk, "bell") == []
    assert found(desk, "anonymous") == []


def test_an_empty_q_filters_nothing(desk: Desk) -> None:
    contact_id = desk.add("contact", name="Ada")
    assert desk.get("/contacts", "q=").ids == [contact_id]
    assert desk.get("/contacts", "q").ids == [contact_id]


def test_a_changed_contact_is_found_by_what_it_is_now(desk: Desk) -> None:
    contact = record("contact", name="Ada", email="ada@example.org")
    desk.put(contact)
    desk.put({**contact, "name": "Grace", "email": None})
    assert (found(desk, "ada"), found(desk, "grace")) == ([], ["Grace"])
    desk.put({**contact, "name": None, "email": None})
    assert found(desk, "a") == []


@pytest.mark.parametrize("length", [300, 1_000, 5_000, 20_000])
@pytest.mark.parametrize("character", ["a", "%", "_", "\\", "é", "한", " ", "ab"])
def test_a_q_longer_than_any_contact_finds_nothing(desk: Desk, character: str, length: int) -> None:
    desk.add("contact", name=character * 9, phone=(character * 90)[:90])
    assert desk.get("/contacts", {"q": character * length}).data == []
    varied = "".join(chr(0x4E00 + place) for place in range(length))
    assert desk.get("/contacts", {"q": varied}).data == []


def test_a_field_is_found_by_the_whole_of_it(desk: Desk) -> None:
    phone, email = "".join(str(place % 7) for place in range(100)), f"{'é' * 300}@example.com"
    contact_id = desk.add("contact", phone=phone, email=email)
    for q in (phone, email, phone[1:], email[:-1]):
        assert desk.get("/contacts", {"q": q}).ids == [contact_id]


ALPHABET = "aAbBßsSéÉ e\u0301İiı%_\\'\"한국\n.@"
texts = st.text(ALPHABET, max_size=5)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(st.tuples(texts, texts, texts), max_size=6),
    st.lists(st.text(ALPHABET, min_size=1, max_size=4), min_size=1, max_size=6),
)
def test_q_finds_exactly_what_a_plain_model_finds(
    house: House, made: list[tuple[str, str, str]], asked: list[str]
) -> None:
    desk = house.open_desk()
    contacts = [
        record("contact", name=name, email=email.strip(), phone=phone.strip()) for name, email, phone in made
    ]
    desk.put(*contacts)
    for q in asked:
        expected = {
            each["id"]
            for each in contacts
            if any(folded(q) in folded(str(each[field])) for field in ("name", "email", "phone"))
        }
        assert set(desk.get("/contacts", {"q": q}).ids) == expected, q


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@pytest.fixture(scope="session")
def crowded(house: House) -> Desk:
    """More contacts than are looked at one by one, all called alike; every third of them has a phone."""
    desk = house.open_desk()
    house.run(house.store.write(lambda tx: crowd(tx, desk.workspace_id)))
    return desk


CROWD = FEW_CANDIDATES + 100


async def crowd(tx: Tx, workspace_id: str) -> None:
    contacts = [
        ContactRecord(
            id=new_id(),
            created_at=Moment(NEW_YEAR + place // 5),
            name=f"Ada {place:04}",
            phone="+1" if place % 3 == 0 else None,
        )
        for place in range(CROWD)
    ]
    await put_all(tx, kinds.CONTACTS, workspace_id, contacts)
    entries = [Entry(one.id, one.created_at, contact_terms(workspace_id, one)) for one in contacts]
    await tx.index(Subject.CONTACTS, workspace_id, entries)


@pytest.mark.parametrize(("q", "number"), [("ada", CROWD), ("ADA 1", 1000), ("+1", len(range(0, CROWD, 3)))])
def test_many_matches_are_paged_through_without_one_lost(crowded: Desk, q: str, number: int) -> None:
    shown = crowded.walk("/contacts", {"q": q, "limit": 100})
    assert len({each["id"] for each in shown}) == len(shown) == number
    assert [each["created_at"] for each in shown] == sorted((e["created_at"] for e in shown), reverse=True)


def test_the_rarest_match_among_many_is_found(crowded: Desk) -> None:
    assert found(crowded, "0000") == found(crowded, "a 0000") == ["Ada 0000"]
    assert sorted(found(crowded, "ada 2")) == [f"Ada {place}" for place in range(2000, CROWD)]


def neighbour(house: House, desk: Desk) -> Desk:
    """A workspace whose search terms begin as the desk's do."""
    return house.open_desk(new_id()[:-3] + desk.workspace_id[-3:])


def test_contacts_of_a_workspace_with_the_same_terms_are_never_found(crowded: Desk) -> None:
    small = neighbour(crowded.house, crowded)
    assert term_prefix(small.workspace_id) == term_prefix(crowded.workspace_id)
    assert small.get("/contacts", "q=ada").data == []


def test_many_contacts_of_a_workspace_with_the_same_terms_hide_none(house: House) -> None:
    desk = house.open_desk()
    contact_id = desk.add("contact", name="Ada")
    for place in range(5):
        desk.add("contact", name=f"Ada {place}")
    big = neighbour(house, desk)
    house.run(house.store.write(lambda tx: crowd(tx, big.workspace_id)))
    assert contact_id in desk.get("/contacts", "q=ada").ids
    assert len(desk.get("/contacts", "q=ada").ids) == 6
