"""The page for those who receive webhooks: true to the code, and its verification works as it is written."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec
import pytest

from deskwire.api.deliveries import WHEN_EMITTED
from deskwire.cli.commands import build_commands
from deskwire.cli.reception import Reception
from deskwire.model import limits
from deskwire.model.event_examples import BODIES, SECRET
from deskwire.model.events import EventBody, EventKind
from deskwire.model.received_events import EVENT_OF
from deskwire.model.signatures import sign
from scripts.webhook_page import PAGE, numbers, render

TEXT = PAGE.read_text("utf-8")
TOLERANCE_S = 300


def test_the_examples_and_the_numbers_are_those_of_the_code() -> None:
    assert render(TEXT) == TEXT, "run: .venv/bin/python -m scripts.webhook_page"


def test_an_example_or_a_number_that_differs_is_found() -> None:
    assert render(TEXT.replace('"seq": 14', '"seq": 15')) == TEXT
    assert render(TEXT.replace("| 3 |", "| 4 |")) == TEXT
    assert "| an event is discarded after | 24 h |" in numbers()


def test_every_kind_stands_in_the_table_and_has_an_example() -> None:
    shown = [msgspec.json.decode(block) for block in blocks("json")]
    assert [one["kind"] for one in shown] == list(get_args(EventKind)) == list(BODIES)
    assert set(WHEN_EMITTED) == set(EVENT_OF) == set(get_args(EventKind))
    for kind in BODIES:
        assert re.search(rf"^\| `{kind}` \|", TEXT, re.MULTILINE)


def test_every_key_of_a_body_is_explained() -> None:
    for key in EventBody.__struct_fields__:
        assert f"| `{key}` |" in TEXT


def test_the_numbers_in_the_sentences_are_those_of_the_code() -> None:
    for sentence in (
        f"`secret`, {2 * limits.WEBHOOK_SECRET_BYTES} hexadecimal characters",
        f"its {2 * limits.WEBHOOK_SECRET_BYTES} characters, as bytes",
        f"at most {limits.WEBHOOK_URL_CHARACTERS} characters",
        f"2xx within {limits.ANSWER_SHOULD_S} seconds",
        f"{limits.WEBHOOK_FAILURES_TO_ERROR} events in a row fail",
        f"younger than {limits.DELIVERY_HORIZON_US // 3_600_000_000} hours",
        f"For {limits.DUPLICATE_WINDOW_US // 60_000_000} minutes",
        f"longer than {limits.ATTEMPT_S:g} s is too long",
    ):
        assert sentence in TEXT
    assert limits.CYCLE_ATTEMPTS == 3 and "up to three attempts" in TEXT


def test_every_link_leads_to_a_heading() -> None:
    headings = {
        re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
    }
    links = re.findall(r"\]\(#([^)]*)\)", TEXT)
    assert links
    assert set(links) <= headings


def test_every_option_of_the_commands_on_the_page_exists_and_those_that_misbehave_are_told() -> None:
    listen = build_commands([]).commands["listen"]
    options = {name for parameter in listen.params for name in parameter.opts}
    told = set(re.findall(r"^\| `(--[a-z-]+)", TEXT, re.MULTILINE))
    assert told <= options
    assert options - told == {"--host", "--port", "--secret"}
    verify = build_commands([]).commands["verify"]
    assert {"--secret", "--signature"} <= {name for parameter in verify.params for name in parameter.opts}


def test_every_key_of_a_line_of_listen_is_told() -> None:
    told = TEXT[TEXT.index("A line of `--json` has") :]
    assert all(f"`{key}`" in told for key in Reception.__struct_fields__)


def test_the_state_of_a_webhook_is_told_with_every_status() -> None:
    for status in ("active", "error", "inactive"):
        assert f"| `{status}` |" in TEXT


class Language(NamedTuple):
    """How the code of the page is run: with secret, signature and timestamp as arguments and the body on
    standard input, it must end with 0 or 1."""

    name: str
    program: str
    file: str
    command: tuple[str, ...]
    calling: str


LANGUAGES = (
    Language(
        "python",
        sys.executable,
        "verify.py",
        ("verify.py",),
        "\nimport sys\nsys.exit(0 if is_genuine(*sys.argv[1:], sys.stdin.buffer.read()) else 1)\n",
    ),
    Language(
        "javascript",
        "node",
        "verify.js",
        ("verify.js",),
        "\nconst body = require('node:fs').readFileSync(0);"
        "\nprocess.exit(isGenuine(...process.argv.slice(2), body) ? 0 : 1);\n",
    ),
    Language(
        "ruby",
        "ruby",
        "verify.rb",
        ("verify.rb",),
        "\nexit(genuine?(*ARGV, $stdin.binmode.read) ? 0 : 1)\n",
    ),
    Language(
        "php",
        "php",
        "verify.php",
        ("verify.php",),
        "\nexit(is_genuine($argv[1], $argv[2], $argv[3], file_get_contents('php://stdin')) ? 0 : 1);\n",
    ),
)
GO_CALLING = """package main

import (
	"io"
	"os"
)

func main() {
	body, _ := io.ReadAll(os.Stdin)
	if !isGenuine(os.Args[1], os.Args[2], os.Args[3], body) {
		os.Exit(1)
	}
}
"""

Verify = Callable[[str, str, str, bytes], int]


@pytest.fixture(params=[*(one.name for one in LANGUAGES), "go"])
def verify(request: pytest.FixtureRequest, tmp_path: Path) -> Verify:
    command = built_go(tmp_path) if request.param == "go" else written(request.param, tmp_path)

    def run(secret: str, signature: str, timestamp: str, body: bytes) -> int:
        argv = [*command, secret, signature, timestamp]
        ended = subprocess.run(argv, input=body, cwd=tmp_path, capture_output=True, check=False, timeout=120)
        assert ended.stderr == b""
        return ended.returncode

    return run


def written(name: str, folder: Path) -> list[str]:
    language = next(one for one in LANGUAGES if one.name == name)
    program = shutil.which(language.program)
    if program is None:
        pytest.skip(f"this machine has no {language.program}")
    (folder / language.file).write_text(first_block(name) + language.calling, "utf-8")
    return [program, *language.command]


def built_go(folder: Path) -> list[str]:
    go = shutil.which("go")
    if go is None:
        pytest.skip("this machine has no go")
    (folder / "verify.go").write_text(first_block("go"), "utf-8")
    (folder / "main.go").write_text(GO_CALLING, "utf-8")
    (folder / "go.mod").write_text("module verify\n", "utf-8")
    subprocess.run([go, "build", "-o", "verify", "."], cwd=folder, check=True, timeout=280)
    return [str(folder / "verify")]


def test_the_code_of_the_page_takes_what_was_signed_and_nothing_else(verify: Verify) -> None:
    body = BODIES["message.created"].replace(b"Mina", "미나 é".encode())
    signature, now = sign(SECRET, body), str(int(time.time()))
    assert verify(SECRET, signature, now, body) == 0
    early, late = (str(int(time.time()) + off) for off in (60 - TOLERANCE_S, TOLERANCE_S - 60))
    assert [verify(SECRET, signature, when, body) for when in (early, late)] == [0, 0]
    too_old, too_new = (str(int(time.time()) + off) for off in (-TOLERANCE_S - 60, TOLERANCE_S + 60))
    refused = [
        (SECRET, signature, now, body + b"\n"),
        (SECRET, signature, now, b""),
        ("0" * 64, signature, now, body),
        (SECRET, signature.removeprefix("sha256="), now, body),
        (SECRET, signature[:-1] + ("0" if signature[-1] != "0" else "1"), now, body),
        (SECRET, signature + "0", now, body),
        (SECRET, "sha256=é", now, body),
        (SECRET, "", now, body),
        (SECRET, signature, too_old, body),
        (SECRET, signature, too_new, body),
        (SECRET, signature, "", body),
        (SECRET, signature, "soon", body),
    ]
    assert [verify(*one) for one in refused] == [1] * len(refused)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def first_block(language: str) -> str:
    return str(blocks(language)[0])
