"""`serve --demo`: a database of its own with a lifelike workspace, and a token to look at it with."""

import logging
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from deskwire import demo
from deskwire.cli.house import SettingsError
from deskwire.demo.webhooks import make_webhooks
from deskwire.desk import tokens, workspaces
from deskwire.desk.importing import import_file
from deskwire.desk.sealing import Seal
from deskwire.model.scopes import SCOPES
from deskwire.store.transaction import Tx
from deskwire.wiring.keys import webhook_seal
from deskwire.wiring.opening import OpenHouse, open_house
from deskwire.wiring.settings import Settings

logger = logging.getLogger("deskwire.demo")

FOLDER = "demo"

Introduction = Callable[[str], str]


def settings_of(said: Settings) -> Settings:
    """Those of the demo: whatever database is configured, it is not touched."""
    if said.database_url is not None:
        raise SettingsError("--demo has an embedded database of its own: leave DESKWIRE_DATABASE_URL out")
    return replace(said, data_dir=said.data_dir / FOLDER)


async def prepare(said: Settings) -> Introduction:
    """Fills the database at the first start; answers what to say when the API's address is known."""
    async with open_house(said) as house:
        found = await house.store.read(workspaces.list_workspaces)
        workspace_id = found[0].id if found else None
        issued = await house.store.read(lambda tx: tokens.list_tokens(tx, workspace_id))
        if workspace_id is not None and issued:
            return lambda url: again(url, workspace_id, said.data_dir)
        secret = await fill(house, webhook_seal(said), workspace_id)
        return lambda url: welcome(url, secret)


async def fill(house: OpenHouse, seal: Seal, workspace_id: str | None) -> str:
    """The secret of the demo's token, which is made last: a start that was cut short begins anew."""
    now = datetime.now(UTC)
    logger.info("making the demo workspace")
    with tempfile.TemporaryDirectory() as folder:
        path = demo.write(Path(folder), now)
        if workspace_id is None:
            email = owner_email(path)
            made = await house.store.write(lambda tx: workspaces.create_workspace(tx, "Demo", email))
            workspace_id = made.workspace_id
        await import_file(
            house.store, house.files, workspace_id, path, check_only=False, progress=lambda *_: None
        )

    async def finish(tx: Tx) -> str:
        await make_webhooks(tx, workspace_id, seal)
        return (await tokens.create_token(tx, workspace_id, "demo", list(SCOPES), None)).secret

    return await house.store.write(finish)


def owner_email(path: Path) -> str:
    """The owner that comes with the workspace gives way to the demo's, who has the same address."""
    with path.open("rb") as lines:
        records = map(msgspec.json.decode, lines)
        return next(str(each["email"]) for each in records if each.get("role") == "owner")


def welcome(url: str, secret: str) -> str:
    return f"""

This demo workspace has a token with every scope; it is shown only now:

    {secret}

Try it:

    curl -H 'Authorization: Bearer {secret}' '{url}/api/public/v1/channels?limit=3'

The reference is at {url}/docs"""


def again(url: str, workspace_id: str, data_dir: Path) -> str:
    folder = data_dir.absolute()
    create = ["token", "create", "--workspace", workspace_id, "--name", "demo", "--all-scopes"]
    return f"""

The demo workspace of an earlier start is in {folder}; its token was shown then. Another one:

    {shlex.join([program(), *create, "--data-dir", str(folder)])}

The reference is at {url}/docs"""


def program() -> str:
    """What to type to run this program, from wherever that is."""
    return "deskwire" if shutil.which("deskwire") else str(Path(sys.argv[0]).absolute())
