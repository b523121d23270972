"""Downloads of attachments: the signed addresses of those served here, and headers that make any harmless."""

import hmac
import re
from enum import Enum, auto
from urllib.parse import quote

from deskwire.model.limits import MAX_DOWNLOAD_FILENAME_CHARACTERS


class Verdict(Enum):
    """What a download's address turned out to be."""

    VALID = auto()
    EXPIRED = auto()
    ALTERED = auto()


def sign(key: bytes, base_url: str, workspace_id: str, attachment_id: str, expires_at_s: int) -> str:
    """The address from which the attachment can be downloaded before `expires_at_s`."""
    signature = _signature(key, workspace_id, attachment_id, str(expires_at_s))
    return (
        f"{base_url}/attachments/{workspace_id}/{attachment_id}?expires={expires_at_s}&signature={signature}"
    )


def verify(
    key: bytes, workspace_id: str, attachment_id: str, expires: str, signature: str, now_s: float
) -> Verdict:
    """Whether the parts of an address are as `sign` wrote them, to the character, and still in time."""
    expected = _signature(key, workspace_id, attachment_id, expires)
    if not hmac.compare_digest(expected.encode(), signature.encode(errors="replace")):
        return Verdict.ALTERED
    return Verdict.VALID if now_s < int(expires) else Verdict.EXPIRED


def disposition(filename: str) -> str:
    """The Content-Disposition of a download: the name in full, and in ASCII for who reads nothing else."""
    name = _safe_name(filename)
    fallback = _NOT_PLAIN.sub("_", name)
    return f"attachment; filename=\"{fallback}\"; filename*=UTF-8''{quote(name, safe='')}"


def safe_content_type(content_type: str) -> str:
    """The type that a download is served with: its own when no browser runs what is in it."""
    essence = content_type.partition(";")[0].strip().lower()
    if essence in _TEXT_TYPES:
        return f"{essence}; charset=utf-8"
    return essence if essence in _BINARY_TYPES else "application/octet-stream"


def _signature(key: bytes, workspace_id: str, attachment_id: str, expires: str) -> str:
    signed = f"{workspace_id}/{attachment_id}?{expires}".encode(errors="replace")
    return hmac.digest(key, signed, "sha256").hex()


def _safe_name(filename: str) -> str:
    seen = "".join(filter(str.isprintable, " ".join(filename.split())))
    name = _FORBIDDEN.sub("_", seen).strip(" .")
    if len(name) <= MAX_DOWNLOAD_FILENAME_CHARACTERS:
        return name or "attachment"
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension) > _MAX_EXTENSION_CHARACTERS:
        return name[:MAX_DOWNLOAD_FILENAME_CHARACTERS]
    return stem[: MAX_DOWNLOAD_FILENAME_CHARACTERS - len(extension) - 1] + dot + extension


# What paths are made of, what ends a quoted text, and what some file systems refuse.
_FORBIDDEN = re.compile(r'["/\\:*?<>|]')
# A browser may take % and two digits in the plain name for an escape.
_NOT_PLAIN = re.compile("[^ -~]|%")
_MAX_EXTENSION_CHARACTERS = 12
_TEXT_TYPES = frozenset({"text/plain", "text/csv"})
_BINARY_TYPES = frozenset(
    {
        "application/pdf",
        "audio/aac",
        "audio/amr",
        "audio/flac",
        "audio/m4a",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/opus",
        "audio/wav",
        "audio/webm",
        "audio/x-m4a",
        "audio/x-wav",
        "image/avif",
        "image/bmp",
        "image/gif",
        "image/heic",
        "image/heif",
        "image/jpeg",
        "image/png",
        "image/tiff",
        "image/webp",
        "video/3gpp",
        "video/mp4",
        "video/mpeg",
        "video/ogg",
        "video/quicktime",
        "video/webm",
        "video/x-matroska",
        "video/x-msvideo",
    }
)
