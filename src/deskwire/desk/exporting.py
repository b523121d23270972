"""Writing a workspace as a file of the record format, as it stands at one moment."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import msgspec
from sqlalchemy import Table, bindparam, func, select

from deskwire.desk.reading import find_workspace
from deskwire.model.channels import ChannelRecord
from deskwire.model.connections import AiAgentRecord
from deskwire.model.contacts import ContactTagRecord
from deskwire.model.limits import RECORD_BATCH
from deskwire.model.lines import BusinessHoursLine, Line, WorkspaceLine, kind_of
from deskwire.model.messages import AttachmentRecord, MessageRecord
from deskwire.model.moments import Moment
from deskwire.store import kinds, tables, whole
from deskwire.store.attachments import Files
from deskwire.store.records import ENCODER, document
from deskwire.store.statement import Row, Statement
from deskwire.store.transaction import Store, Tx
from deskwire.store.whole import START, Wholes
