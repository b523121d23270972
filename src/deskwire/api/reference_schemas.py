"""The resources of the reference page: what each key holds, and whether it is always there."""

from deskwire.api.html import Content, Html, element, entries, joined, prose
from deskwire.api.schemas import Json

# A string of one of these formats is named for what it means.
FORMATS = {"date-time": "timestamp", "uuid": "UUID", "date": "date"}


def resource(name: str, schema: Json) -> Html:
    """A schema as a section of its own, to which types link."""
    described = (element("p", prose(schema["description"])),) if "description" in schema else ()
    return element(
        "section",
        element("h3", element("a", name, href=f"#{anchor(name)}")),
        *described,
        entries(key_row(schema, key, value) for key, value in schema["properties"].items()),
        id=anchor(name),
        class_="resource",
    )


def key_row(schema: Json, key: str, value: Json) -> tuple[Html, Html]:
    return (
        term(key, "" if key in schema.get("required", ()) else "may be absent"),
        told(value, value.get("description", "")),
    )


def term(name: str, note: str) -> Html:
    """A name, and what must be known of it at once."""
    return joined((element("code", name), " ", element("small", note))) if note else element("code", name)


def told(schema: Json, description: str) -> Html:
    """The type and what it must keep to, and below it what the value means."""
    bounds = bounds_of(schema)
    kind = element("span", type_of(schema), *((element("small", " ", prose(bounds)),) if bounds else ()))
    return joined((kind, element("p", prose(description)))) if description else kind


def type_of(schema: Json) -> Html:
    """A type in words; the name of a resource links to it."""
    match schema:
        case {"$ref": str(path)}:
            return link(path)
        case {"anyOf": list(options)}:
            return joined(between(" or ", [type_of(option) for option in options]))
        case {"enum": list(words)}:
            return joined(between(" ", [element("code", word or '""') for word in words]))
        case {"const": value}:
            return element("code", str(value).lower())
        case {"type": "array", "items": dict(items)}:
            return joined(("array of ", type_of(items)))
        case {"type": "string", "format": str(form)}:
            return joined((FORMATS.get(form, form),))
        case {"type": str(name)}:
            return joined((name,))
        case _:
            return joined(("anything",))


def bounds_of(schema: Json) -> str:
    """What a value must keep to, in words."""
    words = []
    if "minimum" in schema and "maximum" in schema:
        words.append(f"{schema['minimum']} to {schema['maximum']}")
    if "minLength" in schema:
        words.append(f"{schema['minLength']} to {schema['maxLength']} characters")
    elif "maxLength" in schema:
        words.append(f"at most {schema['maxLength']} characters")
    if "default" in schema:
        words.append(f"default `{schema['default']}`")
    return ", ".join(words)


def link(path: str) -> Html:
    name = path.rpartition("/")[2]
    return element("a", name, href=f"#{anchor(name)}")


def anchor(name: str) -> str:
    return f"resource-{name}"


def between(separator: str, parts: list[Html]) -> list[Content]:
    found: list[Content] = []
    for part in parts:
        found += [part] if not found else [separator, part]
    return found
