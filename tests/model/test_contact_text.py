from hypothesis import given
from hypothesis import strategies as st

from deskwire.model.contact_text import (
    contact_match_text,
    contact_matches,
    contact_needle,
    contact_parts,
    terms_of_fields,
)

texts = st.text(st.sampled_from("abAB1+@.%_ \n\x01\x1fßé\u0301한국"), max_size=12)
fields = st.none() | texts


def test_name_email_and_phone_are_matched_without_case_in_any_part() -> None:
    text = contact_match_text("Jane Doe", "JANE@Example.test", "+82 10-1234")
    for q in ("ane d", "E@EX", "+82", "0-12", "doe"):
        assert contact_matches(text, q)
    for q in ("janedoe", "jane  doe", "doe jane", "test+82", "doe\njane"):
        assert not contact_matches(text, q)


def test_percent_and_underscore_mean_themselves() -> None:
    assert contact_matches(contact_match_text("100%_sure", None, None), "0%_s")
    assert not contact_matches(contact_match_text("100 sure", None, None), "%")
    assert not contact_matches(contact_match_text("abc", None, None), "a_c")


def test_a_query_that_is_white_space_asks_the_index_for_nothing() -> None:
    found = contact_parts("7", " \t")
    assert (found.exact, found.prefixes) == ((), ())


def test_punctuation_counts_in_a_contacts_terms() -> None:
    assert sorted(terms_of_fields("7", "a b@", None, "").split(" ")) == ["7p@", "7pa", "7pb@"]


def test_controls_are_in_no_term() -> None:
    assert sorted(terms_of_fields("7", "a\x01b\x7fc\u0085", None, None).split(" ")) == ["7pa", "7pb", "7pc"]
    assert contact_parts("7", "\x01b").prefixes == ("7pb",)


@given(fields, fields, fields, texts)
def test_the_match_text_matches_exactly_what_one_field_holds(
    name: str | None, email: str | None, phone: str | None, q: str
) -> None:
    held = any(field and contact_needle(q) in contact_needle(field) for field in (name, email, phone))
    expected = held or q == ""
    assert contact_matches(contact_match_text(name, email, phone), q) == expected


@given(fields, fields, fields, st.data())
def test_every_part_of_a_field_is_found_by_the_index(
    name: str | None, email: str | None, phone: str | None, data: st.DataObject
) -> None:
    text = contact_match_text(name, email, phone)
    field = data.draw(st.sampled_from(text.split("\n")))
    first = data.draw(st.integers(0, len(field)))
    q = field[first : data.draw(st.integers(first, len(field)))]
    asked = contact_parts("7", q)
    indexed = terms_of_fields("7", name, email, phone).split(" ")
    assert contact_matches(text, q)
    assert set(asked.exact) <= set(indexed)
    assert all(any(term.startswith(prefix) for term in indexed) for prefix in asked.prefixes)
