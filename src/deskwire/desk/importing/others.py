"""The kinds that are put as they come: settings, tasks, campaigns, macros, integrations, workflows."""

from sqlalchemy import bindparam, delete

from deskwire.desk.importing.work import Reference, Work, records
from deskwire.model.connections import AiAgentRecord, IntegrationRecord, WorkflowRecord
from deskwire.model.lines import BusinessHoursLine
from deskwire.model.work import CampaignRecord, MacroRecord, TaskRecord
from deskwire.store import kinds
from deskwire.store.kinds import Kind, R
from deskwire.store.records import put, put_all
from deskwire.store.statement import Statement, upsert
from deskwire.store.tables import BUSINESS_HOURS

PUT_HOURS = upsert(BUSINESS_HOURS)
REMOVE_HOURS = Statement(
    delete(BUSINESS_HOURS).where(BUSINESS_HOURS.c.workspace_id == bindparam("workspace_id"))
)
TASK_REFERENCES: list[Reference[TaskRecord]] = [
    Reference("team_id", kinds.TEAMS, lambda task: [task.team_id]),
    Reference("channel_id", kinds.CHANNELS, lambda task: [task.channel_id]),
    Reference("assignee_id", kinds.MEMBERS, lambda task: [task.assignee_id]),
]
MACRO_REFERENCES: list[Reference[MacroRecord]] = [
    Reference("team_id", kinds.TEAMS, lambda macro: [macro.team_id])
]


async def import_hours(work: Work) -> None:
    for batch in work.batches(BusinessHoursLine, "business_hours"):
        for line in records(batch):
            config = line.configuration()
            if config is None:
                await work.tx.run(REMOVE_HOURS, workspace_id=work.workspace_id)
            else:
                await work.tx.run(PUT_HOURS, workspace_id=work.workspace_id, config=config)


async def import_ai_agent(work: Work) -> None:
    for batch in work.batches(AiAgentRecord, "ai_agent"):
        for record in records(batch):
            record.id = work.workspace_id
            await put(work.tx, kinds.AI_AGENTS, work.workspace_id, record)


async def import_tasks(work: Work) -> None:
    await import_plain(work, kinds.TASKS, TaskRecord, "task", TASK_REFERENCES)
    await import_plain(work, kinds.CAMPAIGNS, CampaignRecord, "campaign", [])
    await import_plain(work, kinds.MACROS, MacroRecord, "macro", MACRO_REFERENCES)


async def import_connections(work: Work) -> None:
    await import_plain(work, kinds.INTEGRATIONS, IntegrationRecord, "integration", [])
    await import_plain(work, kinds.WORKFLOWS, WorkflowRecord, "workflow", [])
    await import_hours(work)
    await import_ai_agent(work)


async def import_plain(
    work: Work, kind: Kind[R], struct: type[R], line: str, references: list[Reference[R]]
) -> None:
    for batch in work.batches(struct, line):
        sound = await work.without_dangling(batch, *references)
        await put_all(work.tx, kind, work.workspace_id, records(sound))
