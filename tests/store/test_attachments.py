import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest
from botocore.auth import S3SigV4QueryAuth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from moto.server import ThreadedMotoServer

from deskwire.store.attachments import Files, FilesUnavailable, content_key, open_files

WORKSPACE = "018f3e1c-7c2a-7b11-9a53-000000000001"
KEY = content_key(WORKSPACE, "018f3e1c-7c2a-7b11-9a53-000000000002")
OTHER = content_key(WORKSPACE, "018f3e1c-7c2a-7b11-9a53-000000000003")
SECRET = "a-secret-access-key"


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """An object store that is a mock (moto) behind a real socket: it checks no signature and no expiry."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    with urlopen(Request(f"{endpoint}/bucket", method="PUT")):
        pass
    yield endpoint
    server.stop()


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> Files:
    environment = {
        "ENDPOINT_URL": s3,
        "ACCESS_KEY_ID": "id",
        "SECRET_ACCESS_KEY": SECRET,
        "REGION": "us-east-1",
    }
    for name, value in environment.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    return open_files("s3://bucket/desk")


@pytest.fixture
def folder(tmp_path: Path) -> Files:
    return open_files(str(tmp_path / "deep" / "files"))


@pytest.fixture(params=["folder", "bucket"])
def files(request: pytest.FixtureRequest) -> Files:
    found: Files = request.getfixturevalue(request.param)
    return found


async def put(files: Files, key: str, source: Path | bytes) -> None:
    await files.put(key, source, filename="견적서 1.txt", content_type="text/plain")


async def read(files: Files, key: str) -> bytes | None:
    found = await files.get(key)
    if found is None:
        return None
    content = b"".join([chunk async for chunk in found.chunks])
    assert found.size_bytes == len(content)
    return content


@pytest.mark.parametrize("content", [b"", b"hello", bytes(range(256)) * 3000])
def test_what_is_put_is_got_back(files: Files, content: bytes) -> None:
    async def run() -> None:
        await put(files, KEY, content)
        assert await read(files, KEY) == content
        assert await files.exists(KEY)

    asyncio.run(run())


def test_a_later_put_replaces_the_bytes(files: Files) -> None:
    async def run() -> None:
        await put(files, KEY, b"one, which is longer")
        await put(files, KEY, b"two")
        assert await read(files, KEY) == b"two"

    asyncio.run(run())


def test_a_file_of_several_parts_is_streamed_in_and_out(files: Files, tmp_path: Path) -> None:
    source = tmp_path / "large"
    part = os.urandom(1024 * 1024)
    with source.open("wb") as file:
        for _ in range(24):
            file.write(part)

    async def run() -> None:
        await put(files, KEY, source)
        found = await files.get(KEY)
        assert found is not None
        assert found.size_bytes == 24 * len(part)
        received = 0
        async for chunk in found.chunks:
            assert chunk == (part + part)[received % len(part) :][: len(chunk)]
            received += len(chunk)
        assert received == found.size_bytes

    asyncio.run(run())


COPY_A_FILE_THROUGH_THE_STORE = """
import asyncio, re, sys
from pathlib import Path
from deskwire.store.attachments import open_files

def peak_kib():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text()).group(1))

async def run(place, key, source):
    files = open_files(place)
    await files.put(key, b"x", filename="x", content_type="x")
    before = peak_kib()
    await files.put(key, Path(source), filename="x", content_type="x")
    found = await files.get(key)
    assert found.size_bytes == sum([len(chunk) async for chunk in found.chunks])
    print(peak_kib() - before)

asyncio.run(run(*sys.argv[1:]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads its peak memory from /proc")
@pytest.mark.parametrize("place", ["folder", "s3://bucket/desk"])
def test_memory_does_not_grow_with_the_file(place: str, bucket: Files, tmp_path: Path) -> None:
    source = tmp_path / "large"
    with source.open("wb") as file:
        file.truncate(96 * 1024 * 1024)
    arguments = [sys.executable, "-c", COPY_A_FILE_THROUGH_THE_STORE, place, KEY, str(source)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        arguments, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 48 * 1024


def test_what_is_deleted_is_gone_and_deleting_it_again_is_no_error(files: Files) -> None:
    async def run() -> None:
        await put(files, KEY, b"x")
        await put(files, OTHER, b"y")
        await files.delete(KEY)
        await files.delete(KEY)
        assert await files.get(KEY) is None
        assert not await files.exists(KEY)
        assert await read(files, OTHER) == b"y"

    asyncio.run(run())


def test_a_source_that_is_missing_or_a_folder_is_an_os_error_and_stores_nothing(
    files: Files, tmp_path: Path
) -> None:
    async def run() -> None:
        await files.delete(KEY)
        with pytest.raises(FileNotFoundError):
            await put(files, KEY, tmp_path / "absent")
        with pytest.raises(IsADirectoryError):
            await put(files, KEY, tmp_path)
        assert not await files.exists(KEY)

    asyncio.run(run())


@pytest.mark.parametrize(
    "key",
    ["", "x", "../" + KEY, KEY + "/..", KEY + "\n", KEY.replace("content", "../x"), "/" + KEY, KEY.upper()],
)
def test_a_key_of_another_form_is_refused(files: Files, key: str) -> None:
    async def run() -> None:
        for doing in (put(files, key, b"x"), files.get(key), files.delete(key), files.exists(key)):
            with pytest.raises(ValueError, match="is no key of an attachment"):
                await doing
        with pytest.raises(ValueError, match="is no key of an attachment"):
            await files.presigned(key, 300)

    asyncio.run(run())


def test_a_key_is_made_of_ids_alone() -> None:
    attachment = "018F3E1C-7C2A-7B11-9A53-000000000002"
    assert content_key(WORKSPACE, attachment) == f"{WORKSPACE}/{attachment.lower()}/content"
    with pytest.raises(ValueError, match="UUID"):
        content_key(WORKSPACE, "../../etc/passwd")


def test_a_folder_signs_nothing_and_keeps_nothing_beside_the_files(folder: Files, tmp_path: Path) -> None:
    async def run() -> None:
        await put(folder, KEY, b"x" * 6_000_000)
        assert await folder.presigned(KEY, 300) is None

    asyncio.run(run())
    kept = [path for path in (tmp_path / "deep").rglob("*") if path.is_file()]
    assert kept == [tmp_path / "deep" / "files" / KEY]


def test_a_folder_can_be_named_by_a_relative_path_and_by_a_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def run() -> None:
        await put(open_files("files"), KEY, b"x")
        assert await read(open_files(f"file://{tmp_path}/files"), KEY) == b"x"

    asyncio.run(run())


def test_a_bucket_serves_its_signed_address_as_a_harmless_download(bucket: Files) -> None:
    async def run() -> str | None:
        await bucket.put(KEY, b"<script>", filename="견적서.html", content_type="text/html")
        return await bucket.presigned(KEY, 300)

    url = asyncio.run(run())
    assert url is not None
    with urlopen(url) as answer:
        assert answer.read() == b"<script>"
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith(
            'attachment; filename="___.html"; filename*=UTF-8'
        )
    with pytest.raises(HTTPError) as refused:
        urlopen(url.partition("?")[0])
    assert refused.value.code == 403
    refused.value.close()


def test_a_signed_address_is_bound_to_its_key_and_its_end(bucket: Files) -> None:
    """The mock checks no signature, so it is computed again from the address, as the real store does."""
    url = asyncio.run(bucket.presigned(KEY, 300))
    assert url is not None
    query = parse_qs(urlsplit(url).query)
    assert query["X-Amz-Expires"] == ["300"]
    assert query["X-Amz-Signature"] == [signature_of(url)]
    for altered in (url.replace(KEY, OTHER), url.replace("Expires=300", "Expires=301")):
        assert altered != url
        assert query["X-Amz-Signature"] != [signature_of(altered)]


def signature_of(url: str) -> str:
    auth = S3SigV4QueryAuth(Credentials("id", SECRET), "s3", "us-east-1")
    request = AWSRequest("GET", url.partition("&X-Amz-Signature=")[0])
    request.context["timestamp"] = parse_qs(urlsplit(url).query)["X-Amz-Date"][0]
    signature: str = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    return signature


def test_a_bucket_that_is_not_there_is_named_in_the_error(bucket: Files) -> None:
    async def run() -> None:
        with pytest.raises(FilesUnavailable, match=r"cannot be written to s3://absent: .*404"):
            await put(open_files("s3://absent"), KEY, b"x")

    asyncio.run(run())


def test_a_store_that_does_not_answer_is_unavailable_in_every_operation(
    bucket: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    away = open_files("s3://bucket/desk")

    async def run() -> None:
        for doing in (put(away, KEY, b"x"), away.get(KEY), away.delete(KEY), away.exists(KEY)):
            with pytest.raises(FilesUnavailable, match="s3://bucket/desk") as refused:
                await doing
            assert "\n" not in str(refused.value)
            assert SECRET not in str(refused.value)

    asyncio.run(run())


def test_a_folder_that_cannot_be_written_is_unavailable(folder: Files, tmp_path: Path) -> None:
    (tmp_path / "deep" / "files" / WORKSPACE).write_bytes(b"a file where a folder belongs")

    async def run() -> None:
        with pytest.raises(FilesUnavailable, match="cannot be written to"):
            await put(folder, KEY, b"x")

    asyncio.run(run())


@pytest.mark.parametrize("place", ["ftp://host/x", "http://host/x", "memory:///", "s3://", "az://container"])
def test_a_place_that_is_no_store_is_refused_by_name(place: str) -> None:
    with pytest.raises(FilesUnavailable, match=f"attachments cannot be kept in {place}"):
        open_files(place)


def test_a_folder_that_is_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FilesUnavailable, match="attachments cannot be kept in"):
        open_files(str(tmp_path / "file"))
