"""One look over every workspace, at one moment, a line for each difference."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from deskwire.desk.checking.counts import check_channels, check_contact_tags
from deskwire.desk.checking.differences import difference
from deskwire.desk.checking.events import check_events
from deskwire.desk.checking.index import check_index
from deskwire.desk.checking.links import check_external_ids, check_links
from deskwire.desk.checking.references import check_references
from deskwire.desk.checking.rows import ROWS, check_rows
from deskwire.desk.checking.webhooks import check_deliveries, check_webhooks
from deskwire.desk.exporting import count_records
from deskwire.desk.reading import find_workspace
from deskwire.desk.workspaces import list_workspaces
from deskwire.desk.workspaces import row_of as workspace_row
from deskwire.model.people import Workspace, WorkspaceRecord
from deskwire.model.search import term_prefix
from deskwire.store.transaction import Store, Tx

Progress = Callable[[int, int], None]


async def check(store: Store, progress: Progress) -> AsyncIterator[str]:
    """Yields a line for each difference; `progress` is told of the rows looked at."""
    async with store.snapshot() as tx:
        workspaces = await list_workspaces(tx)
        total = sum([await count_records(tx, workspace.id) for workspace in workspaces])
        meter = Meter(total, progress)
        for workspace in workspaces:
            async for line in check_workspace(tx, workspace, meter):
                yield line
        for workspace_ids in with_terms_alike(workspaces):
            async for line in check_index(tx, workspace_ids):
                yield line


def with_terms_alike(workspaces: Sequence[Workspace]) -> Iterable[Sequence[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for workspace in workspaces:
        groups[term_prefix(workspace.id)].append(workspace.id)
    return groups.values()


class Meter:
    def __init__(self, total: int, progress: Progress) -> None:
        self._total = total
        self._progress = progress
        self._done = 0

    def advance(self, rows: int) -> None:
        self._done += rows
        self._progress(min(self._done, self._total), self._total)


async def check_workspace(tx: Tx, workspace: Workspace, meter: Meter) -> AsyncIterator[str]:
    record = WorkspaceRecord(id=workspace.id, name=workspace.name, created_at=workspace.created_at)
    kept = await find_workspace(tx, workspace.id)
    for line in difference("workspaces", workspace.id, "document", kept, workspace_row(record)["document"]):
        yield line
    for rows in ROWS:
        async for line in check_rows(tx, workspace.id, rows, meter.advance):
            yield line
    for step in (
        check_channels,
        check_contact_tags,
        check_external_ids,
        check_links,
        check_references,
        check_events,
        check_webhooks,
        check_deliveries,
    ):
        async for line in step(tx, workspace.id):
            yield line
