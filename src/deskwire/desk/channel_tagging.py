"""Adding tags to a channel and removing them."""

from collections.abc import Sequence

from deskwire.desk import audit
from deskwire.desk.conversation import Conversation, keep, operate_on
from deskwire.desk.dictionary import CHANNEL_TAGS
from deskwire.model.errors import DeskError
from deskwire.model.limits import CHANNEL_TAGS as MOST_TAGS
from deskwire.model.tokens import Token
from deskwire.store.transaction import Tx


async def add_tags(
    tx: Tx,
    token: Token,
    channel_id: str,
    actor_member_id: str,
    names: Sequence[str],
    tag_ids: Sequence[str],
) -> bytes:
    """A name that is not in the dictionary is added to it; an id that is not there is passed over."""
    workspace_id = token.workspace_id
    conversation = await operate_on(tx, workspace_id, channel_id, actor_member_id)
    named = await CHANNEL_TAGS.names_of(tx, workspace_id, tag_ids)
    requested = list(dict.fromkeys([*names, *named]))
    new = [name for name in requested if name not in conversation.channel.tags]
    if new and len(conversation.channel.tags) + len(new) > MOST_TAGS:
        raise DeskError(
            "TAG_LIMIT_EXCEEDED",
            f"A conversation has at most {MOST_TAGS} tags; this one would have "
            f"{len(conversation.channel.tags) + len(new)}.",
        )
    if new:
        tags = await CHANNEL_TAGS.find_or_make(tx, workspace_id, new)
        await CHANNEL_TAGS.link(
            tx,
            workspace_id,
            channel_id,
            [tags[name] for name in new],
            channel_created_at=conversation.channel.created_at,
        )
        conversation.channel.tags = [*conversation.channel.tags, *new]
        kept = await keep(tx, conversation)
        await note(tx, token, "conversation tag add (API)", conversation, actor_member_id, requested)
        return kept.document
    return conversation.document


async def remove_tags(
    tx: Tx, token: Token, channel_id: str, actor_member_id: str, names: Sequence[str]
) -> bytes:
    """A tag that is not attached is no error, and none leaves the dictionary."""
    workspace_id = token.workspace_id
    conversation = await operate_on(tx, workspace_id, channel_id, actor_member_id)
    requested = list(dict.fromkeys(names))
    gone = [name for name in requested if name in conversation.channel.tags]
    if gone:
        tags = await CHANNEL_TAGS.find(tx, workspace_id, gone)
        await CHANNEL_TAGS.unlink(tx, workspace_id, channel_id, tags.values())
        conversation.channel.tags = [name for name in conversation.channel.tags if name not in gone]
        kept = await keep(tx, conversation)
        await note(tx, token, "conversation tag remove (API)", conversation, actor_member_id, requested)
        return kept.document
    return conversation.document


async def note(
    tx: Tx,
    token: Token,
    action: audit.Action,
    conversation: Conversation,
    actor_member_id: str,
    requested: Sequence[str],
) -> None:
    await audit.record(
        tx,
        token.workspace_id,
        action,
        conversation.channel.id,
        actor_member_id,
        token.id,
        requested,
        conversation.channel.tags,
    )
