"""What can be found by searching messages, and what a result shows."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from deskwire.model.limits import INDEXED_CHARACTERS
from deskwire.model.messages import MessageRecord
from deskwire.model.moments import Moment
from deskwire.model.shapes import Id, Shown
from deskwire.model.text import terms
from deskwire.model.vocabulary import UNSEARCHED_SENDERS, ContentType, SenderType

TERM_PREFIX_CHARACTERS = 3


class SearchResult(Shown, kw_only=True):
    message_id: Id
    channel_id: Id
    contact_id: Id | UnsetType = UNSET
    sender_type: SenderType
    sender_name: str
    content_type: ContentType
    snippet: Annotated[
        str, Meta(description="HTML: the matches are marked by `<em>`, everything else is escaped.")
    ]
    created_at: Moment


def term_prefix(workspace_id: str) -> str:
    """Keeps the terms of one workspace apart from most others'; results are checked for the rest."""
    return workspace_id[-TERM_PREFIX_CHARACTERS:]


def is_searchable(message: MessageRecord) -> bool:
    from_system = message.sender_type in UNSEARCHED_SENDERS or message.content_type == "system"
    return message.visible() and not from_system


def message_terms(workspace_id: str, message: MessageRecord) -> str:
    if not is_searchable(message):
        return ""
    return terms(term_prefix(workspace_id), message.content[:INDEXED_CHARACTERS])
