"""The bytes of attachments, in a folder or in a bucket of an object store."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec
import obstore
from obstore.exceptions import BaseError
from obstore.store import AzureStore, GCSStore, LocalStore, S3Store, from_url

from deskwire.model import limits
from deskwire.model.downloads import disposition, safe_content_type
from deskwire.model.errors import Unavailable

if TYPE_CHECKING:
    from obstore import GetResult
    from obstore.store import ClientConfig, RetryConfig


class FilesUnavailable(Unavailable):
    """The store of attachments did not do what it was asked; the text says what and why."""


class Download(msgspec.Struct, frozen=True):
    """A stored file on its way out."""

    size_bytes: int
    chunks: AsyncIterator[bytes]


def open_files(url_or_folder: str) -> "Files":
    """The store in a folder (made when absent), or in a bucket when it is a URL such as `s3://bucket/prefix`.

    Credentials, region and endpoint of a bucket come from its provider's usual environment variables.
    """
    with _translated(f"attachments cannot be kept in {url_or_folder}"):
        if "://" not in url_or_folder:
            return Files(LocalStore(Path(url_or_folder).absolute(), mkdir=True), url_or_folder)
        if url_or_folder.startswith("file://"):
            return Files(LocalStore.from_url(url_or_folder, mkdir=True), url_or_folder)
        store = from_url(url_or_folder, client_options=_client_options(), retry_config=_RETRIES)
    if isinstance(store, AzureStore | GCSStore | S3Store):
        return Files(store, url_or_folder)
    raise FilesUnavailable(
        f"attachments cannot be kept in {url_or_folder}: name a folder, s3://, gs:// or az://"
    )


def content_key(workspace_id: str, attachment_id: str) -> str:
    """Where an attachment's bytes are kept; nothing that a user wrote is in it."""
    return f"{UUID(workspace_id)}/{UUID(attachment_id)}/content"


class Files:
    """A store of files under keys that `content_key` makes."""

    def __init__(self, store: LocalStore | AzureStore | GCSStore | S3Store, place: str) -> None:
        self._store = store
        self._place = place

    async def put(self, key: str, source: Path | bytes, *, filename: str, content_type: str) -> None:
        """Keeps the bytes, all or nothing; a bucket serves them under the given name and a harmless type.

        An OSError says that the source cannot be read.
        """
        path = _checked(key)
        if isinstance(source, Path):
            await asyncio.to_thread(_check_readable, source)
        with _translated(f"an attachment cannot be written to {self._place}"):
            await obstore.put_async(
                self._store,
                path,
                source,
                attributes=self._attributes(filename, content_type),
                chunk_size=limits.ATTACHMENT_PART_BYTES,
                max_concurrency=limits.ATTACHMENT_PARTS_AT_ONCE,
            )
            if isinstance(self._store, LocalStore):
                await asyncio.to_thread(_settle, _root(self._store), path)

    async def get(self, key: str) -> Download | None:
        path, doing = _checked(key), f"an attachment cannot be read from {self._place}"
        with _translated(doing):
            try:
                found = await obstore.get_async(self._store, path)
            except FileNotFoundError:
                return None
            return Download(found.meta["size"], _chunks(found, doing))

    async def delete(self, key: str) -> None:
        """Removes the file; one that is not there is no error."""
        path = _checked(key)
        with _translated(f"an attachment cannot be deleted from {self._place}"):
            try:
                await obstore.delete_async(self._store, path)
            except FileNotFoundError:
                return

    async def exists(self, key: str) -> bool:
        path = _checked(key)
        with _translated(f"an attachment cannot be looked up in {self._place}"):
            try:
                await obstore.head_async(self._store, path)
            except FileNotFoundError:
                return False
            return True

    async def presigned(self, key: str, expires_in_s: int) -> str | None:
        """The bucket's own signed address for a download; None when the files are in a folder."""
        path = _checked(key)
        if isinstance(self._store, LocalStore):
            return None
        with _translated(f"a download from {self._place} cannot be signed"):
            return await obstore.sign_async(self._store, "GET", path, timedelta(seconds=expires_in_s))

    def _attributes(self, filename: str, content_type: str) -> dict[str, str] | None:
        """What a bucket sends with a download: signing cannot set it, so it is kept with the file."""
        if isinstance(self._store, LocalStore):
            return None
        return {"Content-Disposition": disposition(filename), "Content-Type": safe_content_type(content_type)}


async def _chunks(found: "GetResult", doing: str) -> AsyncIterator[bytes]:
    with _translated(doing):
        async for chunk in found.stream(min_chunk_size=limits.ATTACHMENT_CHUNK_BYTES):
            yield bytes(chunk)


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key of an attachment")
    return key


def _check_readable(source: Path) -> None:
    with source.open("rb") as file:
        file.read(1)


def _root(store: LocalStore) -> Path:
    assert store.prefix is not None
    return store.prefix


def _settle(root: Path, path: str) -> None:
    """Sees a written file, and the folders that name it, onto the disk."""
    file = root / path
    for place in (file, *file.parents[: path.count("/") + 1]):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _translated(doing: str) -> Iterator[None]:
    try:
        yield
    except (BaseError, OSError, ValueError) as problem:
        reason = str(problem).partition("\n")[0]
        raise FilesUnavailable(f"{doing}: {_QUERY.sub('', reason)}") from problem


def _client_options() -> "ClientConfig":
    """An endpoint named with `http://` in the environment is meant so; any other is reached over TLS."""
    return {
        "allow_http": any(os.environ.get(name, "").startswith("http://") for name in _ENDPOINTS),
        "connect_timeout": timedelta(seconds=limits.ATTACHMENT_CONNECT_TIMEOUT_S),
        "read_timeout": timedelta(seconds=limits.ATTACHMENT_READ_TIMEOUT_S),
        "timeout": timedelta(seconds=limits.ATTACHMENT_REQUEST_TIMEOUT_S),
    }


_RETRIES: "RetryConfig" = {
    "max_retries": limits.ATTACHMENT_RETRIES,
    "retry_timeout": timedelta(seconds=limits.ATTACHMENT_RETRY_WINDOW_S),
}
_ENDPOINTS = ("AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")
_KEY = re.compile("[0-9a-f-]{36}/[0-9a-f-]{36}/content")
# The query of an address in an error's text may hold a signature.
_QUERY = re.compile(r"\?\S*")
