"""What a row of the API's table declares, and what an operation is called with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

from deskwire.api.bodies import Body
from deskwire.api.parameters import Query
from deskwire.desk.attachments import KeptAttachment
from deskwire.desk.idempotency import Attempt
from deskwire.desk.pages import Page
from deskwire.desk.sealing import Seal
from deskwire.model.cursors import Position
from deskwire.model.errors import Code, DeskError
from deskwire.model.messages import Attachment
from deskwire.model.tokens import Token
from deskwire.store.transaction import Tx

Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]


class Links(Protocol):
    """Where an attachment can be downloaded for a while."""

    async def attach(self, kept: KeptAttachment, workspace_id: str, now: int) -> Attachment: ...


class Receivers(Protocol):
    """Where webhooks may lead."""

    async def refusal(self, url: str) -> str | None:
        """What the URL breaks, as the end of a sentence that begins with "The URL …"; asks the network."""
        ...


@dataclass(slots=True)
class Call:
    """One request, understood: who asks, which thing is meant, what the query said."""

    token: Token
    id: str
    query: Any
    # For what is shown now and kept sealed.
    seal: Seal
    body: Any = None
    # What was found against it before its transaction.
    refusal: DeskError | None = None
    attempt: Attempt | None = None
    after: Position | None = None

    @property
    def workspace_id(self) -> str:
        return self.token.workspace_id


class Answers(Enum):
    """The envelope around what an operation returns."""

    OBJECT = "the bytes of one object"
    ARRAY = "a list of objects, all at once"
    PAGE = "a page of a list"
    KEPT_ATTACHMENT = "an attachment, to which its download link is still to be added"
    NOTHING = "no body"


class Made(NamedTuple):
    """An object that this request has made."""

    document: bytes


Answer = bytes | Made | list[bytes] | Page | KeptAttachment | None


class BadId(Enum):
    """What a malformed id in the path is answered with."""

    NOT_FOUND = "NOT_FOUND"
    INVALID_INPUT = "INVALID_INPUT"


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    method: Method
    path: str
    scopes: tuple[str, ...]
    answers: Answers
    shows: type | None
    operation: Callable[[Tx, Call], Awaitable[Answer]]
    summary: str
    description: str = ""
    query: type[Query] = Query
    body: type[Body] | None = None
    # What has to be asked of the network: no transaction is open meanwhile.
    before: Callable[[Call, Receivers], Awaitable[DeskError | None]] | None = None
    # The status of a success.
    status: int = 200
    # What is sent again may find what was made by the first time; that is answered with 200.
    may_find: bool = False
    # Whether it takes an Idempotency-Key.
    is_idempotent: bool = False
    bad_id: BadId = BadId.NOT_FOUND
    noun: str = ""
    # A read that may be long runs beside the event loop on an embedded database.
    aside: Callable[[Call], bool] = field(default=lambda _: False)
    # None: a cursor of this list never expires.
    cursor_lifetime_us: int | None = None
    errors: tuple[Code, ...] = ()

    @property
    def successes(self) -> tuple[int, ...]:
        return (200, self.status) if self.may_find else (self.status,)

    @property
    def is_write(self) -> bool:
        return self.method != "GET"

    # Asked for with every request.
    @cached_property
    def body_read(self) -> type[Body] | None:
        """What a body is read as; where a POST asks for nothing, an empty object may be sent, or nothing."""
        return self.body or (Body if self.method == "POST" else None)

    @property
    def is_paged(self) -> bool:
        return self.answers is Answers.PAGE
