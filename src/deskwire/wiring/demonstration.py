"""`serve --demo`: a database of its own with a lifelike workspace, and a token to look at it with."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from deskwire.desk import workspaces
from deskwire.wiring.opening import OpenHouse, open_house
from deskwire.wiring.settings import Settings, SettingsError

FOLDER = "demo"
OWNER_EMAIL = "owner@example.com"

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
        if found:
            workspace_id = found[0].id
            return lambda url: again(url, workspace_id, said.data_dir)
        secret = await fill(house)
        return lambda url: welcome(url, secret)


async def fill(house: OpenHouse) -> str:
    """The token's secret. It is made last, so that a start that was cut short begins anew."""
    raise NotImplementedError


def welcome(url: str, secret: str) -> str:
    return f"""
This demo workspace has a token with every scope; it is shown only now:

    {secret}

Try it:

    curl -H 'Authorization: Bearer {secret}' '{url}/api/public/v1/channels?limit=3'

The reference is at {url}/docs"""


def again(url: str, workspace_id: str, data_dir: Path) -> str:
    return f"""
The demo workspace of an earlier start is in {data_dir}; its token was shown then. Another one:

    deskwire token create --workspace {workspace_id} --name demo --all-scopes --data-dir {data_dir}

The reference is at {url}/docs"""
