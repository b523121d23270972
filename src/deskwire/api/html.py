"""HTML made of elements, so that text is escaped by being text."""

import html
import re
from collections.abc import Iterable

VOID = frozenset({"meta", "link"})


class Html(str):
    """Markup that is finished; any other text is escaped where it becomes part of some."""

    __slots__ = ()


Content = str | Html


def element(name: str, /, *content: Content, **attributes: str) -> Html:
    """The attribute `class_` stands for `class`, and `aria_label` for `aria-label`."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for key, value in attributes.items()
    )
    if name in VOID:
        return Html(f"<{name}{shown}>")
    return Html(f"<{name}{shown}>{joined(content)}</{name}>")


def joined(content: Iterable[Content]) -> Html:
    return Html("".join(one if isinstance(one, Html) else html.escape(one, quote=False) for one in content))


def prose(text: str) -> Html:
    """A text in which what stands between backticks is code."""
    parts = text.split("`")
    return joined(element("code", part) if at % 2 else part for at, part in enumerate(parts))


def table(head: Iterable[str], rows: Iterable[Iterable[Content]]) -> Html:
    """Wrapped, so that a wide one scrolls by itself on a narrow screen."""
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", *(element("th", name, scope="col") for name in head))),
            element("tbody", *(element("tr", *(element("td", cell) for cell in row)) for row in rows)),
        ),
        class_="table",
    )


def entries(rows: Iterable[tuple[Content, Content]]) -> Html:
    """Terms and what is said of them: side by side where there is room, else one below the other."""
    return element(
        "dl",
        *(element("div", element("dt", term), element("dd", told)) for term, told in rows),
        class_="entries",
    )


def code_block(text: Content, label: str = "") -> Html:
    caption = (element("figcaption", label),) if label else ()
    return element("figure", *caption, element("pre", element("code", text), tabindex="0"))


def coloured(json_text: str) -> Html:
    """JSON with its keys, strings and other values marked."""
    marked: list[Content] = []
    end = 0
    for token in TOKEN.finditer(json_text):
        kind = token.lastgroup or ""
        marked += [json_text[end : token.start()], element("span", token.group(), class_=kind)]
        end = token.end()
    return joined([*marked, json_text[end:]])


TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<text>"(?:[^"\\]|\\.)*")|(?P<value>-?\d[\d.eE+-]*|true|false|null)'
)
