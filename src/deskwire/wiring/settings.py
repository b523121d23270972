"""The configuration: each setting once, read from the environment and from `serve`'s options."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast
from urllib.parse import urlsplit

from deskwire.cli.house import OptionError, SettingsError
from deskwire.model import limits

PREFIX = "DESKWIRE_"
# What the tests are told by, in whose environment the program may be started.
TEST_VARIABLES = {"DESKWIRE_TEST_CITUS_URL", "DESKWIRE_TEST_PGBOUNCER"}
DATABASE_NAME = "deskwire.db"


class Address(NamedTuple):
    host: str
    port: int


def _setting(
    parse: Callable[[str], object], default: str, *, accepts: str, help: str, shown_default: str = ""
) -> Any:
    """A field of Settings; `accepts` completes "must be …", and `default` is parsed like any other value."""
    return field(
        default=parse(default) if default else None,
        repr=False,
        metadata={"parse": parse, "accepts": accepts, "help": help, "default": shown_default or default},
    )


def _folder(text: str) -> Path:
    return Path(text).expanduser()


def _url(*schemes: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        parts = urlsplit(text)
        leads_nowhere = not parts.netloc and not parts.path.strip("/")
        if parts.scheme not in schemes or leads_nowhere or re.search(r"\s", text):
            raise ValueError
        _ = parts.port  # Raises when it is none.
        return text

    return parse


def _web_url(text: str) -> str:
    url = _url("http", "https")(text)
    parts = urlsplit(url)
    if not parts.hostname or parts.query or parts.fragment:
        raise ValueError
    return url.rstrip("/")


def _key(text: str) -> str:
    if len(text) < limits.SECRET_KEY_MIN_CHARACTERS:
        raise ValueError
    return text


def _rate(text: str) -> int | None:
    return None if text == "off" else _positive(text)


def _positive(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,17}", text):
        raise ValueError
    return int(text)


def _size(text: str) -> int:
    match = re.fullmatch(r"([0-9]+) ?(KiB|MiB)?", text)
    if match is None:
        raise ValueError
    return _positive(match[1]) * {None: 1, "KiB": 1024, "MiB": 1024**2}[match[2]]


def _log_format(text: str) -> Literal["text", "json"]:
    if text not in ("text", "json"):
        raise ValueError
    return cast('Literal["text", "json"]', text)


def _addresses(text: str) -> tuple[Address, ...]:
    return tuple(_address(each.strip()) for each in text.split(",") if each.strip())


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError
    if not host or _positive(port) > 65535 or re.search(r"[\s/@]", host):
        raise ValueError
    return Address(host.lower(), int(port))


def _metrics(text: str) -> Literal["on", "off"] | Address:
    return cast('Literal["on", "off"]', text) if text in ("on", "off") else _address(text)


@dataclass(frozen=True)
class Settings:
    """What was said; None where nothing was and there is no fixed default."""

    data_dir: Path = _setting(  # noqa: RUF009 - it makes a field
        _folder,
        "./data",
        accepts="a folder",
        help="Where the embedded database, attachments and keys are kept.",
    )
    database_url: str | None = _setting(
        _url("postgresql", "postgres", "sqlite"),
        "",
        accepts="postgresql://user:password@host:port/name or sqlite:///path",
        help="The database: `postgresql://…` for PostgreSQL.",
        shown_default="SQLite in the data folder",
    )
    public_url: str | None = _setting(
        _web_url,
        "",
        accepts="an http:// or https:// URL without query",
        help="The address under which clients reach Deskwire; links in answers begin with it.",
        shown_default="the address it listens on",
    )
    secret_key: str | None = _setting(
        _key,
        "",
        accepts=f"a text of {limits.SECRET_KEY_MIN_CHARACTERS} characters or more",
        help="What cursors, links and sessions are signed with. "
        "Needed with PostgreSQL, the same in every process.",
        shown_default="made once and kept in the data folder",
    )
    smtp_url: str | None = _setting(
        _url("smtp", "smtps"),
        "",
        accepts="smtp://user:password@host:port?from=address or smtps://…",
        help="The mail server for notices; `?from=ADDRESS` says who sends them. "
        "Without one they are logged and kept for the dashboard.",
        shown_default="none",
    )
    rate_limit: int | None = _setting(
        _rate, "off", accepts="a positive integer or off", help="Requests a minute that one token may make."
    )
    max_body: int = _setting(
        _size,
        "1MiB",
        accepts="a positive number of bytes, or one with KiB or MiB such as 512KiB",
        help="The largest request body.",
    )
    log: Literal["text", "json"] = _setting(
        _log_format, "text", accepts="text or json", help="The form of the log lines on standard error."
    )
    webhook_allow: tuple[Address, ...] = _setting(
        _addresses,
        ",",
        accepts="a comma-separated list of host:port",
        help="Where deliveries may go in spite of the URL rules, over http and to private addresses too. "
        "For development and tests.",
        shown_default="none",
    )
    attachments_url: str | None = _setting(
        _url("s3", "gs", "az", "file"),
        "",
        accepts="s3://bucket/prefix, gs://bucket/prefix, az://container/prefix or file:///folder",
        help="Where attachment bytes are kept.",
        shown_default="the folder `attachments` in the data folder",
    )
    metrics: Literal["on", "off"] | Address = _setting(  # noqa: RUF009 - it makes a field
        _metrics,
        "on",
        accepts="on, off or host:port",
        help="`on`: `/metrics` on the API's port; `off`: nowhere; `HOST:PORT`: there and only there.",
    )

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir / DATABASE_NAME}"

    @property
    def is_postgresql(self) -> bool:
        return self.database.startswith("postgres")

    @property
    def attachments(self) -> str:
        return self.attachments_url or (self.data_dir / "attachments").absolute().as_uri()


def load(environ: Mapping[str, str], options: Mapping[str, str | None]) -> Settings:
    """Options, keyed by field name, override the environment; what is empty counts as not said."""
    known = {variable_of(each): each for each in fields(Settings)}
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known.keys() | TEST_VARIABLES:
            raise SettingsError(f"{name} is not a setting; the settings are {', '.join(known)}")
    values: dict[str, object] = {}
    for variable, setting in known.items():
        if option := options.get(setting.name):
            values[setting.name] = _read(setting, option_of(setting), option, OptionError)
        elif text := environ.get(variable):
            values[setting.name] = _read(setting, variable, text, SettingsError)
    return Settings(**values)  # type: ignore[arg-type]


def load_given(options: Mapping[str, str]) -> Settings:
    """Under this process's environment; the options are keyed as they are typed, without their dashes."""
    return load(os.environ, {name.replace("-", "_"): text for name, text in options.items()})


def _read(setting: Field[object], said_as: str, text: str, refusal: type[SettingsError]) -> object:
    try:
        # What is not UTF-8 comes as halves of surrogate pairs.
        text.encode()
        return setting.metadata["parse"](text)
    except ValueError:
        # The value is not repeated: it may be a key or hold a password.
        raise refusal(f"{said_as} must be {setting.metadata['accepts']}") from None


def variable_of(setting: Field[Any]) -> str:
    return PREFIX + setting.name.upper()


def option_of(setting: Field[Any]) -> str:
    return "--" + setting.name.replace("_", "-")


def render_table() -> str:
    """The table of the documentation, in Markdown."""
    rows = [
        f"| `{variable_of(each)}` | `{option_of(each)}` | {_default(each)} | {each.metadata['help']} |"
        for each in fields(Settings)
    ]
    return "\n".join(["| variable | option | default | meaning |", "|---|---|---|---|", *rows, ""])


def _default(setting: Field[Any]) -> str:
    default = str(setting.metadata["default"])
    return default if " " in default or default == "none" else f"`{default}`"


if __name__ == "__main__":
    print(render_table(), end="")
