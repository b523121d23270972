"""What the database must not show: sealed with the instance's key, and bound to what it belongs to."""

import os
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
REMEMBERED = 4096


class WrongSeal(Exception):
    """It was sealed with another key, or belongs to something else."""


class Seal:
    """The key has 32 bytes."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)
        self.open = lru_cache(REMEMBERED)(self._open)

    def seal(self, text: bytes, owner: str) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, text, owner.encode())

    def _open(self, sealed: bytes, owner: str) -> bytes:
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], owner.encode())
        except InvalidTag as error:
            raise WrongSeal(
                f"what is kept of {owner} was sealed with another DESKWIRE_SECRET_KEY than this one"
            ) from error
