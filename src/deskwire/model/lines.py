"""The lines of the record format: what each kind holds, and what is wrong with a bad one, in a sentence."""

import json
import re
from typing import Annotated, Any, TypeVar, cast

import msgspec
from msgspec import Meta

from deskwire.model.channels import ChannelRecord, ChannelTagRecord
from deskwire.model.connections import AiAgentRecord, IntegrationRecord, VoiceCallRecord, WorkflowRecord
from deskwire.model.contacts import ContactRecord, ContactTagRecord
from deskwire.model.messages import AttachmentRecord, MessageRecord
from deskwire.model.moments import Moment, decode_moment, encode_moment
from deskwire.model.people import MemberRecord, TeamRecord
from deskwire.model.work import CampaignRecord, MacroRecord, TaskRecord

L = TypeVar("L")


class WorkspaceLine(
    msgspec.Struct, tag="workspace", tag_field="kind", omit_defaults=True, forbid_unknown_fields=True
):
    """Speaks of the workspace that is imported into, whatever the id says."""

    name: Annotated[str, Meta(min_length=1)]
    created_at: Moment | None = None
    updated_at: Moment | None = None
    id: str | None = None


class BusinessHoursLine(
    msgspec.Struct, tag="business_hours", tag_field="kind", omit_defaults=True, forbid_unknown_fields=True
):
    """The configuration as it is stored, byte for byte; null says that hours were never configured."""

    config: msgspec.Raw
    created_at: Moment | None = None
    updated_at: Moment | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        if self.configuration() is None and bytes(self.config).strip() != b"null":
            raise ValueError("config must be an object or null")

    def configuration(self) -> bytes | None:
        config = bytes(self.config).strip()
        return config if config.startswith(b"{") else None


Line = (
    WorkspaceLine
    | BusinessHoursLine
    | AiAgentRecord
    | MemberRecord
    | TeamRecord
    | ContactTagRecord
    | ChannelTagRecord
    | ContactRecord
    | AttachmentRecord
    | ChannelRecord
    | MessageRecord
    | TaskRecord
    | CampaignRecord
    | MacroRecord
    | IntegrationRecord
    | WorkflowRecord
    | VoiceCallRecord
)

STRUCTS: dict[str, type[Line]] = {
    str(struct.__struct_config__.tag): struct for struct in cast(Any, Line).__args__
}
KINDS = tuple(STRUCTS)
# What the API shows of a resource but nobody needs to say, since it follows from other records.
DERIVED: dict[str, frozenset[str]] = {
    "contact_tag": frozenset({"usage_count"}),
    "channel": frozenset({"message_count", "last_message_at"}),
    "attachment": frozenset({"url", "url_expires_at"}),
}


class BadLine(ValueError):
    """Says what is wrong with a line."""


def decode_line(line: bytes) -> Line:
    try:
        decoded = DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        decoded = _decode_leniently(line, problem)
    if b"\\u0000" in line:
        _refuse_nul(line)
    return _tidied(decoded, line)


def pack(line: Line) -> bytes:
    """A decoded line in the form that `unpack` reads fast."""
    if isinstance(line, BusinessHoursLine):
        # Its configuration is JSON already, and stays so.
        return msgspec.json.encode(line, enc_hook=encode_moment)
    return PACKER.encode(line)


def unpack(struct: type[L], packed: bytes) -> L:
    if struct is BusinessHoursLine:
        return msgspec.json.decode(packed, type=struct, dec_hook=decode_moment)
    line: L = UNPACKERS[struct].decode(packed)
    return line


def kind_of(line: Line) -> str:
    return str(line.__struct_config__.tag)


def id_in(line: bytes) -> str | None:
    """The id that a bad line most likely gives, so that what refers to it is not reported as well."""
    found = _ID.search(line)
    return found[1].decode("ascii") if found else None


def _decode_leniently(line: bytes, problem: Exception) -> Line:
    """The line without what it need not say: null for an optional field, and what is derived."""
    if not isinstance(problem, msgspec.ValidationError):
        raise BadLine(_unreadable(line, problem)) from problem
    fields = _whole(line)
    struct = STRUCTS.get(str(fields.get("kind"))) if isinstance(fields, dict) else None
    if struct is None or struct is BusinessHoursLine:
        raise BadLine(_sentence(str(problem), struct)) from problem
    optional = {field.name for field in msgspec.structs.fields(struct) if not field.required}
    derived = DERIVED.get(fields["kind"], frozenset())
    said = {
        name: value
        for name, value in fields.items()
        if name not in derived and not (value is None and name in optional)
    }
    try:
        return msgspec.convert(said, struct, dec_hook=decode_moment)
    except msgspec.ValidationError as remaining:
        raise BadLine(_sentence(str(remaining), struct)) from remaining


def _whole(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadLine(_unreadable(line, problem)) from problem


def _unreadable(line: bytes, problem: Exception) -> str:
    if isinstance(problem, RecursionError):
        return "the JSON is nested too deeply"
    try:
        text = line.decode()
    except UnicodeDecodeError as found:
        return f"byte {found.start + 1} is no UTF-8"
    where = str(problem).removeprefix("JSON is malformed: ")
    no_json = f"this is no JSON: {where.replace('Input data was truncated', 'it ends too early')}"
    try:
        texts = _texts(json.loads(text))
    except (ValueError, RecursionError):
        return no_json
    # The decoder trips over half of a surrogate pair as if the text ended there.
    if any(_SURROGATE.search(one) for one in texts):
        return "a text holds half of a surrogate pair, which is no character"
    return no_json


def _refuse_nul(line: bytes) -> None:
    if any("\0" in text for text in _texts(_whole(line))):
        raise BadLine("a text holds a NUL character")


def _texts(value: object) -> list[str]:
    """Every text in a JSON value, however deep."""
    texts: list[str] = []
    open_values = [value]
    while open_values:
        match open_values.pop():
            case str(text):
                texts.append(text)
            case dict(members):
                open_values += [*members, *members.values()]
            case list(entries):
                open_values += entries
    return texts


def _tidied(line: Line, raw: bytes) -> Line:
    match line:
        case ContactRecord(merged_into=str()):
            raise BadLine("merged_into: is no field of this kind")
        case ContactRecord():
            line.external_id = line.external_id or None
            line.email = (line.email or "").strip() or None
            line.phone = (line.phone or "").strip() or None
        case MemberRecord():
            line.email = line.email.strip()
        case ChannelRecord():
            line.message_count, line.last_message_at = 0, None
        case ContactTagRecord():
            line.usage_count = 0
        case BusinessHoursLine():
            # What is passed through unread is still read once: it must be good UTF-8 without half characters.
            _whole(raw)
    return line


def _sentence(message: str, struct: type[Line] | None) -> str:
    """What msgspec says, as `field: what is wrong with it`."""
    said, _, path = message.partition(" - at `")
    path = path.rstrip("`").removeprefix("$").removeprefix(".")
    for pattern, reason in _REASONS:
        if found := pattern.fullmatch(said):
            path = ".".join(filter(None, [path, found.groupdict().get("field")]))
            said = _TYPE.sub(lambda types: _type_names(types[1]), found.expand(reason))
            break
    if said == _ONE_OF:
        said += ", ".join(KINDS if path == "kind" else _words(struct, path))
    return f"{path}: {said}" if path else said


def _type_names(types: str) -> str:
    """Those of `str | null` in words; what may be null may be left out, which is said instead."""
    named = [_TYPES.get(name, name) for name in types.split(" | ")]
    return " or ".join(name for name in named if len(named) == 1 or name != "null")


def _words(struct: type[Line] | None, path: str) -> list[str]:
    """The words of the enumeration that a field takes."""
    types: list[msgspec.inspect.Type] = [msgspec.inspect.type_info(struct)]
    for name in _INDEX.sub("", path).split("."):
        types = [
            part
            for kind in types
            if isinstance(kind, msgspec.inspect.StructType)
            for field in kind.fields
            if field.encode_name == name
            for part in _parts(field.type)
        ]
    return [
        str(word) for kind in types if isinstance(kind, msgspec.inspect.LiteralType) for word in kind.values
    ]


def _parts(kind: msgspec.inspect.Type) -> list[msgspec.inspect.Type]:
    match kind:
        case msgspec.inspect.UnionType():
            return [part for one in kind.types for part in _parts(one)]
        case msgspec.inspect.ListType():
            return _parts(kind.item_type)
        case _:
            return [kind]


def _moment(_kind: type, us: object) -> Moment:
    assert isinstance(us, int)
    return Moment(us)


PACKER = msgspec.msgpack.Encoder(enc_hook=int)
UNPACKERS: dict[type, msgspec.msgpack.Decoder[Any]] = {
    struct: msgspec.msgpack.Decoder(struct, dec_hook=_moment) for struct in STRUCTS.values()
}
DECODER = msgspec.json.Decoder(Line, dec_hook=decode_moment)

_ID = re.compile(rb'"id"\s*:\s*"([0-9a-f-]{36})"')
_INDEX = re.compile(r"\[[^]]*\]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TYPE = re.compile(r"<([^<>]*)>")
_TYPES = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number with a fraction",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_ONE_OF = "must be one of "
_REASONS = [
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r"Object missing required field `(?P<field>\w+)`", "is missing"),
        (r"Object contains unknown field `(?P<field>.+)`", "is no field of this kind"),
        (r"Invalid (enum )?value .*", _ONE_OF),
        (r"Expected `str` matching regex .*", "must be a UUID in lower case"),
        (r"Expected `str` of length >= 1", "must not be empty"),
        (r"Expected `str` of length <= (\d+)", r"must be at most \1 characters"),
        (r"Expected `array` of length <= (\d+)", r"must have at most \1 entries"),
        (r"Expected `int` (>=|<=) (-?\d+)", r"must be \1 \2"),
        (r"Expected `([^`]*)`, got `([^`]*)`", r"must be <\1>, not <\2>"),
        (r"Expected `([^`]*)`", r"must be <\1>"),
        (r"(?P<field>[a-z_]+) (must be .*)", r"\2"),
    )
]
