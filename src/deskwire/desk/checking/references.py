"""References: each has to lead to a row of the same workspace."""

from collections.abc import AsyncIterator
from typing import NamedTuple

from sqlalchemy import Column, Table, and_, bindparam, select

from deskwire.store import tables
from deskwire.store.statement import Statement
from deskwire.store.transaction import Tx

# When more than these lead nowhere, a person needs no further line to see what happened.
SHOWN_REFERENCES = 1_000


class Reference(NamedTuple):
    table: Table
    field: str
    statement: Statement


def reference(table: Table, field: str, referred: Table) -> Reference:
    column: Column[str] = table.c[field]
    # A row may refer to another one of its own table.
    parent = referred.alias("parent")
    workspace: Column[str] = table.c["id" if table is tables.WORKSPACES else "workspace_id"]
    key = [part for part in table.primary_key if part is not workspace or table is tables.WORKSPACES]
    return Reference(
        table,
        field,
        Statement(
            select(column, *key)
            .outerjoin(parent, and_(parent.c.workspace_id == workspace, parent.c.id == column))
            .where(workspace == bindparam("workspace_id"), column.is_not(None), parent.c.id.is_(None))
            .order_by(*key)
            .limit(bindparam("limit"))
        ),
    )


REFERENCES = [
    reference(tables.WORKSPACES, "owner_member_id", tables.MEMBERS),
    reference(tables.TEAM_MEMBERS, "team_id", tables.TEAMS),
    reference(tables.TEAM_MEMBERS, "member_id", tables.MEMBERS),
    reference(tables.CONTACT_EXTERNAL_IDS, "contact_id", tables.CONTACTS),
    reference(tables.CONTACT_TAG_LINKS, "contact_id", tables.CONTACTS),
    reference(tables.CONTACT_TAG_LINKS, "tag_id", tables.CONTACT_TAGS),
    reference(tables.CONTACTS, "merged_into", tables.CONTACTS),
    reference(tables.SMS_CONSENTS, "contact_id", tables.CONTACTS),
    reference(tables.CHANNELS, "contact_id", tables.CONTACTS),
    reference(tables.CHANNELS, "assigned_member_id", tables.MEMBERS),
    reference(tables.CHANNEL_TAG_LINKS, "channel_id", tables.CHANNELS),
    reference(tables.CHANNEL_TAG_LINKS, "tag_id", tables.CHANNEL_TAGS),
    reference(tables.MESSAGES, "channel_id", tables.CHANNELS),
    reference(tables.MESSAGE_ATTACHMENTS, "message_id", tables.MESSAGES),
    reference(tables.MESSAGE_ATTACHMENTS, "attachment_id", tables.ATTACHMENTS),
    reference(tables.READ_POSITIONS, "channel_id", tables.CHANNELS),
    reference(tables.READ_POSITIONS, "member_id", tables.MEMBERS),
    reference(tables.READ_POSITIONS, "message_id", tables.MESSAGES),
    reference(tables.TASKS, "team_id", tables.TEAMS),
    reference(tables.TASKS, "channel_id", tables.CHANNELS),
    reference(tables.TASKS, "assignee_id", tables.MEMBERS),
    reference(tables.MACROS, "team_id", tables.TEAMS),
]


async def check_references(tx: Tx, workspace_id: str) -> AsyncIterator[str]:
    for table, field, statement in REFERENCES:
        for named, *key in await tx.all(statement, workspace_id=workspace_id, limit=SHOWN_REFERENCES):
            where = f"{table.name} {' '.join(map(str, key))}: {field}"
            yield f"{where} is {named!s} and should be the id of a row that is there"
