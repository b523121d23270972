"""Small files of common types, made byte by byte, for the demo's attachments."""

import math
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

Medium = Literal["image", "file", "audio", "video"]
Colour = tuple[int, int, int]

SIDE_PIXELS = 64
TONE_RATE_HZ = 8_000
SPOKES = 14


@dataclass(frozen=True)
class Specimen:
    medium: Medium
    content_type: str
    content: bytes


@cache
def specimens() -> dict[str, Specimen]:
    """The files by name."""
    return {
        "wheel.png": Specimen("image", "image/png", _png(_wheel((30, 60, 90)))),
        "rear-wheel.png": Specimen("image", "image/png", _png(_wheel((120, 40, 30)))),
        "brake-disc.png": Specimen("image", "image/png", _png(_disc)),
        "torn-box.png": Specimen("image", "image/png", _png(_box)),
        "frame-size.svg": Specimen("image", "image/svg+xml", _svg()),
        "invoice.pdf": Specimen("file", "application/pdf", _pdf("Kettle & Crank Cycles: invoice")),
        "warranty.pdf": Specimen("file", "application/pdf", _pdf("Kettle & Crank Cycles: warranty card")),
        "orders.csv": Specimen("file", "text/csv", _csv()),
        "frame-number.txt": Specimen("file", "text/plain", "Frame number: KC7204418\nGröße: L\n".encode()),
        "creak.wav": Specimen("audio", "audio/wav", _wav(440)),
        "squeal.wav": Specimen("audio", "audio/wav", _wav(1_760)),
        "wobble.avi": Specimen("video", "video/x-msvideo", _avi()),
    }


def _png(pixel: Callable[[float, float], Colour]) -> bytes:
    """A picture drawn by a function of coordinates from -1 to 1."""
    steps = [2 * step / (SIDE_PIXELS - 1) - 1 for step in range(SIDE_PIXELS)]
    rows = (b"\0" + bytes(part for x in steps for part in pixel(x, y)) for y in steps)
    header = struct.pack(">IIBBBBB", SIDE_PIXELS, SIDE_PIXELS, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


def _wheel(tyre: Colour) -> Callable[[float, float], Colour]:
    def pixel(x: float, y: float) -> Colour:
        radius = math.hypot(x, y)
        turn = math.atan2(y, x) / math.tau * SPOKES % 1
        if 0.82 < radius < 0.97:
            return tyre
        if radius < 0.12 or (radius < 0.82 and turn < 0.1 / max(radius, 0.2)):
            return (150, 150, 155)
        return (235, 238, 240)

    return pixel


def _disc(x: float, y: float) -> Colour:
    radius = math.hypot(x, y)
    if not 0.45 < radius < 0.9:
        return (60, 62, 66)
    drilled = math.sin(radius * 40) * math.cos(math.atan2(y, x) * 12) > 0.6
    return (40, 40, 44) if drilled else (190, 192, 196)


def _box(x: float, y: float) -> Colour:
    if abs(x) > 0.8 or abs(y) > 0.7:
        return (225, 222, 215)
    torn = abs(y - 0.3 * math.sin(9 * x)) < 0.12
    return (70, 50, 35) if torn else (186, 140, 92)


def _svg() -> bytes:
    return (
        b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 80" fill="none" stroke="#1f4e79">'
        b'<circle cx="25" cy="55" r="18"/><circle cx="95" cy="55" r="18"/>'
        b'<path d="M25 55 45 25H80L58 55ZM45 25 58 55M80 25 95 55M40 18H50"/></svg>\n'
    )


def _pdf(title: str) -> bytes:
    """One page with one line, its cross-reference table counted out."""
    stream = f"BT /F1 18 Tf 40 100 Td ({title}) Tj ET".encode()
    bodies = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 200] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    document = b"%PDF-1.4\n"
    entries = b"0000000000 65535 f \n"
    for number, body in enumerate(bodies, start=1):
        entries += b"%010d 00000 n \n" % len(document)
        document += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    count = len(bodies) + 1
    table = b"xref\n0 %d\n%btrailer\n<< /Size %d /Root 1 0 R >>\n" % (count, entries, count)
    return document + table + b"startxref\n%d\n%%%%EOF\n" % len(document)


def _csv() -> bytes:
    lines = ("order,article,quantity,price", "KC-48213,Brake pads,2,24.90", "KC-50177,Kette 11-fach,1,39.00")
    return "".join(f"{line}\r\n" for line in lines).encode()


def _wav(pitch_hz: int) -> bytes:
    """A quarter of a second of one tone, eight bits, fading."""
    count = TONE_RATE_HZ // 4
    samples = bytes(
        round(128 + 100 * (1 - step / count) * math.sin(math.tau * pitch_hz * step / TONE_RATE_HZ))
        for step in range(count)
    )
    form = struct.pack("<HHIIHH", 1, 1, TONE_RATE_HZ, TONE_RATE_HZ, 1, 8)
    return _chunk(b"RIFF", b"WAVE" + _chunk(b"fmt ", form) + _chunk(b"data", samples))


def _avi() -> bytes:
    """Eight uncompressed frames of a bar that moves, four a second."""
    width, height, frames, frame_microseconds = 16, 12, 8, 250_000
    size = width * height * 3
    pictures = [
        bytes(
            255 if column // 2 == frame else 40
            for _ in range(height)
            for column in range(width)
            for _ in "bgr"
        )
        for frame in range(frames)
    ]
    main = struct.pack(
        "<14I", frame_microseconds, size * 4, 0, 0x10, frames, 0, 1, size, width, height, 0, 0, 0, 0
    )
    stream = b"vidsDIB " + struct.pack(
        "<I2H8I4H", 0, 0, 0, 0, 1, 4, 0, frames, size, 0, 0, 0, 0, width, height
    )
    bitmap = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, size, 0, 0, 0, 0)
    streams = _list(b"strl", _chunk(b"strh", stream) + _chunk(b"strf", bitmap))
    offsets = (4 + frame * (size + 8) for frame in range(frames))
    index = b"".join(b"00db" + struct.pack("<3I", 0x10, offset, size) for offset in offsets)
    return _chunk(
        b"RIFF",
        b"AVI "
        + _list(b"hdrl", _chunk(b"avih", main) + streams)
        + _list(b"movi", b"".join(_chunk(b"00db", picture) for picture in pictures))
        + _chunk(b"idx1", index),
    )


def _list(kind: bytes, body: bytes) -> bytes:
    return _chunk(b"LIST", kind + body)


def _chunk(kind: bytes, body: bytes) -> bytes:
    """A chunk of the RIFF format; bodies here all have an even length."""
    return kind + struct.pack("<I", len(body)) + body
