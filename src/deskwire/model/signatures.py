"""The signature of a delivery, as its sender makes it and its receiver checks it."""

import hmac

SIGNATURE_HEADER = "X-Webhook-Signature"
TIMESTAMP_HEADER = "X-Webhook-Timestamp"
PREFIX = "sha256="


def sign(secret: str, body: bytes) -> str:
    """The key is the secret as it was shown: its 64 characters, as bytes."""
    return PREFIX + hmac.digest(secret.encode(), body, "sha256").hex()


def is_signature(secret: str, body: bytes, signature: str) -> bool:
    return hmac.compare_digest(sign(secret, body).encode(), signature.encode())
