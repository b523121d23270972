"""Personal access tokens: their form, and what one may do."""

import hashlib
import re
from typing import Literal

import msgspec

from deskwire.model.limits import TOKEN_CHARACTERS, TOKEN_PREFIX_CHARACTERS
from deskwire.model.moments import Moment

TOKEN_MARK = "dwp_"
TOKEN_FORM = re.compile(rf"{TOKEN_MARK}[A-Za-z0-9]{{{TOKEN_CHARACTERS}}}", re.ASCII)

TokenState = Literal["active", "expired", "revoked"]


class Token(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    workspace_id: str
    name: str
    prefix: str
    scopes: frozenset[str]
    created_at: Moment
    expires_at: Moment | None = None
    revoked_at: Moment | None = None

    def state(self, now: int) -> TokenState:
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return "active"


def is_token(text: str) -> bool:
    return TOKEN_FORM.fullmatch(text) is not None


def visible_prefix(secret: str) -> str:
    return secret[:TOKEN_PREFIX_CHARACTERS]


def token_hash(secret: str) -> bytes:
    """A token has 238 bits of chance, so a plain hash keeps it as well as a slow one would."""
    return hashlib.sha256(secret.encode()).digest()
