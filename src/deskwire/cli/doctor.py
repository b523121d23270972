"""Looking into a webhook from its name to its answer, and saying what is wrong."""

from collections.abc import Iterator
from typing import NamedTuple

import click

from deskwire.cli.house import Invocation, OpenHouse
from deskwire.cli.operation import run_open
from deskwire.cli.output import print_json, print_rows, printable, time_text
from deskwire.cli.webhook_tests import Sent, described, in_words, send_test
from deskwire.desk.webhook_lag import measure_lag
from deskwire.desk.webhooks import count_backlog, locate_webhook
from deskwire.model.examinations import Certificate, Examination
from deskwire.model.webhook_diagnosis import Findings, find_problem, say_well
from deskwire.store.transaction import Tx


class Examined(NamedTuple):
    """All that was found out, and the test where there was one."""

    findings: Findings
    sent: Sent | None


def doctor(invocation: Invocation, *, id: str, json: bool) -> int:
    async def work(house: OpenHouse) -> Examined:
        workspace_id, webhook = await house.store.read(lambda tx: locate_webhook(tx, id))
        async with invocation.house.open_messenger(invocation.options) as messenger:
            examination = await messenger.examine(webhook.url)
            sent = None
            if examination.problem is None:
                sent = await send_test(house, messenger, workspace_id, webhook)
        return Examined(await house.store.read(lambda tx: look(tx, id, examination, sent)), sent)

    found, sent = run_open(invocation, work)
    problem = find_problem(found)
    verdict = problem or say_well(found)
    if json:
        print_json(as_json(found, sent, problem is None, verdict))
    else:
        print_rows(list(rows_of(found, sent)))
        click.echo(printable(verdict))
    return 0 if problem is None else 1


async def look(tx: Tx, id: str, examination: Examination, sent: Sent | None) -> Findings:
    """How the webhook fares now, after the test."""
    workspace_id, webhook = await locate_webhook(tx, id)
    backlog = await count_backlog(tx, workspace_id, webhook)
    lag = await measure_lag(tx, workspace_id, id)
    return Findings(webhook, examination, sent and sent.outcome, backlog.waiting, backlog.held, lag)


def rows_of(found: Findings, sent: Sent | None) -> Iterator[tuple[str, str]]:
    webhook, examination = found.webhook, found.examination
    yield "url", webhook.url
    for address in examination.addresses:
        reason = examination.refused.get(address)
        yield "address", str(address) if reason is None else f"{address}: {reason}, so nothing is sent there"
    if examination.connected_to is not None:
        yield "connected to", f"{examination.connected_to}, {examination.tls_version or 'without TLS'}"
    if examination.certificate is not None:
        yield from rows_of_certificate(examination.certificate)
    yield "test", "not sent" if sent is None else in_words(sent.outcome)
    if sent is not None:
        yield "duration", f"{sent.outcome.duration_ms:,} ms"
    yield "status", webhook.status
    yield "failures", f"{webhook.failure_count:,} one after another"
    yield "last error", webhook.error_message or "none since the last success"
    yield "last delivered", time_text(webhook.last_delivered_at, "never")
    yield "waiting", f"{found.waiting:,} events"
    yield "held", f"{found.held:,} events"


def rows_of_certificate(certificate: Certificate) -> Iterator[tuple[str, str]]:
    yield "certificate", f"for {', '.join(certificate.names) or certificate.subject}"
    yield "issued by", certificate.issuer
    yield "valid", f"from {certificate.valid_from:%Y-%m-%d} to {certificate.valid_until:%Y-%m-%d}"


def as_json(found: Findings, sent: Sent | None, is_well: bool, verdict: str) -> dict[str, object]:
    webhook, examination = found.webhook, found.examination
    certificate = examination.certificate
    return {
        "id": webhook.id,
        "url": webhook.url,
        "is_well": is_well,
        "verdict": verdict,
        "addresses": [
            {"address": str(address), "refused": examination.refused.get(address)}
            for address in examination.addresses
        ],
        "connected_to": examination.connected_to and str(examination.connected_to),
        "tls_version": examination.tls_version,
        "certificate": certificate
        and {
            "subject": certificate.subject,
            "issuer": certificate.issuer,
            "names": certificate.names,
            "valid_from": certificate.valid_from,
            "valid_until": certificate.valid_until,
        },
        "test": sent and described(sent),
        "status": webhook.status,
        "failure_count": webhook.failure_count,
        "error_message": webhook.error_message,
        "last_delivered_at": webhook.last_delivered_at,
        "waiting": found.waiting,
        "held": found.held,
    }
