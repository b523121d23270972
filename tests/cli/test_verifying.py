"""`deskwire verify`: the exit code, and the one sentence of what is wrong."""

import io
import json
from pathlib import Path
from typing import NamedTuple

import pytest

from deskwire.cli.main import run
from deskwire.model.limits import RECEIVED_BODY_MAX_BYTES
from deskwire.model.signatures import sign
from tests.cli.conftest import Deskwire
from tests.cli.house import SqliteHouse

SECRET = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
BODY = '{"kind":"contact.created","name":"환불"}'.encode()


class StandardInput(NamedTuple):
    buffer: io.BytesIO


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "body"
    found.write_bytes(BODY)
    return found


def test_a_signature_that_matches_is_done(deskwire: Deskwire, file: Path) -> None:
    given = ("verify", "--secret", SECRET, "--signature", sign(SECRET, BODY), file)
    assert deskwire(*given) == (0, "The signature matches.\n", "")
    assert deskwire(*given, "--json").json == {"matches": True}


def test_the_body_may_come_from_standard_input(deskwire: Deskwire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StandardInput(io.BytesIO(BODY)))
    assert deskwire("verify", "--secret", SECRET, "--signature", sign(SECRET, BODY), "-").code == 0


def test_a_signature_that_does_not_match_fails_with_the_likely_reason(deskwire: Deskwire, file: Path) -> None:
    file.write_bytes(json.dumps(json.loads(BODY)).encode())
    given = ("verify", "--secret", SECRET, "--signature", sign(SECRET, BODY), file)
    failed = deskwire(*given)
    assert failed.code == 1
    assert failed.complaint.startswith(
        "the signature does not match: the JSON was parsed and written anew: blanks"
    )
    code, out, err = deskwire(*given, "--json")
    told = json.loads(out)
    assert (code, told["matches"], told["reason"]) == (1, False, "json_rewritten")
    assert err == f"deskwire: the signature does not match: {told['message']}\n"


def test_a_file_that_is_not_there_or_too_large_is_a_failure(deskwire: Deskwire, tmp_path: Path) -> None:
    missing = deskwire("verify", "--secret", "s", "--signature", "x", tmp_path / "none")
    assert (missing.code, missing.complaint) == (1, f"{tmp_path / 'none'}: No such file or directory")
    large = tmp_path / "large"
    large.write_bytes(bytes(RECEIVED_BODY_MAX_BYTES + 1))
    assert "no delivery has more" in deskwire("verify", "--secret", "s", "--signature", "x", large).complaint


def test_it_needs_no_house(file: Path, tmp_path: Path) -> None:
    house = SqliteHouse(tmp_path / "nowhere")
    assert run(house, ["verify", "--secret", SECRET, "--signature", sign(SECRET, BODY), str(file)]) == 0
    assert not (tmp_path / "nowhere").exists()
