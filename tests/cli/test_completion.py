"""The shells' completion, asked as the shells ask."""

import shutil
import subprocess

import pytest

from tests.cli.conftest import Deskwire


def complete(deskwire: Deskwire, monkeypatch: pytest.MonkeyPatch, line: str) -> list[str]:
    words = line.split(" ")
    monkeypatch.setenv("_DESKWIRE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    code, out, err = deskwire()
    assert (code, err) == (0, "")
    return [answer.partition(",")[2] for answer in out.splitlines()]


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("deskwire works", ["workspace"]),
        ("deskwire token ", ["create", "list", "rotate", "revoke"]),
        ("deskwire serve --data", ["--data-dir", "--database-url"]),
        ("deskwire token create --scope messages:", ["messages:read", "messages:write"]),
        ("deskwire completion z", ["zsh"]),
    ],
)
def test_what_may_follow_is_offered(
    deskwire: Deskwire, monkeypatch: pytest.MonkeyPatch, line: str, answers: list[str]
) -> None:
    found = complete(deskwire, monkeypatch, line)
    assert found[: len(answers)] == answers


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shells_script_is_printed_and_understood_by_it(deskwire: Deskwire, shell: str) -> None:
    code, out, err = deskwire("completion", shell)
    assert (code, err) == (0, "")
    assert "_DESKWIRE_COMPLETE" in out
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=out, text=True, check=True)
