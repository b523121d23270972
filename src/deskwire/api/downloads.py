"""Downloading an attachment: the link that the API shows, and the answer to whoever follows it."""

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from deskwire.api.responses import failed
from deskwire.desk.attachments import KeptAttachment, find_attachment
from deskwire.model.downloads import Verdict, disposition, safe_content_type, sign, verify
from deskwire.model.errors import DeskError, not_found
from deskwire.model.ids import parse_id
from deskwire.model.limits import ATTACHMENT_URL_LIFETIME_S
from deskwire.model.messages import Attachment
from deskwire.model.moments import Moment
from deskwire.store.attachments import Files
from deskwire.store.clock import Clock
from deskwire.store.transaction import Store

SECOND_US = 1_000_000


class Downloads:
    """Links are signed by the bucket where the bytes are in one, and by us where they are in a folder."""

    def __init__(self, store: Store, files: Files, clock: Clock, key: bytes, base_url: str) -> None:
        self._store = store
        self._files = files
        self._clock = clock
        self._key = key
        self._base_url = base_url

    async def attach(self, kept: KeptAttachment, workspace_id: str, now: int) -> Attachment:
        record = kept.record
        expires_at_s = now // SECOND_US + ATTACHMENT_URL_LIFETIME_S
        url = None
        if kept.file_key is not None:
            url = await self._files.presigned(kept.file_key, ATTACHMENT_URL_LIFETIME_S)
        return Attachment(
            id=record.id,
            filename=record.filename,
            content_type=record.content_type,
            size_bytes=record.size_bytes,
            url=url or sign(self._key, self._base_url, workspace_id, record.id, expires_at_s),
            url_expires_at=Moment(expires_at_s * SECOND_US),
            created_at=record.created_at,
        )

    async def download(self, request: Request) -> Response:
        """What a signed link leads to; the attachment may have gone since the link was made."""
        workspace_id = request.path_params["workspace_id"]
        attachment_id = request.path_params["attachment_id"]
        expires = request.query_params.get("expires", "")
        signature = request.query_params.get("signature", "")
        match verify(self._key, workspace_id, attachment_id, expires, signature, self._clock() / SECOND_US):
            case Verdict.EXPIRED:
                return failed(DeskError("FORBIDDEN", "This link has expired; ask the API for a new one."))
            case Verdict.ALTERED:
                return failed(DeskError("FORBIDDEN", "This link is not one that was given out."))
        if parse_id(workspace_id) is None or parse_id(attachment_id) is None:
            return failed(not_found("attachment"))
        kept = await self._store.read(lambda tx: find_attachment(tx, workspace_id, attachment_id))
        return await self._send(kept)

    async def _send(self, kept: KeptAttachment) -> Response:
        found = None if kept.file_key is None else await self._files.get(kept.file_key)
        if found is None:
            return failed(DeskError("NOT_FOUND", "The bytes of this attachment were never stored."))
        return StreamingResponse(
            found.chunks,
            headers={
                "content-type": safe_content_type(kept.record.content_type),
                "content-length": str(found.size_bytes),
                "content-disposition": disposition(kept.record.filename),
                "content-security-policy": "sandbox; default-src 'none'",
                "x-content-type-options": "nosniff",
                "cache-control": "private, no-store",
            },
        )
