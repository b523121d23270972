"""The records of a small desk, of which examples are made."""

from msgspec import structs

from deskwire.model.channels import ChannelRecord
from deskwire.model.contacts import ContactRecord
from deskwire.model.messages import AttachmentRecord, MessageRecord
from deskwire.model.moments import Moment
from deskwire.model.people import MemberRecord, WorkspaceRecord
from deskwire.model.times import parse_time


def at(text: str) -> Moment:
    return Moment(parse_time(text))


WORKSPACE = WorkspaceRecord(
    id="0194a2f0-3c5e-7b1d-8f42-6d0e9b7a1c35", name="Lindenhof Bikes", created_at=at("2025-01-26T09:14:07Z")
)
MEMBER = MemberRecord(
    id="0194a2f4-91b7-7e08-a6c3-15d2f08e4b79",
    email="jonas.weber@lindenhof.example",
    name="Jonas Weber",
    role="agent",
    status="active",
    avatar_url="https://cdn.lindenhof.example/avatars/jonas.png",
    last_login_at=at("2026-03-05T07:58:41.203117Z"),
    created_at=at("2025-01-26T09:18:52.407000Z"),
    updated_at=at("2026-03-05T07:58:41.203117Z"),
)
CONTACT = ContactRecord(
    id="019530b8-222e-7c97-b419-e30464527084",
    external_id="customer-1042",
    email="mina.park@post.example",
    phone="+49 30 5550142",
    name="Mina Park",
    avatar_url="https://cdn.lindenhof.example/avatars/mina.png",
    is_member=True,
    tags=["vip", "newsletter"],
    last_seen_at=at("2026-03-05T09:41:12.350094Z"),
    created_at=at("2025-02-22T22:03:58.702361Z"),
    updated_at=at("2026-03-05T09:41:12.350094Z"),
)
CHANNEL = ChannelRecord(
    id="01956574-a3d1-7f0b-92c8-5be40a7d1f63",
    type="user_chat",
    provider="web",
    status="open",
    contact_id=CONTACT.id,
    assigned_member_id=MEMBER.id,
    assigned_type="human",
    tags=["refund"],
    last_message_at=at("2026-03-05T09:41:12.350094Z"),
    message_count=14,
    created_at=at("2026-03-05T08:27:30.001873Z"),
    updated_at=at("2026-03-05T09:41:12.350094Z"),
)
ATTACHMENT = AttachmentRecord(
    id="019565b8-2c07-7a9e-8d14-e6f30b95c7a2",
    filename="receipt.pdf",
    content_type="application/pdf",
    size_bytes=48_213,
    created_at=at("2026-03-05T09:41:11.906215Z"),
)
MESSAGE = MessageRecord(
    id="019565b8-2dc4-7f51-a3e6-0b97d4c8125e",
    channel_id=CHANNEL.id,
    sender_id=CONTACT.id,
    sender_type="contact",
    sender_name="Mina Park",
    content="When will the refund for my order arrive? The receipt is attached.",
    attachments=[ATTACHMENT.reference()],
    created_at=at("2026-03-05T09:41:12.350094Z"),
)
# The moment at which the examples of writes are tried.
TRIED_AT = at("2026-03-05T09:45:00Z")
NEW_CONTACT = ContactRecord(
    id="019565bb-6de0-7c14-8f2a-91d3b05e7c46",
    external_id="customer-2077",
    email="noor.haddad@post.example",
    name="Noor Haddad",
    created_at=TRIED_AT,
)
CLOSED_CHANNEL = structs.replace(
    CHANNEL, status="closed", assigned_member_id=None, assigned_type=None, updated_at=TRIED_AT
)
