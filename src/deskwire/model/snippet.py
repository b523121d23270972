"""The excerpt of a message that a search result shows, as HTML with every match marked."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from deskwire.model.characters import MARKS
from deskwire.model.limits import MAX_CLUSTER_CHARACTERS, SNIPPET_CHARACTERS, SNIPPET_WORD_CHARACTERS
from deskwire.model.text import fold


def snippet(content: str, words: Sequence[str]) -> str:
    """About 160 characters around the first match of the folded words, `…` where cut, matches in `<em>`."""
    text = " ".join(content.split())
    folded, origins = _fold_with_origins(text)
    start, end = _window(text, *_original(text, origins, *_first_match(folded, words)))
    found = _matches(folded, words, bisect_left(origins, start), bisect_left(origins, end))
    marked = _merged(_original(text, origins, *match) for match in found)
    return _render(text, start, end, marked)


def _fold_with_origins(text: str) -> tuple[str, Sequence[int]]:
    """The folded text, and the place in the text that each of its characters, and its end, comes from."""
    folded = fold(text)
    if _is_in_place(text, folded):
        return folded, range(len(text) + 1)
    pieces: list[str] = []
    origins: list[int] = []
    at = 0
    for run in text.split(" "):
        piece, places = _fold_run(run)
        pieces.append(piece)
        origins += [at + place for place in places]
        at += len(run)
        origins.append(at)
        at += 1
    return " ".join(pieces), origins


def _fold_run(run: str) -> tuple[str, Sequence[int]]:
    folded = fold(run)
    if _is_in_place(run, folded):
        return folded, range(len(run))
    pieces: list[str] = []
    origins: list[int] = []
    for cluster in _CLUSTER.finditer(run):
        piece = fold(cluster.group())
        pieces.append(piece)
        origins += [cluster.start()] * len(piece)
    return "".join(pieces), origins


def _is_in_place(text: str, folded: str) -> bool:
    """Whether folding replaced each character by one: case folding makes none fewer, composing none more."""
    return len(text) == len(folded) and (text.isascii() or _is_composed(text, folded))


def _is_composed(text: str, folded: str) -> bool:
    return unicodedata.is_normalized("NFC", text) and text.casefold() == folded


def _first_match(folded: str, words: Iterable[str]) -> tuple[int, int]:
    """The earliest match, the longest of several; without any, the beginning."""
    found = [(at, -len(word)) for word in words if (at := folded.find(word)) >= 0]
    at, length = min(found, default=(0, 0))
    return at, at - length


def _original(text: str, origins: Sequence[int], first: int, end: int) -> tuple[int, int]:
    """What a part of the folded text comes from, whole clusters of characters."""
    if first == end:
        return origins[first], origins[first]
    return _cluster_start(text, origins[first]), _cluster_end(text, origins[end - 1] + 1)


def _window(text: str, first: int, end: int) -> tuple[int, int]:
    """The part to show around a match, cut between words where two meet nearby, else between clusters."""
    before = max(0, SNIPPET_CHARACTERS - (end - first)) // 3
    left = max(0, min(first - before, len(text) - SNIPPET_CHARACTERS))
    right = min(len(text), max(left + SNIPPET_CHARACTERS, end))
    if left > 0:
        blank = text.find(" ", left - 1, min(left + SNIPPET_WORD_CHARACTERS, first))
        left = blank + 1 if blank >= 0 else _cluster_start(text, left)
    if right < len(text):
        blank = text.rfind(" ", max(end, right - SNIPPET_WORD_CHARACTERS), right + 1)
        right = blank if blank >= 0 else _cluster_end(text, right)
    return left, right


def _cluster_start(text: str, at: int) -> int:
    for place in range(at, max(0, at - MAX_CLUSTER_CHARACTERS), -1):
        if text[place - 1] == " " or not _CONTINUATION.match(text, place):
            return place
    return max(0, at - MAX_CLUSTER_CHARACTERS)


def _cluster_end(text: str, at: int) -> int:
    rest = _CONTINUATIONS.match(text, at)
    return rest.end() if rest else at


def _matches(folded: str, words: Iterable[str], first: int, end: int) -> Iterator[tuple[int, int]]:
    """Every match that begins in the part, overlapping ones too."""
    for word in words:
        at = folded.find(word, first)
        while 0 <= at < end:
            yield at, min(end, at + len(word))
            at = folded.find(word, at + 1)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, end in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((first, end))
    return merged


def _render(text: str, start: int, end: int, marked: Iterable[tuple[int, int]]) -> str:
    pieces = ["…" if start > 0 else ""]
    at = start
    for first, after in marked:
        pieces += [escape(text[at:first]), "<em>", escape(text[first:after]), "</em>"]
        at = after
    pieces += [escape(text[at:end]), "…" if end < len(text) else ""]
    return "".join(pieces)


# What belongs to the character before it: marks, the later letters of a Hangul syllable, skin tones, a flag's
# tags, and what a zero-width joiner joins.
_LATER_JAMO, _SKIN_TONES, _TAGS = (
    "\u1160-\u11ff\ud7b0-\ud7ff",
    "\U0001f3fb-\U0001f3ff",
    "\U000e0020-\U000e007f",
)
_CONTINUING = rf"(?:[{MARKS}{_LATER_JAMO}{_SKIN_TONES}{_TAGS}\u200d]|(?<=\u200d)[^ ])"
_CONTINUATION = re.compile(_CONTINUING)
_CONTINUATIONS = re.compile(f"{_CONTINUING}{{1,{MAX_CLUSTER_CHARACTERS}}}")
_CLUSTER = re.compile(f".{_CONTINUING}{{0,{MAX_CLUSTER_CHARACTERS}}}", re.DOTALL)
