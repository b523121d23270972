"""The resources of the reference page: what each key holds, and whether it is always there."""

from deskwire.api.html import Content, Html, element, joined, prose, table
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
        table(("Key", "Type", ""), rows(schema)),
        id=anchor(name),
        class_="resource",
    )


def rows(schema: Json) -> list[tuple[Content, ...]]:
    required = schema.get("required", ())
    return [
        (
            key_cell(key, key in required),
            type_of(value),
            prose(value.get("description", "")),
        )
        for key, value in schema["properties"].items()
    ]


def key_cell(key: str, always: bool) -> Html:
    if always:
        return element("code", key)
    return joined((element("code", key), " ", element("small", "may be absent")))


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
    if "minimum" in schema:
        words.append(f"{schema['minimum']} to {schema['maximum']}")
    if "maxLength" in schema:
        words.append(f"{schema.get('minLength', 0)} to {schema['maxLength']} characters")
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
