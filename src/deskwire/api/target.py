"""The target of a request line, taken apart."""

import re
import urllib.parse

import httptools

from deskwire.api.refusal import Refused, invalid


def split_target(target: bytes) -> tuple[str, bytes, bytes]:
    """The path decoded, the path as sent, and the query. A slash that is encoded separates nothing."""
    if b"#" in target or not target.isascii():
        raise Refused(invalid("the request target holds a character that must be percent-encoded"))
    raw_path, _, query = target.partition(b"?")
    if not raw_path.startswith(b"/"):
        raw_path = _path_of(raw_path)
    path = raw_path.decode("ascii")
    return urllib.parse.unquote(_SLASH.sub("%252F", path)) if "%" in path else path, raw_path, query


_SLASH = re.compile("%2f", re.IGNORECASE)


def _path_of(target: bytes) -> bytes:
    """The path of a URL, which may stand there too."""
    try:
        path = httptools.parse_url(target).path or b"/"
    except httptools.HttpParserInvalidURLError:
        path = target
    if not path.startswith(b"/"):
        raise Refused(invalid("the request target is neither a path nor a URL"))
    return path
