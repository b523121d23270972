"""Issuing, listing, rotating and revoking access tokens."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from deskwire.cli.house import Invocation, OpenHouse
from deskwire.cli.operation import run_open, run_read, run_write
from deskwire.cli.output import print_json, print_rows, print_table, time_text
from deskwire.desk.tokens import NewToken, create_token, list_tokens, revoke_token, rotate_token
from deskwire.model.limits import TOKEN_CACHE_S
from deskwire.model.moments import Moment
from deskwire.model.scopes import SCOPES
from deskwire.model.tokens import Token
from deskwire.store.transaction import Tx

T = TypeVar("T")


def create(
    invocation: Invocation,
    *,
    workspace: str,
    name: str,
    scope: tuple[str, ...],
    more_scopes: tuple[str, ...],
    all_scopes: bool,
    expires_in: int | None,
    json: bool,
) -> None:
    scopes = chosen_scopes(scope, more_scopes, all_scopes)
    new = run_write(invocation, lambda tx: create_token(tx, workspace, name, scopes, expires_in))
    show_new(new, json)


def show_all(invocation: Invocation, *, workspace: str | None, json: bool) -> None:
    async def find(tx: Tx) -> tuple[list[Token], Moment]:
        return await list_tokens(tx, workspace), tx.now

    tokens, now = run_read(invocation, find)
    if json:
        print_json({"tokens": [described(token, now) for token in tokens]})
    elif tokens:
        header = ("ID", "WORKSPACE", "PREFIX", "STATE", "EXPIRES", "SCOPES", "NAME")
        print_table(header, [row_of(token, now) for token in tokens])
    else:
        click.echo("There are no tokens.")


def rotate(invocation: Invocation, *, id: str, json: bool) -> None:
    show_new(end_secret(invocation, lambda tx: rotate_token(tx, id)), json)


def revoke(invocation: Invocation, *, id: str, json: bool) -> None:
    async def end(tx: Tx) -> tuple[Token, Moment]:
        return await revoke_token(tx, id), tx.now

    token, now = end_secret(invocation, end)
    if json:
        print_json(described(token, now))
    else:
        click.echo(f"The token {token.prefix}… is revoked since {time_text(token.revoked_at, '')}.")


def end_secret(invocation: Invocation, operation: Callable[[Tx], Awaitable[T]]) -> T:
    """Returns when no process takes the old secret any more, not even one that was looking it up."""

    async def end(house: OpenHouse) -> T:
        ended = await house.store.write(operation)
        await asyncio.sleep(2 * TOKEN_CACHE_S)
        return ended

    return run_open(invocation, end)


def chosen_scopes(scope: tuple[str, ...], more_scopes: tuple[str, ...], all_scopes: bool) -> list[str]:
    if all_scopes and not scope and not more_scopes:
        return list(SCOPES)
    if all_scopes or not scope:
        raise click.UsageError("Give either --scope or --all-scopes.", click.get_current_context())
    return [*scope, *more_scopes]


def show_new(new: NewToken, json: bool) -> None:
    token = new.token
    if json:
        print_json(
            {
                "id": token.id,
                "token": new.secret,
                "prefix": token.prefix,
                "scopes": scopes_of(token),
                "expires_at": token.expires_at,
            }
        )
        return
    print_rows(
        [
            ("id", token.id),
            ("token", new.secret),
            ("scopes", ", ".join(scopes_of(token))),
            ("expires", time_text(token.expires_at, "never")),
        ]
    )
    click.echo("Keep the token now: it is not shown again.")


def described(token: Token, now: int) -> dict[str, str | list[str] | Moment | None]:
    return {
        "id": token.id,
        "workspace_id": token.workspace_id,
        "name": token.name,
        "prefix": token.prefix,
        "scopes": scopes_of(token),
        "state": token.state(now),
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
    }


def row_of(token: Token, now: int) -> tuple[str, ...]:
    return (
        token.id,
        token.workspace_id,
        token.prefix,
        token.state(now),
        time_text(token.expires_at, "never"),
        str(len(token.scopes)),
        token.name,
    )


def scopes_of(token: Token) -> list[str]:
    return [scope for scope in SCOPES if scope in token.scopes]
