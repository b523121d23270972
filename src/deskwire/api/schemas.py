"""JSON schemas of what the API shows, derived from the types that show it."""

from collections.abc import Iterable
from typing import Any

import msgspec

from deskwire.api.bodies import Body
from deskwire.api.examples import EXAMPLES
from deskwire.model.event_examples import SHAPE_EXAMPLES
from deskwire.model.moments import Moment

Json = dict[str, Any]

PATH = "#/components/schemas/{name}"

MOMENT: Json = {
    "type": "string",
    "format": "date-time",
    "examples": ["2026-03-05T09:41:12.350094Z"],
}
SUCCESS: Json = {"type": "boolean", "const": True}
# A list without a cursor has one page.
ONLY_PAGE: Json = {
    "title": "OnlyPage",
    "description": "Nothing ever follows.",
    "type": "object",
    "properties": {"has_more": {"type": "boolean", "const": False}},
    "required": ["has_more"],
    "examples": [{"has_more": False}],
}


def page_meta(cursor: str) -> Json:
    """The cursor is there when, and only when, there is more."""
    return {
        "title": "PageMeta",
        "type": "object",
        "properties": {
            "has_more": {"type": "boolean", "description": "Whether another page follows."},
            "next_cursor": {
                "type": "string",
                "description": "The `cursor` of the next page; left out when there is none.",
            },
        },
        "required": ["has_more"],
        "if": {"properties": {"has_more": {"const": True}}},
        "then": {"required": ["next_cursor"]},
        "else": {"properties": {"next_cursor": False}},
        "examples": [{"has_more": True, "next_cursor": cursor}, {"has_more": False}],
    }


def schemas_of(types: Iterable[type]) -> tuple[dict[type, Json], dict[str, Json]]:
    """The schema of each type, and the named schemas that they refer to, each with an example."""
    distinct = list(dict.fromkeys(types))
    schemas, named = msgspec.json.schema_components(distinct, schema_hook=schema_of, ref_template=PATH)
    examples = {kind.__name__: example for kind, example in EXAMPLES.items()} | dict(SHAPE_EXAMPLES)
    for name, schema in named.items():
        schema["examples"] = [examples[name]]
    return dict(zip(distinct, schemas, strict=True)), named


def body_schema(body: type[Body]) -> Json:
    """What a request takes; it stands with the one operation that takes it."""
    _, named = msgspec.json.schema_components([body], ref_template=PATH)
    return {**named[body.__name__], **body.also_holds}


def schema_of(kind: type) -> Json:
    if kind is Moment:
        return dict(MOMENT)
    raise NotImplementedError(f"{kind.__name__} has no JSON schema")


def reference(name: str) -> Json:
    return {"$ref": PATH.format(name=name)}
