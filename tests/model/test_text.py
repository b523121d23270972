import re
import unicodedata
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deskwire.model.characters import MARKS, SEPARATORS
from deskwire.model.text import Query, fold, matches, query, rank, terms, words

PREFIX = "7f3k"
SCRIPTS = (
    "aZéßſİiıΣςǰ한국어かなカナ漢字عربيไทย"
    "\u0301\u0323\u0e31\u0345ᾳ\u1112\u1161\u11ab👍🏽👨\u200d👩🇰🇷❤\ufe0f$+0٣½ \n.,_-"
)
texts = st.text(st.sampled_from(SCRIPTS), max_size=40) | st.text(max_size=40)


def test_the_character_classes_agree_with_unicode_for_every_code_point() -> None:
    separator, mark = re.compile(f"[{SEPARATORS}]"), re.compile(f"[{MARKS}]")
    for character in map(chr, range(0x110000)):
        category = unicodedata.category(character)
        assert bool(separator.match(character)) == (category[0] in "PZ" or category in {"Cc", "Cf", "Cs"})
        assert bool(mark.match(character)) == (category[0] == "M")


def test_every_character_that_separates_nothing_is_a_word() -> None:
    separator = re.compile(f"[{SEPARATORS}]")
    for character in map(chr, range(0x110000)):
        assert bool(words(character)) != bool(separator.match(character)), hex(ord(character))


@pytest.mark.parametrize(
    ("one", "other"),
    [("Straße", "STRASSE"), ("e\u0301", "É"), ("ΟΔΟΣ", "οδος"), ("\u1112\u1161\u11ab", "한"), ("ﬁn", "FIN")],
)
def test_folding_makes_spellings_of_the_same_word_equal(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_folding_a_folded_character_changes_nothing() -> None:
    for character in map(chr, range(0x110000)):
        assert fold(fold(character)) == fold(character)


@given(texts)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_words_are_cut_at_white_space_punctuation_and_controls() -> None:
    assert words("Hello,\tWORLD_2 (co-op)\u200bx") == ["hello", "world", "2", "co", "op", "x"]
    assert words("x\x00y€5 👍🏽!") == ["x", "y€5", "👍🏽"]


def test_terms_are_the_words_their_pairs_and_triples_and_the_last_character_alone() -> None:
    assert sorted(terms("7", "Abc x abc").split()) == ["7pab", "7pbc", "7pc", "7px", "7tabc", "7wabc", "7wx"]


def test_a_long_word_is_indexed_whole_up_to_64_characters_and_in_parts_to_its_end() -> None:
    found = terms("7", "a" * 64 + "bc").split(" ")
    assert "7w" + "a" * 64 in found
    assert "7tabc" in found


def test_a_word_is_indexed_once_and_no_term_holds_white_space() -> None:
    found = terms(PREFIX, "the the THE\u3000the\n" * 3 + "then")
    assert found.split() == found.split(" ") == (terms(PREFIX, "the") + " " + terms(PREFIX, "then")).split()


def test_a_query_asks_for_triples_for_a_pair_and_for_a_beginning() -> None:
    found = query("7", "Order is x order")
    assert found is not None
    assert found.words == ("order", "is", "x")
    assert found.whole == ("7worder", "7wis", "7wx")
    assert found.parts.exact == ("7tord", "7trde", "7tder", "7pis")
    assert found.parts.prefixes == ("7px",)


@pytest.mark.parametrize("text", ["", " ", "?!", "_%", "\u200b", "\x00", "\ud800"])
def test_a_query_without_a_word_is_none(text: str) -> None:
    assert query(PREFIX, text) is None


def test_rank_counts_the_words_that_stand_whole() -> None:
    assert rank("the order is late", ["order", "lat", "is"]) == 2
    assert matches("the order is late", ["order", "lat", "is"])
    assert not matches("the order is late", ["order", "early"])


def finds(text_terms: set[str], asked: Query) -> bool:
    begun = all(any(term.startswith(prefix) for term in text_terms) for prefix in asked.parts.prefixes)
    return begun and text_terms.issuperset(asked.parts.exact)


@settings(max_examples=300)
@given(texts)
@example("한국어 漢 かな カナ ไทย عربي 👍🏽 e\u0301 q\u0303")
def test_whatever_part_of_a_word_is_asked_for_the_index_finds_its_text(text: str) -> None:
    indexed = set(terms(PREFIX, text).split(" "))
    for word in words(text):
        for first, end in combinations(range(len(word) + 1), 2):
            asked = query(PREFIX, word[first:end])
            assert asked is not None
            assert finds(indexed, asked)
            assert matches(fold(text), asked.words)


@given(texts)
def test_a_text_is_found_by_all_of_its_words_whole(text: str) -> None:
    asked = query(PREFIX, text)
    if asked is None:
        assert terms(PREFIX, text) == ""
        return
    indexed = set(terms(PREFIX, text).split(" "))
    assert finds(indexed, asked)
    assert set(asked.whole) <= indexed
    assert rank(fold(text), asked.words) == len(asked.words)


@given(texts, texts)
def test_a_text_that_matches_is_always_among_the_candidates(text: str, q: str) -> None:
    asked = query(PREFIX, q)
    if asked is not None and matches(fold(text), asked.words):
        assert finds(set(terms(PREFIX, text).split(" ")), asked)
