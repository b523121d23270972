"""The secret key, as configured or made once and kept in the data folder, and the keys derived from it."""

import fcntl
import hmac
import os
import secrets
from pathlib import Path

from deskwire.cli.house import SettingsError
from deskwire.desk.sealing import Seal
from deskwire.model import limits
from deskwire.wiring.settings import Settings

FILE_NAME = "secret.key"


def secret_key(settings: Settings) -> bytes:
    """With PostgreSQL there may be other machines, which would not see a key kept here."""
    if settings.secret_key is not None:
        return settings.secret_key.encode()
    if settings.is_postgresql:
        raise SettingsError(
            "DESKWIRE_SECRET_KEY is needed with PostgreSQL, the same for every process: "
            f"a text of {limits.SECRET_KEY_MIN_CHARACTERS} characters or more"
        )
    path = settings.data_dir / FILE_NAME
    try:
        return _read(path) or _make(path)
    except OSError as error:
        raise SettingsError(f"the secret key cannot be kept in {path}: {error.strerror}") from error


def derived(secret: bytes, purpose: str) -> bytes:
    """One key for each purpose, so that what is signed for one means nothing to another."""
    return hmac.digest(secret, f"deskwire {purpose}".encode(), "sha256")


def webhook_seal(settings: Settings) -> Seal:
    """What webhooks' secrets are kept under."""
    return Seal(derived(secret_key(settings), "webhook secrets"))


def _read(path: Path) -> bytes | None:
    """The key, unless the file is not there or was left half written, when nobody has used it yet."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    key = content.strip()
    if not content.endswith(b"\n"):
        return None
    if len(key) < limits.SECRET_KEY_MIN_CHARACTERS:
        raise SettingsError(f"the secret key in {path} is too short; restore the file from a backup")
    return key


def _make(path: Path) -> bytes:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        if made_meanwhile := _read(path):
            return made_meanwhile
        key = secrets.token_hex(32).encode()
        os.ftruncate(file, 0)
        os.pwrite(file, key + b"\n", 0)
        os.fsync(file)
        return key
    finally:
        os.close(file)
