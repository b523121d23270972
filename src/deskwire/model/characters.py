"""Classes of characters, from Unicode's general categories, as a regular expression's brackets hold them."""

import re
import unicodedata
from collections.abc import Iterator

# Only these ranges hold separators or marks: the scan at import leaves out the large blocks that have none.
_RANGES = (
    range(0x3400),
    range(0xA000, 0xAC00),
    range(0xD800, 0xE000),
    range(0xFB00, 0x12000),
    range(0x12400, 0x13500),
    range(0x16A00, 0x17000),
    range(0x1BC00, 0x1EA00),
    range(0xE0000, 0xE01F0),
)
_CATEGORIES = ["".join(map(unicodedata.category, map(chr, codes))) for codes in _RANGES]


def _class(categories: str) -> str:
    """The class of the characters whose two-letter category the pattern matches."""
    return "".join(_runs(categories))


def _runs(categories: str) -> Iterator[str]:
    for codes, names in zip(_RANGES, _CATEGORIES, strict=True):
        for run in re.finditer(f"(?:{categories})+", names):
            first, last = codes[run.start() // 2], codes[run.end() // 2 - 1]
            yield f"{re.escape(chr(first))}-{re.escape(chr(last))}"


# Unassigned and private characters count as letters do: an emoji newer than this Python can be searched for.
SEPARATORS = _class("[PZ][a-z]|C[cfs]")
MARKS = _class("M[a-z]")
