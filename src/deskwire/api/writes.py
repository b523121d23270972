"""The rows of the table that change something."""

from typing import TypeVar

from msgspec import UNSET, UnsetType, json

from deskwire.api.bodies import (
    Acting,
    Assignment,
    ChannelTagsBody,
    ContactChanges,
    ContactTags,
    NewContact,
    ReadMark,
    ReplyBody,
    SmsConsent,
)
from deskwire.api.endpoint import Answers, Call, Endpoint, Made
from deskwire.api.parameters import RemovedChannelTagsQuery, RemovedTagsQuery
from deskwire.desk import channel_tagging, contact_changes, conversations, replies
from deskwire.model.channels import Channel
from deskwire.model.contacts import Contact
from deskwire.model.messages import SentMessage
from deskwire.store.transaction import Tx

T = TypeVar("T")


async def create_contact(tx: Tx, call: Call) -> Made:
    body: NewContact = call.body
    document = await contact_changes.create_contact(
        tx, call.workspace_id, given(body.external_id), given(body.email), given(body.phone), given(body.name)
    )
    return Made(document)


async def update_contact(tx: Tx, call: Call) -> bytes:
    body: ContactChanges = call.body
    changes = contact_changes.Changes(given(body.email), given(body.phone), given(body.name))
    return await contact_changes.update_contact(tx, call.workspace_id, call.id, changes)


async def add_contact_tags(tx: Tx, call: Call) -> bytes:
    body: ContactTags = call.body
    return await contact_changes.add_tags(tx, call.workspace_id, call.id, body.tags)


async def remove_contact_tags(tx: Tx, call: Call) -> bytes:
    query: RemovedTagsQuery = call.query
    return await contact_changes.remove_tags(tx, call.workspace_id, call.id, query.name)


async def set_sms_consent(tx: Tx, call: Call) -> None:
    body: SmsConsent = call.body
    await contact_changes.set_sms_consent(tx, call.token, call.id, body.opted_in, given(body.reason))


async def send_reply(tx: Tx, call: Call) -> Made | bytes:
    body: ReplyBody = call.body
    client_request_id = given(body.client_request_id)
    reply = replies.Reply(
        "markdown" if body.content_type == "markdown" else "text",
        body.content,
        lowered(given(body.sender_member_id)),
        client_request_id,
    )
    sent = await replies.send_reply(tx, call.token, call.id, reply)
    document = answered(sent, client_request_id)
    return document if sent.deduplicated else Made(document)


def answered(sent: replies.Sent, client_request_id: str | None) -> bytes:
    """The message as the answer to a send shows it: with what was said of the sending."""
    named = b""
    if client_request_id is not None:
        named = b',"client_request_id":' + json.encode(client_request_id)
    flag = b"true" if sent.deduplicated else b"false"
    return sent.document[:-1] + named + b',"deduplicated":' + flag + b"}"


async def mark_read(tx: Tx, call: Call) -> None:
    body: ReadMark = call.body
    await conversations.mark_read(
        tx, call.workspace_id, call.id, body.actor_member_id.lower(), given(body.message_id)
    )


async def close(tx: Tx, call: Call) -> bytes:
    body: Acting = call.body
    return await conversations.close(tx, call.workspace_id, call.id, body.actor_member_id.lower())


async def reopen(tx: Tx, call: Call) -> bytes:
    body: Acting = call.body
    return await conversations.reopen(tx, call.workspace_id, call.id, body.actor_member_id.lower())


async def assign(tx: Tx, call: Call) -> bytes:
    body: Assignment = call.body
    return await conversations.assign(
        tx, call.workspace_id, call.id, body.actor_member_id.lower(), body.member_id
    )


async def add_channel_tags(tx: Tx, call: Call) -> bytes:
    body: ChannelTagsBody = call.body
    return await channel_tagging.add_tags(
        tx,
        call.token,
        call.id,
        body.actor_member_id.lower(),
        given(body.tags) or [],
        [id.lower() for id in given(body.tag_ids) or []],
    )


async def remove_channel_tags(tx: Tx, call: Call) -> bytes:
    query: RemovedChannelTagsQuery = call.query
    return await channel_tagging.remove_tags(tx, call.token, call.id, query.actor_member_id, query.name)


def given(value: T | UnsetType) -> T | None:
    return None if value is UNSET else value


def lowered(id: str | None) -> str | None:
    return None if id is None else id.lower()


WRITES: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/contacts",
        scopes=("contacts:write",),
        body=NewContact,
        status=201,
        is_idempotent=True,
        answers=Answers.OBJECT,
        shows=Contact,
        operation=create_contact,
        summary="Create a contact",
        description=(
            "Without an `external_id` a repeated request makes a second contact, unless it carries the same "
            "`Idempotency-Key`."
        ),
        errors=("CONFLICT",),
    ),
    Endpoint(
        method="PATCH",
        path="/contacts/{id}",
        scopes=("contacts:write",),
        body=ContactChanges,
        answers=Answers.OBJECT,
        shows=Contact,
        operation=update_contact,
        summary="Change a contact",
        description=(
            "Only what is sent changes; null changes nothing, and an empty text takes a value away. The "
            "`external_id` cannot be changed."
        ),
        noun="contact",
        errors=("NOT_FOUND",),
    ),
    Endpoint(
        method="POST",
        path="/contacts/{id}/tags",
        scopes=("contacts:write",),
        body=ContactTags,
        answers=Answers.OBJECT,
        shows=Contact,
        operation=add_contact_tags,
        summary="Add tags to a contact",
        description="Tags that it has already stay; names that are new are added to the catalogue.",
        noun="contact",
        errors=("NOT_FOUND", "TAG_LIMIT_EXCEEDED"),
    ),
    Endpoint(
        method="DELETE",
        path="/contacts/{id}/tags",
        scopes=("contacts:write",),
        query=RemovedTagsQuery,
        answers=Answers.OBJECT,
        shows=Contact,
        operation=remove_contact_tags,
        summary="Remove tags from a contact",
        noun="contact",
        errors=("NOT_FOUND",),
    ),
    Endpoint(
        method="PUT",
        path="/contacts/{id}/sms-consent",
        scopes=("contacts:write",),
        body=SmsConsent,
        status=204,
        answers=Answers.NOTHING,
        shows=None,
        operation=set_sms_consent,
        summary="Set a contact's consent to marketing by SMS",
        description="The consent cannot be read through the API.",
        noun="contact",
        errors=("NOT_FOUND",),
    ),
    Endpoint(
        method="POST",
        path="/channels/{id}/messages",
        scopes=("messages:write",),
        body=ReplyBody,
        status=201,
        may_find=True,
        answers=Answers.OBJECT,
        shows=SentMessage,
        operation=send_reply,
        summary="Send a reply",
        description=(
            "A reply goes to a channel in any status and does not change it. The same `client_request_id` "
            "again answers the message that was made first, with 200 and `deduplicated: true`."
        ),
        noun="channel",
        errors=("FORBIDDEN", "NOT_FOUND"),
    ),
    Endpoint(
        method="POST",
        path="/channels/{id}/read",
        scopes=("channels:write",),
        body=ReadMark,
        status=204,
        answers=Answers.NOTHING,
        shows=None,
        operation=mark_read,
        summary="Mark a channel read",
        noun="channel",
        errors=("FORBIDDEN", "NOT_FOUND"),
    ),
    Endpoint(
        method="POST",
        path="/channels/{id}/close",
        scopes=("channels:write",),
        body=Acting,
        answers=Answers.OBJECT,
        shows=Channel,
        operation=close,
        summary="Close a channel",
        description="Closing ends snoozing and the assignment. A closed channel stays as it is.",
        noun="channel",
        errors=("FORBIDDEN", "NOT_FOUND"),
    ),
    Endpoint(
        method="POST",
        path="/channels/{id}/reopen",
        scopes=("channels:write",),
        body=Acting,
        answers=Answers.OBJECT,
        shows=Channel,
        operation=reopen,
        summary="Reopen a channel",
        description="A closed or snoozed channel becomes open.",
        noun="channel",
        errors=("FORBIDDEN", "NOT_FOUND"),
    ),
    Endpoint(
        method="POST",
        path="/channels/{id}/assign",
        scopes=("channels:write",),
        body=Assignment,
        answers=Answers.OBJECT,
        shows=Channel,
        operation=assign,
        summary="Assign a channel",
        description="To a member, or with null to nobody. The acting member needs channel:operate.",
        noun="channel",
        errors=("FORBIDDEN", "NOT_FOUND"),
    ),
    Endpoint(
        method="POST",
        path="/channels/{id}/tags",
        scopes=("channels:write",),
        body=ChannelTagsBody,
        answers=Answers.OBJECT,
        shows=Channel,
        operation=add_channel_tags,
        summary="Add tags to a channel",
        description=(
            "By name or by the id of a dictionary entry; both are merged. Names that are new are added to "
            "the dictionary, ids that are not there are passed over. The acting member needs channel:operate."
        ),
        noun="channel",
        errors=("FORBIDDEN", "NOT_FOUND", "TAG_LIMIT_EXCEEDED"),
    ),
    Endpoint(
        method="DELETE",
        path="/channels/{id}/tags",
        scopes=("channels:write",),
        query=RemovedChannelTagsQuery,
        answers=Answers.OBJECT,
        shows=Channel,
        operation=remove_channel_tags,
        summary="Remove tags from a channel",
        description="The acting member needs channel:operate. No tag leaves the dictionary.",
        noun="channel",
        errors=("FORBIDDEN", "NOT_FOUND"),
    ),
)
