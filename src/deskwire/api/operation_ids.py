"""A name for each operation, as code that is generated from the document calls it."""

from deskwire.api.endpoint import Answers, Endpoint, Method

VERBS: dict[Method, str] = {
    "GET": "list",
    "POST": "create",
    "PATCH": "update",
    "PUT": "set",
    "DELETE": "delete",
}


def operation_id(endpoint: Endpoint) -> str:
    """`GET /contacts` is listContacts, `GET /teams/{id}/members` listMembersOfTeam, `GET /search` search."""
    owner, _, rest = endpoint.path.strip("/").partition("/{id}")
    words, of = (rest.strip("/"), f"Of{singular(owner)}") if rest else (owner, "")
    if is_verb(endpoint, words):
        return lower(camel(words)) + (of if "-" in words else singular(owner) if rest else "")
    verb = VERBS[endpoint.method]
    if endpoint.method == "GET" and endpoint.answers in (Answers.OBJECT, Answers.KEPT_ATTACHMENT):
        verb = "get"
    one = ("{id}" in endpoint.path and not rest) or verb == "create"
    return verb + (singular(words) if one else camel(words)) + of


def is_verb(endpoint: Endpoint, words: str) -> bool:
    """A path ends in a thing, or in what is done: /search, /channels/{id}/close."""
    does = endpoint.method == "POST" or endpoint.answers is Answers.ARRAY
    return does and not words.endswith("s")


def camel(path: str) -> str:
    return "".join(word.capitalize() for word in path.replace("/", "-").split("-"))


def singular(path: str) -> str:
    return camel(path).removesuffix("s")


def lower(text: str) -> str:
    return text[:1].lower() + text[1:]
