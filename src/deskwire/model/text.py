"""Text made searchable: folded, cut into words, turned into the terms that are indexed or asked for."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from deskwire.model.characters import SEPARATORS
from deskwire.model.limits import MAX_INDEXED_WORD_CHARACTERS


class Parts(msgspec.Struct, frozen=True):
    """What an index must hold for a text to be a candidate: each exact term, and one begun by each prefix.

    Where there are choices, all terms of one of them, too.
    """

    exact: tuple[str, ...]
    prefixes: tuple[str, ...]
    choices: tuple[tuple[str, ...], ...] = ()


class Query(msgspec.Struct, frozen=True):
    """A search text: its distinct folded words, their terms as whole words (for ranking), what it needs."""

    words: tuple[str, ...]
    whole: tuple[str, ...]
    parts: Parts


def fold(text: str) -> str:
    """The form in which texts are compared: canonically composed, without case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def words(text: str) -> list[str]:
    """The folded text's maximal runs of letters, marks, numbers and symbols."""
    return cut(fold(text))


def cut(folded: str) -> list[str]:
    return _WORD.findall(folded)


def terms(prefix: str, text: str) -> str:
    """The index terms of a text, a blank between each; `prefix` is the workspace's, of one length for all.

    `w` and a word, `p` and each pair of its characters (the last character alone, too, so that `p` and any
    character is the beginning of a term), `t` and each triple. What several words have in common is named by
    each: an index takes it once anyway.
    """
    return " ".join(
        [
            _terms_of_word(prefix, word) if len(word) <= _COMMON_CHARACTERS else _terms_of(prefix, word)
            for word in dict.fromkeys(words(text))
        ]
    )


def part_terms(prefix: str, runs: Iterable[str]) -> str:
    """The pairs, ends and triples of the runs, as an index keeps them."""
    return " ".join([term for run in dict.fromkeys(runs) for term in _parts_of(prefix, run)])


def _terms_of(prefix: str, word: str) -> str:
    return " ".join([_whole(prefix, word), *_parts_of(prefix, word)])


def _parts_of(prefix: str, run: str) -> list[str]:
    pair, triple = prefix + "p", prefix + "t"
    pairs = [pair + run[at : at + 2] for at in range(len(run))]
    return pairs + [triple + run[at : at + 3] for at in range(len(run) - 2)]


# Most words of a text were cut a moment ago in another one; those longer than this seldom come again.
_COMMON_CHARACTERS = 16
_terms_of_word = lru_cache(maxsize=8192)(_terms_of)


def query(prefix: str, text: str) -> Query | None:
    """What a search text asks for, or None when it holds no word."""
    distinct = tuple(dict.fromkeys(words(text)))
    if not distinct:
        return None
    whole = dict.fromkeys(_whole(prefix, word) for word in distinct)
    return Query(distinct, tuple(whole), parts(prefix, distinct))


def parts(prefix: str, runs: Iterable[str]) -> Parts:
    """What every text that has the runs inside its own runs has among its terms."""
    exact: dict[str, None] = {}
    prefixes: dict[str, None] = {}
    for run in runs:
        match len(run):
            case 1:
                prefixes[f"{prefix}p{run}"] = None
            case 2:
                exact[f"{prefix}p{run}"] = None
            case length:
                exact.update(dict.fromkeys(f"{prefix}t{run[at : at + 3]}" for at in range(length - 2)))
    return Parts(tuple(exact), tuple(prefixes))


def matches(folded: str, words: Iterable[str]) -> bool:
    """Whether every word stands in the folded text, be it inside another word."""
    return all(word in folded for word in words)


def rank(folded: str, words: Sequence[str]) -> int:
    """How many of the words stand in the folded text as whole words."""
    return len({*cut(folded)}.intersection(words))


def _whole(prefix: str, word: str) -> str:
    return f"{prefix}w{word[:MAX_INDEXED_WORD_CHARACTERS]}"


# A run mostly begins with letters and digits, which the first class matches fast.
_WORD = re.compile(rf"[^\W_]+[^{SEPARATORS}]*|[^{SEPARATORS}]+")
