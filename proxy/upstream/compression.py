"""Compressions that Python's own library cannot read, where ``palimpsest-proxy[compression]`` is installed."""

from __future__ import annotations

import importlib
from types import ModuleType


def inflate(body: bytes, encoding: str, largest: int) -> bytes | None:
    """A body in ``zstd`` or ``br`` as plain bytes; None where nothing here reads it, it is broken, or it grows beyond
    ``largest``."""
    return _zstd(body, largest) if encoding == "zstd" else _brotli(body, largest)


def _zstd(body: bytes, largest: int) -> bytes | None:
    library = _library("compression.zstd") or _library("backports.zstd")
    if library is None:
        return None
    inflater = library.ZstdDecompressor()
    try:
        plain: bytes = inflater.decompress(body, largest)
    except library.ZstdError:
        return None
    return plain if inflater.eof and not inflater.unused_data else None


def _brotli(body: bytes, largest: int) -> bytes | None:
    library = _library("brotli")
    if library is None:
        return None
    inflater = library.Decompressor()
    pieces, size = list[bytes](), 0
    try:
        # The last byte comes on its own: what is finished before it has something behind its end.
        for rest in (body[:-1], body[-1:]):
            if inflater.is_finished():
                return None
            piece: bytes = inflater.process(rest, output_buffer_limit=largest - size + 1)
            while piece:
                pieces.append(piece)
                size += len(piece)
                if size > largest:
                    return None
                piece = b"" if inflater.is_finished() else inflater.process(b"", output_buffer_limit=largest - size + 1)
    except library.error:
        return None
    return b"".join(pieces) if inflater.is_finished() else None


def _library(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
