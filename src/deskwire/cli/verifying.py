"""Checking one signature of a delivery, and saying why it does not match."""

import sys
from pathlib import Path

import click

from deskwire.cli.house import Invocation
from deskwire.cli.output import complain, print_json
from deskwire.model.errors import DeskError
from deskwire.model.limits import RECEIVED_BODY_MAX_BYTES
from deskwire.model.signature_diagnosis import Differs, Matches, diagnose

STANDARD_INPUT = Path("-")


def verify(invocation: Invocation, *, file: Path, secret: str, signature: str, json: bool) -> int:
    match diagnose(secret, signature, read_body(file)):
        case Matches():
            if json:
                print_json({"matches": True})
            else:
                click.echo("The signature matches.")
            return 0
        case Differs(reason, told):
            if json:
                print_json({"matches": False, "reason": reason, "message": told})
            complain(f"the signature does not match: {told}")
            return 1


def read_body(file: Path) -> bytes:
    if file == STANDARD_INPUT:
        body = sys.stdin.buffer.read(RECEIVED_BODY_MAX_BYTES + 1)
    else:
        with file.open("rb") as opened:
            body = opened.read(RECEIVED_BODY_MAX_BYTES + 1)
    if len(body) > RECEIVED_BODY_MAX_BYTES:
        raise DeskError(
            "PAYLOAD_TOO_LARGE", f"{file}: no delivery has more than {RECEIVED_BODY_MAX_BYTES:,} bytes"
        )
    return body
