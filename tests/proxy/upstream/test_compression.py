"""Compressions that Python's own library cannot read."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from proxy.upstream.direct import decompressed, library_of

TEXT = b"We decided to use PostgreSQL 16. " * 1000


def compressed(encoding: str, text: bytes) -> bytes:
    library = library_of(encoding)
    assert library is not None
    told: bytes = library.compress(text)
    return told


def test_what_clients_compress_with_is_read_by_the_default_install() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert {"backports.zstd", "brotli"} <= {needed.partition(">")[0] for needed in project["dependencies"]}


@pytest.mark.parametrize("encoding", ["zstd", "br", "ZSTD", " br "])
def test_what_is_compressed_is_read(encoding: str) -> None:
    assert decompressed(compressed(encoding.strip().lower(), TEXT), encoding, len(TEXT)) == TEXT


@pytest.mark.parametrize("encoding", ["zstd", "br"])
def test_what_is_broken_cut_or_too_large_is_not(encoding: str) -> None:
    whole = compressed(encoding, TEXT)
    for body in (whole[:-3], b"", b"{}", whole + b"more"):
        assert decompressed(body, encoding, len(TEXT)) is None
    assert decompressed(whole, encoding, len(TEXT) - 1) is None
    bomb = compressed(encoding, bytes(2**26))
    assert decompressed(bomb, encoding, 2**16) is None


@pytest.mark.parametrize("encoding", ["zstd", "br"])
def test_where_no_library_is_installed_it_is_left_as_it_is(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = compressed(encoding, TEXT)
    for name in ("compression.zstd", "backports.zstd", "brotli"):
        monkeypatch.setitem(sys.modules, name, None)
    assert decompressed(body, encoding, len(TEXT)) is None
