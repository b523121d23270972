"""Log lines on standard error, as text or JSON: ours and the libraries', in one form and redacted."""

import logging
import sys
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from deskwire.api.request_id import REQUEST_ID
from deskwire.wiring.redaction import redact

LogFormat = Literal["text", "json"]

# What these say below a warning is of no use to who runs Deskwire.
_QUIET = ("alembic", "asyncio", "sqlalchemy", "uvicorn")
# Below an error its pool says what a line of ours says already, with a traceback at each try.
_QUIETER = ("asyncpg",)


def configure(format: LogFormat, file: TextIO | None = None) -> None:
    """Also gives the request id, and what is bound with structlog.contextvars, to the libraries' lines."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_request_id,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    handler = logging.StreamHandler(file or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _render_text if format == "text" else structlog.processors.JSONRenderer(ensure_ascii=False),
                _redact,
            ],
        )
    )
    # A log that cannot be written, such as one to a closed pipe, is no reason to fail.
    logging.raiseExceptions = False
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in _QUIETER:
        logging.getLogger(name).setLevel(logging.ERROR)


def _add_request_id(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    if current := REQUEST_ID.get():
        line["request_id"] = current
    return line


def _render_text(_logger: WrappedLogger, _method: str, line: EventDict) -> str:
    """`TIME LEVEL EVENT key=value …`, and the traceback on lines of its own."""
    exception = line.pop("exception", None)
    start = f"{line.pop('time')} {line.pop('level'):<7} {line.pop('event')}"
    rest = "".join(f" {key}={render_value(value)}" for key, value in line.items())
    return f"{start}{rest}\n{exception}" if exception else start + rest


def render_value(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text and text else repr(text)


def _redact(_logger: WrappedLogger, _method: str, line: EventDict | str) -> str:
    return redact(str(line))
