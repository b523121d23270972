"""What is asked of a search index; each engine answers in its own way."""

from enum import Enum
from typing import NamedTuple


class Subject(Enum):
    """What can be searched, by the name that its tables begin with."""

    CONTACTS = "contact"
    MESSAGES = "message"


class Entry(NamedTuple):
    """A thing and the terms that find it, a blank between each; without any nothing finds it.

    What is new was never indexed.
    """

    id: str
    created_at: int
    terms: str
    is_new: bool = False


class Found(NamedTuple):
    """What a term finds: a thing of a workspace, or an entry of the index that is nobody's."""

    workspace_id: str | None
    id: str
