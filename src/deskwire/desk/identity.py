"""New ids and secrets: where the desk takes chance from."""

import secrets
import string

import uuid_utils

from deskwire.model.limits import TOKEN_CHARACTERS, WEBHOOK_SECRET_BYTES
from deskwire.model.tokens import TOKEN_MARK

TOKEN_ALPHABET = string.ascii_letters + string.digits


def new_id() -> str:
    """Ids grow with time, so that new rows lie side by side in an index."""
    return str(uuid_utils.uuid7())


def new_token() -> str:
    return TOKEN_MARK + "".join(secrets.choice(TOKEN_ALPHABET) for _ in range(TOKEN_CHARACTERS))


def new_webhook_secret() -> str:
    return secrets.token_hex(WEBHOOK_SECRET_BYTES)
