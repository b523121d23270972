"""The last line of defence of the logs: what must never be in them is struck out of the finished line."""

import re

_RULES = (
    # The first twelve characters of a token are its public prefix.
    (re.compile(r"(dwp_[A-Za-z0-9]{1,8})[A-Za-z0-9]*"), r"\1…"),
    (re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{64,}"), "[secret]"),
    (re.compile(r"(?i)\b(bearer|basic)\s+(?!dwp_)[\w.~+/=-]+"), r"\1 [secret]"),
    (
        re.compile(r"(?i)\b(authorization\W{1,6}+(?:b['\"])?+)(?!bearer|basic|dwp_)[\w.~+/=-]+"),
        r"\1[secret]",
    ),
    (re.compile(r"(://)[^\s/@'\"]+@"), r"\1[secret]@"),
    (re.compile(r"[^\s@<>()\[\]'\",;:=\\/]+@[^\s@<>()\[\]'\",;:=\\/]+\.[\w-]+"), "[e-mail]"),
)


def redact(line: str) -> str:
    for pattern, replacement in _RULES:
        line = pattern.sub(replacement, line)
    return line
