"""Who asks: the token of a request, remembered for a moment so that most requests need no look-up."""

import time
from collections.abc import Callable

from deskwire.desk.tokens import find_by_hash
from deskwire.model.errors import DeskError
from deskwire.model.limits import TOKEN_CACHE_S
from deskwire.model.tokens import Token, is_token, token_hash
from deskwire.store.clock import Clock
from deskwire.store.transaction import Store

SCHEME = b"bearer "
REMEMBERED_TOKENS = 10_000


class Authentication:
    """A token that was revoked meanwhile works until `TOKEN_CACHE_S` after it was looked up."""

    def __init__(self, store: Store, clock: Clock, steady: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._steady = steady
        self._remembered: dict[bytes, tuple[Token, float]] = {}

    async def authenticate(self, header: bytes | None) -> Token:
        if header is None:
            raise invalid_token("An access token is needed: Authorization: Bearer dwp_….")
        token = await self._find(header)
        state = "revoked" if token is None else token.state(self._clock())
        if token is None or state == "revoked":
            raise invalid_token("The access token is unknown or was revoked.")
        if state == "expired":
            raise invalid_token("The access token has expired.")
        return token

    async def _find(self, header: bytes) -> Token | None:
        entry = self._remembered.get(header)
        now = self._steady()
        if entry is not None and now < entry[1]:
            return entry[0]
        secret = secret_of(header)
        if secret is None:
            raise invalid_token("The Authorization header is not Bearer and an access token.")
        token = await self._store.read(lambda tx: find_by_hash(tx, token_hash(secret)))
        if token is None:
            self._remembered.pop(header, None)
            return None
        if len(self._remembered) >= REMEMBERED_TOKENS:
            self._remembered.clear()
        self._remembered[header] = (token, now + TOKEN_CACHE_S)
        return token


def secret_of(header: bytes) -> str | None:
    if header[: len(SCHEME)].lower() != SCHEME:
        return None
    secret = header[len(SCHEME) :].strip(b" ").decode("latin-1")
    return secret if is_token(secret) else None


def invalid_token(message: str) -> DeskError:
    return DeskError("INVALID_TOKEN", message)
