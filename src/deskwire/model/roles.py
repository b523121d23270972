"""What a member may do, by role."""

from typing import Literal

from deskwire.model.vocabulary import Role

Permission = Literal["channel:operate", "message:write", "integration:manage"]

PERMISSIONS: dict[Role, frozenset[Permission]] = {
    "owner": frozenset({"channel:operate", "message:write", "integration:manage"}),
    "admin": frozenset({"channel:operate", "message:write", "integration:manage"}),
    "agent": frozenset({"channel:operate", "message:write"}),
    "viewer": frozenset(),
}


def may(role: Role, permission: Permission) -> bool:
    return permission in PERMISSIONS[role]
