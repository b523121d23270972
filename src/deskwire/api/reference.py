"""The reference page: the OpenAPI document for people, on one page that loads nothing else."""

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from shlex import quote
from typing import NamedTuple

from deskwire.api.components import REQUEST_ID
from deskwire.api.deliveries import signature_scheme, timestamp_parameter
from deskwire.api.endpoint import Endpoint
from deskwire.api.failures import answered
from deskwire.api.html import Html, code_block, coloured, element, entries, joined, prose, table
from deskwire.api.introduction import Paragraph, Sample, Section, Table, introduction
from deskwire.api.openapi import document
from deskwire.api.reference_schemas import resource, term, told, type_of
from deskwire.api.schemas import Json

STYLE = files("deskwire.api").joinpath("reference.css").read_text("utf-8")


PLACES = {"path": "in the path", "header": "a header"}


class Operation(NamedTuple):
    method: str
    path: str
    described: Json


def page(endpoints: Sequence[Endpoint], base_url: str, version: str) -> bytes:
    """The whole page, in UTF-8."""
    described = document(endpoints, base_url, version)
    sections = introduction(base_url, answered(endpoints))
    operations = operations_of(described)
    links = contents(sections, described["tags"], operations, described["webhooks"])
    main = element(
        "main",
        element(
            "details",
            element("summary", "Contents"),
            element("nav", links, id="contents", aria_label="Contents"),
            class_="menu",
        ),
        element("h1", described["info"]["title"]),
        element("p", described["info"]["summary"], class_="lead"),
        *map(section, sections),
        *(subject(described, tag, operations) for tag in described["tags"]),
        webhooks(described),
        resources(described),
        id="main",
    )
    body = element("body", *top(version), element("nav", links, class_="aside", aria_label="Contents"), main)
    markup = element("html", head(described["info"]["title"]), body, lang="en")
    return f"<!doctype html>\n{markup}\n".encode()


def operations_of(described: Json) -> list[Operation]:
    return [
        Operation(method.upper(), path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


def head(title: str) -> Html:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Html(STYLE)),
    )


def top(version: str) -> tuple[Html, Html]:
    skip = element("a", "Skip to the reference", href="#main", class_="skip")
    bar = element(
        "header",
        element("a", "Deskwire", href="#overview", class_="name"),
        element("span", f"API {version}", class_="version"),
        element("a", "Contents", href="#contents", class_="to-contents"),
    )
    return skip, bar


def contents(
    sections: Sequence[Section], tags: list[Json], operations: list[Operation], events: Iterable[str]
) -> Html:
    groups = [link_group("Guide", [link(one.id, one.title) for one in sections])]
    for tag in tags:
        named = [
            link(operation.described["operationId"], operation.described["summary"], operation.method)
            for operation in of_tag(operations, tag)
        ]
        groups.append(link_group(tag["name"], named))
    groups.append(link_group("Webhooks", [link(f"event-{kind}", kind) for kind in events]))
    groups.append(link_group("Resources", [link("resources", "All resources and their keys")]))
    return joined(groups)


def link_group(title: str, links: list[Html]) -> Html:
    return joined((element("p", title), element("ul", *links)))


def link(target: str, title: str, method: str = "") -> Html:
    mark = (badge(method), " ") if method else ()
    return element("li", element("a", *mark, title, href=f"#{target}"))


def badge(method: str) -> Html:
    return element("span", method, class_=f"method {method.lower()}")


def of_tag(operations: list[Operation], tag: Json) -> Iterator[Operation]:
    return (operation for operation in operations if tag["name"] in operation.described["tags"])


def section(one: Section) -> Html:
    return element("section", element("h2", one.title), *map(block, one.blocks), id=one.id)


def block(one: Paragraph | Sample | Table) -> Html:
    match one:
        case Paragraph(text):
            return element("p", prose(text))
        case Sample(text):
            return code_block(text)
        case Table(names, rows):
            return table(names, [map(prose, row) for row in rows])


def subject(described: Json, tag: Json, operations: list[Operation]) -> Html:
    return element(
        "section",
        element("h2", tag["name"]),
        element("p", prose(tag["description"]), class_="lead"),
        *(article(described, operation) for operation in of_tag(operations, tag)),
        class_="subject",
    )


def article(described: Json, operation: Operation) -> Html:
    """An operation: what it does on one side, how it looks on the other."""
    what = operation.described
    status, shown = success(what)
    return element(
        "article",
        element("h3", element("a", what["summary"], href=f"#{what['operationId']}")),
        element("p", badge(operation.method), " ", element("code", operation.path), class_="path"),
        element(
            "div",
            *(element("p", prose(text)) for text in what["description"].split("\n\n")),
            *parameter_list(described, what),
            *body_list(what),
            element("h4", "Answer"),
            answer(shown),
            element("h4", "Errors"),
            error_list(described, what),
            class_="told",
        ),
        element(
            "div",
            code_block(curl(described, operation), "Request"),
            *answer_block(status, shown),
            class_="shown",
        ),
        id=what["operationId"],
    )


def parameter_list(described: Json, operation: Json) -> list[Html]:
    found = [resolved(described, one) for one in operation["parameters"]]
    rows = [parameter_row(one) for one in found if one["name"] != REQUEST_ID]
    return [element("h4", "Parameters"), entries(rows)] if rows else []


def parameter_row(parameter: Json) -> tuple[Html, Html]:
    note = PLACES.get(parameter["in"]) or ("required" if parameter["required"] else "")
    return term(parameter["name"], note), told(parameter["schema"], parameter["description"])


def body_list(operation: Json) -> list[Html]:
    if "requestBody" not in operation:
        return []
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    required = schema.get("required", ())
    rows = [
        (term(name, "required" if name in required else ""), told(value, value.get("description", "")))
        for name, value in schema["properties"].items()
    ]
    return [element("h4", "Body"), entries(rows)]


def success(operation: Json) -> tuple[str, Json | None]:
    """The status of the usual success, and what it carries."""
    status = max(status for status in operation["responses"] if status < "300")
    content = operation["responses"][status].get("content")
    return status, content and content["application/json"]


def answer_block(status: str, shown: Json | None) -> list[Html]:
    return [] if shown is None else [code_block(coloured(pretty(shown["example"])), f"Answer, {status}")]


def answer(shown: Json | None) -> Html:
    """What the envelope of a success carries."""
    if shown is None:
        return element("p", element("code", "204"), " without a body.")
    properties = shown["schema"]["properties"]
    return entries(
        (element("code", key), type_of(properties[key])) for key in ("data", "meta") if key in properties
    )


def error_list(described: Json, operation: Json) -> Html:
    rows = []
    for status, response in operation["responses"].items():
        content = resolved(described, response).get("content", {})
        examples = content.get("application/json", {}).get("examples", {})
        for code, example in examples.items():
            rows.append((joined((status, " ", element("code", code))), prose(example["summary"])))
    return entries(rows)


def curl(described: Json, operation: Operation) -> str:
    """A command that works when pasted; where an id is needed, its first line names one."""
    found = [resolved(described, one) for one in operation.described["parameters"]]
    ids = [f"ID={one['example']}" for one in found if one["in"] == "path"]
    url = described["servers"][0]["url"] + operation.path.replace("{id}", "$ID")
    query = [
        f'--data-urlencode "{one["name"]}={value}"'
        for one in found
        if one["in"] == "query" and "example" in one
        for value in values(one["example"])
    ]
    command = (
        f'curl {"--get " if query else ""}{method_option(operation)}"{url}"',
        '-H "Authorization: Bearer $TOKEN"',
        *query,
        *body_options(operation.described),
    )
    return "\n".join((*ids, " \\\n  ".join(command)))


def values(example: object) -> list[object]:
    return example if isinstance(example, list) else [example]


def method_option(operation: Operation) -> str:
    """What curl would not do by itself."""
    usual = "POST" if "requestBody" in operation.described else "GET"
    return "" if operation.method == usual else f"-X {operation.method} "


def body_options(operation: Json) -> list[str]:
    if "requestBody" not in operation:
        return []
    example = operation["requestBody"]["content"]["application/json"]["example"]
    return ['-H "Content-Type: application/json"', f"-d {quote(json.dumps(example, ensure_ascii=False))}"]


def webhooks(described: Json) -> Html:
    signature, timestamp = signature_scheme(), timestamp_parameter()
    return element(
        "section",
        element("h2", "Webhooks"),
        element("p", "What is posted to the address of an outbound webhook.", class_="lead"),
        entries(
            (element("code", part["name"]), prose(part["description"])) for part in (signature, timestamp)
        ),
        *(event(kind, path["post"]) for kind, path in described["webhooks"].items()),
        class_="subject",
        id="webhooks",
    )


def event(kind: str, delivery: Json) -> Html:
    """A kind of event: what it tells on one side, how it looks on the other."""
    sent = delivery["requestBody"]["content"]["application/json"]
    return element(
        "article",
        element("h3", element("a", kind, href=f"#event-{kind}")),
        element(
            "div",
            element("p", prose(delivery["description"])),
            element("h4", "Body"),
            element("p", type_of(sent["schema"]["allOf"][0])),
            class_="told",
        ),
        element("div", code_block(coloured(pretty(sent["example"])), "Body"), class_="shown"),
        id=f"event-{kind}",
    )


def resources(described: Json) -> Html:
    named = described["components"]["schemas"].items()
    return element(
        "section",
        element("h2", "Resources"),
        element("p", "Every key that the API shows, and what it holds.", class_="lead"),
        *(resource(name, schema) for name, schema in named),
        id="resources",
    )


def resolved(described: Json, part: Json) -> Json:
    """The part itself, or the component that it refers to."""
    if "$ref" not in part:
        return part
    found = described
    for key in part["$ref"].removeprefix("#/").split("/"):
        found = found[key]
    return found


def pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
