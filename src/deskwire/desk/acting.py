"""Members who act: whether they are there, and may do what they are about to do."""

from deskwire.model.errors import DeskError, not_found
from deskwire.model.ids import parse_id
from deskwire.model.people import MemberRecord
from deskwire.model.roles import Permission, may
from deskwire.store import kinds
from deskwire.store.records import load
from deskwire.store.transaction import Tx


async def find_actor(
    tx: Tx, workspace_id: str, member_id: str, permission: Permission | None = None
) -> MemberRecord:
    member = await load(tx, kinds.MEMBERS, workspace_id, member_id)
    if member is None or not member.active:
        raise DeskError("FORBIDDEN", "The acting member is not an active member of this workspace.")
    if permission is not None and not may(member.role, permission):
        raise DeskError("FORBIDDEN", f"The acting member's role, {member.role}, lacks {permission}.")
    return member


async def find_assignee(tx: Tx, workspace_id: str, member_id: str) -> MemberRecord:
    id = parse_id(member_id)
    member = None if id is None else await load(tx, kinds.MEMBERS, workspace_id, id)
    if member is None or not member.active:
        raise not_found("member")
    return member
