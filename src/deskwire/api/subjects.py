"""The subjects under which the reference groups its operations."""

from typing import NamedTuple


class Subject(NamedTuple):
    name: str
    description: str
    paths: tuple[str, ...]


SUBJECTS = (
    Subject("Workspace", "The workspace and when it can be reached.", ("/workspace", "/hours")),
    Subject("Members and teams", "Who answers, and in which teams they do.", ("/members", "/teams")),
    Subject(
        "Contacts", "The people the workspace talks with, and their tags.", ("/contacts", "/contact-tags")
    ),
    Subject(
        "Channels", "The conversations, and the dictionary of their tags.", ("/channels", "/channel-tags")
    ),
    Subject(
        "Messages",
        "What was said, the files that came with it, and search.",
        ("/channels/{id}/messages", "/messages", "/attachments", "/search"),
    ),
    Subject("Work", "Tasks, macros and campaigns.", ("/tasks", "/macros", "/campaigns")),
    Subject(
        "Integrations and automation",
        "What the workspace is connected to, and what answers by itself.",
        ("/integrations", "/inbound-webhook-configs", "/workflows", "/ai-agents"),
    ),
    Subject("Voice", "Calls, and how long they took.", ("/voice",)),
    Subject("Outbound webhooks", "Where events are sent, and how that went.", ("/outbound-webhooks",)),
)


def subject_of(path: str) -> Subject:
    """The subject with the longest beginning of the path."""
    found = [(len(start), subject) for subject in SUBJECTS for start in subject.paths if within(path, start)]
    if not found:
        raise LookupError(f"{path} belongs to no subject of the reference")
    return max(found)[1]


def within(path: str, start: str) -> bool:
    return path == start or path.startswith(f"{start}/")
