"""By which terms contacts and messages are found, and what a result of a search shows."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from deskwire.model.contact_text import terms_of_fields
from deskwire.model.contacts import ContactRecord
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


def contact_terms(workspace_id: str, contact: ContactRecord) -> str:
    if not contact.visible():
        return ""
    return terms_of_fields(term_prefix(workspace_id), contact.name, contact.email, contact.phone)


def message_terms(workspace_id: str, message: MessageRecord) -> str:
    if not is_searchable(message):
        return ""
    return terms(term_prefix(workspace_id), message.content[:INDEXED_CHARACTERS])
