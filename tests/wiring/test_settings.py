"""The configuration, read and refused."""

import multiprocessing
from pathlib import Path

import pytest

from deskwire.cli.house import SettingsError
from deskwire.wiring.keys import secret_key
from deskwire.wiring.settings import Address, Settings, load, render_table


def test_nothing_said_gives_the_defaults() -> None:
    settings = load({"PATH": "/bin"}, {})
    assert settings == Settings()
    assert settings.data_dir == Path("data")
    assert settings.database == "sqlite:///data/deskwire.db"
    assert (settings.rate_limit, settings.max_body, settings.log) == (None, 1024**2, "text")
    assert (settings.webhook_allow, settings.metrics) == ((), "on")
    assert settings.attachments == f"file://{Path.cwd()}/data/attachments"


def test_an_option_overrides_the_environment() -> None:
    environ = {"DESKWIRE_MAX_BODY": "512KiB", "DESKWIRE_LOG": "json"}
    settings = load(environ, {"max_body": "7", "log": None})
    assert (settings.max_body, settings.log) == (7, "json")


def test_what_is_empty_counts_as_not_said() -> None:
    assert load({"DESKWIRE_SECRET_KEY": "", "DESKWIRE_LOG": ""}, {"log": ""}) == Settings()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_body", "1", 1),
        ("max_body", "512KiB", 524288),
        ("max_body", "2 MiB", 2097152),
        ("rate_limit", "600", 600),
        ("rate_limit", "off", None),
        ("public_url", "https://desk.example/base/", "https://desk.example/base"),
        ("database_url", "postgresql://u:p@h:5432/d", "postgresql://u:p@h:5432/d"),
        ("webhook_allow", "Localhost:9000, [::1]:80,", (Address("localhost", 9000), Address("::1", 80))),
        ("attachments_url", "s3://bucket/prefix", "s3://bucket/prefix"),
        ("metrics", "off", "off"),
        ("metrics", "127.0.0.1:9100", Address("127.0.0.1", 9100)),
        ("smtp_url", "smtp://u:p@mail:25", "smtp://u:p@mail:25"),
    ],
)
def test_a_value_is_read(name: str, text: str, value: object) -> None:
    assert getattr(load({}, {name: text}), name) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_body", "0"),
        ("max_body", "-1"),
        ("max_body", "1_0"),
        ("max_body", "1MB"),
        ("max_body", "٣"),
        ("rate_limit", "0"),
        ("rate_limit", "1.5"),
        ("rate_limit", "on"),
        ("log", "xml"),
        ("secret_key", "short-and-dear"),
        ("public_url", "desk.example"),
        ("public_url", "https://"),
        ("public_url", "https://a/?q"),
        ("database_url", "mysql://h/d"),
        ("database_url", "sqlite:///"),
        ("database_url", "postgresql://h:port/d"),
        ("smtp_url", "http://mail"),
        ("webhook_allow", "localhost"),
        ("webhook_allow", "localhost:0"),
        ("webhook_allow", "localhost:65536"),
        ("webhook_allow", "::1:80"),
        ("attachments_url", "ftp://h/x"),
        ("metrics", "yes"),
    ],
)
def test_an_unreadable_value_is_one_line_that_names_the_setting(name: str, text: str) -> None:
    variable = f"DESKWIRE_{name.upper()}"
    with pytest.raises(SettingsError, match=f"^{variable} must be [^\n]+$") as raised:
        load({variable: text}, {})
    assert "short-and-dear" not in str(raised.value)
    with pytest.raises(SettingsError, match=f"^--{name.replace('_', '-')} must be "):
        load({}, {name: text})


def test_an_unknown_variable_is_named_and_one_for_tests_is_not() -> None:
    with pytest.raises(
        SettingsError, match=r"^DESKWIRE_MAXBODY is not a setting; the settings are DESKWIRE_DATA_DIR"
    ):
        load({"DESKWIRE_MAXBODY": "1"}, {})
    with pytest.raises(SettingsError, match=r"^DESKWIRE_TEST_FOO is not a setting"):
        load({"DESKWIRE_TEST_FOO": "1"}, {})
    assert load({"DESKWIRE_TEST_CITUS_URL": "postgresql://"}, {}) == Settings()


@pytest.mark.parametrize(
    ("name", "text"),
    [("SECRET_KEY", "k" * 40 + "\udcff"), ("PUBLIC_URL", "http://h\udcff/"), ("WEBHOOK_ALLOW", "h\udcff:80")],
)
def test_a_value_that_is_no_utf_8_is_refused_by_its_name(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"^DESKWIRE_{name} must be "):
        load({f"DESKWIRE_{name}": text}, {})


def test_no_secret_is_shown_when_settings_are_printed() -> None:
    settings = load({"DESKWIRE_SECRET_KEY": "k" * 32, "DESKWIRE_DATABASE_URL": "postgresql://u:pass@h/d"}, {})
    assert "kkk" not in repr(settings)
    assert "pass" not in repr(settings)


def test_the_table_has_a_row_for_each_setting() -> None:
    table = render_table()
    assert "| `DESKWIRE_MAX_BODY` | `--max-body` | `1MiB` | The largest request body. |\n" in table
    assert table.count("\n") == 2 + len(Settings.__dataclass_fields__)


def test_a_configured_key_is_used() -> None:
    assert secret_key(load({"DESKWIRE_SECRET_KEY": "é" * 32}, {})) == "é".encode() * 32


def test_postgresql_needs_a_key() -> None:
    with pytest.raises(SettingsError, match="DESKWIRE_SECRET_KEY is needed with PostgreSQL"):
        secret_key(load({"DESKWIRE_DATABASE_URL": "postgresql://h/d"}, {}))


def test_an_absent_key_is_made_once_and_kept_from_others(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "new" / "data")
    key = secret_key(settings)
    assert len(key) == 64
    assert secret_key(settings) == key
    assert (settings.data_dir / "secret.key").stat().st_mode & 0o777 == 0o600


def test_processes_that_start_at_once_agree_on_the_key(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert len(set(pool.map(secret_key, [settings] * 16))) == 1


def test_a_key_left_half_written_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_text("abc")
    assert len(secret_key(Settings(data_dir=tmp_path))) == 64


def test_a_damaged_key_and_a_folder_that_cannot_be_are_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_text("abc\n")
    with pytest.raises(SettingsError, match="too short"):
        secret_key(Settings(data_dir=tmp_path))
    with pytest.raises(SettingsError, match=r"cannot be kept in .*: Not a directory"):
        secret_key(Settings(data_dir=tmp_path / "secret.key" / "data"))
