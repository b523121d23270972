"""Contacts made searchable: a query is a substring, in any case, of name, e-mail or phone."""

import re

from deskwire.model.text import Parts, fold, part_terms, parts


def contact_match_text(name: str | None, email: str | None, phone: str | None) -> str:
    """The folded fields, a line each; what `contact_needle` makes of a query never spans two of them."""
    return "\n".join(contact_needle(field) for field in (name, email, phone) if field)


def contact_needle(q: str) -> str:
    """The query in the form in which it stands in the match text; blanks, `%` and `_` mean themselves."""
    return fold(q).replace("\n", _NEWLINE)


def contact_matches(match_text: str, q: str) -> bool:
    return contact_needle(q) in match_text


def terms_of_fields(prefix: str, name: str | None, email: str | None, phone: str | None) -> str:
    """The index terms of a contact, a blank between each; only white space and controls cut its text."""
    return part_terms(prefix, _RUN.findall(contact_match_text(name, email, phone)))


def contact_parts(prefix: str, q: str) -> Parts:
    """What every contact that matches has among its terms; empty when it is white space alone."""
    return parts(prefix, _RUN.findall(contact_needle(q)))


# The line end separates the fields, so one inside a field or a query is written as another separator.
_NEWLINE = "\x1f"

_RUN = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]+")
