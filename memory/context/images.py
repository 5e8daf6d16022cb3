"""What a picture or a file costs, in tokens, by the rules that the makers publish.

A picture's size is read from the first bytes of its data; nothing is decoded. Of a picture that lies elsewhere (a URL,
a file's id) nothing is known, and a usual size is taken.
"""

from __future__ import annotations

import binascii
import math
import struct

USUAL = (1280, 800)
"""Pixels of a picture of which nothing is known: a screenshot's size after the makers' own scaling."""

HEADER = 64 * 1024
"""Characters of base64 that are looked at: a JPEG may carry a thumbnail and a profile in front of its size."""

PAGE_BYTES, PAGE_TOKENS = 40_000, 2000
"""Of a document: bytes that a page has on average, and tokens that a page comes to (its text, and its picture)."""


def image_tokens(source: str, maker: str) -> int:
    """Tokens of a picture. ``source`` is a URL, a ``data:`` URL, or bare base64; ``maker`` whose model reads it."""
    size = dimensions(source)
    return tokens_by_size(*(size or USUAL), maker)


def tokens_by_size(width: int, height: int, maker: str) -> int:
    """Tokens of a picture of so many pixels.

    Anthropic: width × height / 750, after scaling to 1568 pixels and about 1.15 megapixels at most
    (platform.claude.com/docs/en/build-with-claude/vision). OpenAI, and for want of their rules all others: 85, and 170
    for each tile of 512 pixels after scaling into 2048 × 2048 and to 768 on the shorter side
    (platform.openai.com/docs/guides/images-vision).
    """
    width, height = max(width, 1), max(height, 1)
    if maker == "anthropic":
        scale = min(1.0, 1568 / max(width, height))
        return max(min(math.ceil(width * scale * height * scale / 750), 1600), 1)
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / max(min(width, height) * scale, 1))
    return 85 + 170 * math.ceil(width * scale / 512) * math.ceil(height * scale / 512)


def document_tokens(encoded: int) -> int:
    """Tokens of a document of which ``encoded`` characters of base64 are there (0 where it lies elsewhere)."""
    return PAGE_TOKENS * max(encoded * 3 // 4 // PAGE_BYTES, 1)


def dimensions(source: str) -> tuple[int, int] | None:
    """Width and height of a PNG, JPEG, GIF or WebP in base64; None of anything else."""
    if source.startswith(("http://", "https://", "file:")):
        return None
    start = source.find(",") + 1 if source.startswith("data:") else 0
    encoded = source[start : start + HEADER]
    try:
        data = binascii.a2b_base64(encoded[: len(encoded) // 4 * 4])
        return _dimensions(data)
    except (binascii.Error, ValueError, struct.error):
        return None


def _dimensions(data: bytes) -> tuple[int, int] | None:
    found = None
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        found = struct.unpack(">II", data[16:24])
    elif data[:6] in (b"GIF87a", b"GIF89a"):
        found = struct.unpack("<HH", data[6:10])
    elif data.startswith(b"\xff\xd8"):
        found = _jpeg(data)
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        found = _webp(data)
    return (found[0], found[1]) if found and 0 < found[0] < 100_000 and 0 < found[1] < 100_000 else None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """The size in the first frame header (SOF0 to SOF15, without DHT, JPG and DAC)."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None
