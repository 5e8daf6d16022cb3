"""Compressions that Python's own library cannot read, or not in every version."""

from __future__ import annotations

import importlib
from types import ModuleType


def inflate(body: bytes, encoding: str, largest: int) -> bytes | None:
    """A body in ``zstd`` or ``br`` as plain bytes; None where nothing here reads it, it is broken, or it grows beyond
    ``largest``."""
    library = library_of(encoding)
    if library is None:
        return None
    return _zstd(library, body, largest) if encoding == "zstd" else _brotli(library, body, largest)


def library_of(encoding: str) -> ModuleType | None:
    """What reads and writes a compression; None where it is not installed."""
    return _library("brotli") if encoding == "br" else _library("compression.zstd") or _library("backports.zstd")


def _zstd(library: ModuleType, body: bytes, largest: int) -> bytes | None:
    inflater = library.ZstdDecompressor()
    try:
        plain: bytes = inflater.decompress(body, largest)
    except library.ZstdError:
        return None
    return plain if inflater.eof and not inflater.unused_data else None


def _brotli(library: ModuleType, body: bytes, largest: int) -> bytes | None:
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
