"""The scopes of access tokens, and what each one grants in a sentence."""

SCOPES: dict[str, str] = {
    "workspaces:read": "Read the workspace. Every token has it.",
    "members:read": "List and read members.",
    "teams:read": "List teams and their members.",
    "contacts:read": "List, search and read contacts and their tags.",
    "contact-tags:read": "List the contact tag catalogue.",
    "channel-tags:read": "List the channel tag catalogue.",
    "channels:read": "List and read channels.",
    "messages:read": "Read messages; listing those of a channel also needs channels:read.",
    "attachments:read": "Download attachments; also needs messages:read.",
    "macros:read": "List macros.",
    "hours:read": "Read the business hours.",
    "integrations:read": "List integrations.",
    "campaigns:read": "List and read campaigns.",
    "tasks:read": "List and read tasks.",
    "search:read": "Search message bodies.",
    "inbound-webhook-configs:read": "List inbound webhook configurations.",
    "workflows:read": "List workflows.",
    "ai-agents:read": "Read the AI agent setting.",
    "voice:read": "List voice calls.",
    "messages:write": "Send replies.",
    "channels:write": "Mark channels read, close, reopen, assign and tag them.",
    "contacts:write": "Create and update contacts, tag them, set their SMS consent.",
    "webhooks:read": "Read outbound webhooks and their delivery logs.",
    "webhooks:write": "Register and manage outbound webhooks.",
}

ALWAYS_GRANTED = "workspaces:read"


def granted(requested: list[str]) -> list[str]:
    """The scopes of a new token, in the order of the table; raises ValueError for one that is unknown."""
    for scope in requested:
        if scope not in SCOPES:
            raise ValueError(f"{scope!r} is not a scope; the scopes are {', '.join(SCOPES)}")
    wanted = {ALWAYS_GRANTED, *requested}
    return [scope for scope in SCOPES if scope in wanted]
