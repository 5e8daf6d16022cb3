"""A picture's tokens, by its size, which is read from its first bytes."""

import base64
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.sizes import USUAL, dimensions, document_tokens, image_tokens, tokens_by_size


def png(width: int, height: int) -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header)) + b"\0" * 99


def jpeg(width: int, height: int) -> bytes:
    profile = b"\xff\xe1" + struct.pack(">H", 5000) + b"\xff\xc0" * 2499
    tables = b"\xff\xc4" + struct.pack(">H", 4) + b"\0\0"
    return (
        b"\xff\xd8" + profile + tables + b"\xff\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\0" * 99
    )


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 9


def webp(kind: bytes, width: int, height: int) -> bytes:
    match kind:
        case b"VP8X":
            inner = b"\0" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        case b"VP8L":
            inner = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little")
        case _:
            inner = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height)
    return b"RIFF\0\0\0\0WEBP" + kind + struct.pack("<I", len(inner)) + inner + b"\0" * 9


@pytest.mark.parametrize(
    "data",
    [png(640, 480), jpeg(640, 480), gif(640, 480), *(webp(kind, 640, 480) for kind in (b"VP8X", b"VP8L", b"VP8 "))],
    ids=["png", "jpeg", "gif", "webp-x", "webp-l", "webp"],
)
@pytest.mark.parametrize("prefix", ["", "data:image/any;base64,"])
def test_the_size_stands_in_the_first_bytes(data: bytes, prefix: str) -> None:
    assert dimensions(prefix + base64.b64encode(data).decode()) == (640, 480)


@given(st.binary(max_size=200) | st.binary(max_size=100).map(lambda tail: b"\xff\xd8\xff" + tail))
def test_any_bytes_have_a_size_or_none(data: bytes) -> None:
    found = dimensions(base64.b64encode(data).decode())
    assert found is None or min(found) > 0


@given(st.text(max_size=100))
def test_any_text_costs_something(source: str) -> None:
    assert image_tokens(source, "openai") > 0


@pytest.mark.parametrize("source", ["https://example.org/a.png", "file-abc", "", "data:image/png;base64,"])
def test_of_an_unknown_picture_a_usual_size_is_taken(source: str) -> None:
    for maker in ("anthropic", "openai", "other"):
        assert image_tokens(source, maker) == tokens_by_size(*USUAL, maker)


@pytest.mark.parametrize(
    ("width", "height", "maker", "tokens"),
    [
        (1000, 1000, "anthropic", 1334),
        (200, 200, "anthropic", 54),
        (8000, 8000, "anthropic", 1600),
        (1024, 1024, "openai", 765),
        (2048, 4096, "openai", 1105),
        (1, 1, "openai", 255),
    ],
)
def test_the_makers_own_examples(width: int, height: int, maker: str, tokens: int) -> None:
    assert tokens_by_size(width, height, maker) == tokens


def test_a_longer_document_costs_more() -> None:
    assert document_tokens(0) == 2000
    assert document_tokens(400_000) > document_tokens(100_000) > 0
