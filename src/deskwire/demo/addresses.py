"""Mail addresses and names of files from names of people."""

import unicodedata


def local_part(name: str) -> str:
    """The name in the letters of a mail address; empty when the name has none of them."""
    folded = unicodedata.normalize("NFKD", name.replace("ß", "ss").casefold())
    letters = "".join(mark for mark in folded if mark.isascii() and (mark.isalnum() or mark == " "))
    return ".".join(letters.split())
