"""The statements that lead from one version of the schema to another, as Alembic writes them."""

import io
from pathlib import Path

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError as UnknownVersion

__all__ = ["MIGRATIONS", "UnknownVersion", "script"]

MIGRATIONS = Path(__file__).parent / "migrations"


def script(dialect: str, version: str | None, target: str = "head") -> str:
    """The statements that lead from a version of the schema to another one, to this program's unless told."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    directory = ScriptDirectory.from_config(config)
    written = io.StringIO()
    with EnvironmentContext(
        config,
        directory,
        fn=lambda current, _context: directory._upgrade_revs(target, current),
        as_sql=True,
        starting_rev=version,
        destination_rev=target,
    ) as environment:
        environment.configure(
            dialect_name=dialect,
            output_buffer=written,
            dialect_opts={"paramstyle": "named"},
            transactional_ddl=False,
        )
        environment.run_migrations()
    return written.getvalue()
