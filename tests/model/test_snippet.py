import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskwire.model.snippet import snippet
from deskwire.model.text import query, words

SCRIPTS = (
    "abßſİiΣςǰéÉ한국어かな漢字عربيไทย"
    "\u0301\u0323\u0e31\u0345\u1112\u1161\u11ab👍🏽👨\u200d👩❤\ufe0f<>&\"' \n\t.,-"
)
texts = st.text(st.sampled_from(SCRIPTS), max_size=400) | st.text(max_size=60)


def plain(shown: str) -> str:
    return unescape(re.sub("</?em>", "", shown))


def test_the_match_is_marked_and_everything_is_escaped() -> None:
    shown = snippet('<b>Tom & "Ann\'s" order</b>', ["ann", "order"])
    assert shown == "&lt;b&gt;Tom &amp; &quot;<em>Ann</em>&#x27;s&quot; <em>order</em>&lt;/b&gt;"


def test_what_is_marked_is_escaped_too() -> None:
    assert snippet("1<2", words("1<2")) == "<em>1&lt;2</em>"


@pytest.mark.parametrize(
    ("content", "q", "shown"),
    [
        ("Die Straße", "STRASSE", "Die <em>Straße</em>"),
        ("Die Straße", "s", "Die <em>S</em>tra<em>ß</em>e"),
        ("İstanbul yes", "bul", "İstan<em>bul</em> yes"),
        ("ßß cafe\u0301 x", "CAFÉ", "ßß <em>cafe\u0301</em> x"),
        ("\u1112\u1161\u11ab글", "한글", "<em>\u1112\u1161\u11ab글</em>"),
        ("q\u0303 r", "q", "<em>q\u0303</em> r"),
        ("👍🏽 ok", "👍", "<em>👍🏽</em> ok"),
        ("a 👨\u200d👩 b", "👨", "a <em>👨\u200d👩</em> b"),
    ],
)
def test_marks_stand_on_the_original_spelling(content: str, q: str, shown: str) -> None:
    assert snippet(content, words(q)) == shown


def test_overlapping_and_touching_matches_are_marked_as_one() -> None:
    assert snippet("abcdef", ["abc", "cd", "ef"]) == "<em>abcdef</em>"
    assert snippet("aaa b", ["aa"]) == "<em>aaa</em> b"


def test_white_space_becomes_one_blank() -> None:
    assert snippet("\n one\r\n\t two\u3000three ", ["two"]) == "one <em>two</em> three"


def test_a_long_text_is_cut_between_words_around_the_first_match() -> None:
    content = "lorem ipsum dolor " * 30 + "needle " + "sit amet " * 40
    shown = snippet(content, ["needle"])
    assert re.fullmatch(r"…(lorem|ipsum|dolor) .*<em>needle</em> .* (sit|amet)…", shown)
    assert 140 <= len(plain(shown)) <= 162


def test_a_text_without_blanks_is_cut_between_characters_as_people_see_them() -> None:
    shown = snippet("q\u0323\u0303" * 200 + "x" + "q\u0323\u0303" * 200, ["x"])
    assert re.fullmatch("…(q\u0323\u0303)+<em>x</em>(q\u0323\u0303)+…", shown)


def test_a_match_longer_than_the_excerpt_is_shown_to_its_end() -> None:
    assert snippet("y " * 100 + "x" * 190 + " z" * 100, ["x" * 190]).count("x") == 190


def test_without_a_match_the_beginning_is_shown() -> None:
    assert snippet("hello world", ["absent"]) == "hello world"
    assert snippet("", ["absent"]) == ""


def test_a_text_that_is_one_endless_cluster_is_still_cut() -> None:
    assert len(snippet("a" + "\u0323" * 50_000, ["a"])) < 300
    assert len(snippet("a\u200d" * 50_000, ["a"])) < 700


@given(texts, st.data())
def test_the_snippet_is_a_part_of_the_text_with_at_least_one_mark(content: str, data: st.DataObject) -> None:
    found = words(content)
    if not found:
        return
    word = data.draw(st.sampled_from(found))
    first = data.draw(st.integers(0, len(word) - 1))
    asked = query("7", word[first : data.draw(st.integers(first + 1, len(word)))])
    assert asked is not None
    shown = snippet(content, asked.words)
    text = " ".join(content.split())
    assert plain(shown).removeprefix("…").removesuffix("…") in text
    assert "<em>" in shown
    assert shown.count("<em>") == shown.count("</em>")
    assert not re.search("<(?!/?em>)", shown)


@given(texts, st.lists(st.text(min_size=1), max_size=4))
def test_a_snippet_is_given_for_any_text_and_words(content: str, asked: list[str]) -> None:
    text = " ".join(content.split())
    assert plain(snippet(content, asked)).removeprefix("…").removesuffix("…") in text
