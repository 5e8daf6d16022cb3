"""The trained weights that come with the package, read once: they are as much a part of it as its code.

What is mapped takes no time to read, and memory only for the rows that somebody looks at. A file is mapped once, since
each mapping holds a descriptor. Only tables of bytes that are stored as they are (``numpy.savez``) are mapped: what is
compressed is read, and so is what an archive may hold at an odd place, such as floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from struct import Struct
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from memory.language.static_embedding import DATA, StaticEmbedding
from memory.lru import LruDict
from memory.understanding.clauses import ClauseReader, ClauseSplitter
from memory.understanding.dependence import DependenceHead
from memory.understanding.encoder import Encoder, Relation, encoder_of, unpointed
from memory.understanding.network import ClauseModel, DenseLayer, Table
from memory.understanding.recurring_corrections import RecurrenceModel
from memory.understanding.relevance import Relevance
from memory.understanding.request_kind import RequestKinds
from memory.understanding.settled import SettledHead

_LOCAL_HEADER: Final = Struct("<26xHH")
"""What stands in front of a file in an archive: at its end, how long the name and the extra field behind it are."""


def arrays_in(file: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file by their names, none of which may be written to. Raises FileNotFoundError."""
    with ZipFile(file) as archive:
        mapped = np.memmap(file, np.uint8, "r")
        return {member.filename.removesuffix(".npy"): _array(mapped, archive, member) for member in archive.infolist()}


def _array(mapped: NDArray[np.uint8], archive: ZipFile, member: ZipInfo) -> NDArray[Any]:
    with archive.open(member) as content:
        version = np.lib.format.read_magic(content)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(content)
        if member.compress_type == ZIP_STORED and dtype.itemsize == 1 and 0 not in shape and shape:
            begin = _data_offset(mapped, member)
            own = mapped[begin + content.tell() : begin + member.file_size]
            return np.asarray(own.view(dtype).reshape(shape, order="F" if fortran else "C"))
    with archive.open(member) as content:
        whole: NDArray[Any] = np.lib.format.read_array(content)
    whole.flags.writeable = False
    return whole


def _data_offset(mapped: NDArray[np.uint8], member: ZipInfo) -> int:
    """Where a member's own bytes begin."""
    name, extra = _LOCAL_HEADER.unpack_from(mapped.data, member.header_offset)
    return member.header_offset + _LOCAL_HEADER.size + int(name) + int(extra)


WEIGHTS: Final = "clauses.npz"
RELEVANCE: Final = "relevance.npz"
REQUEST_KIND: Final = "request_kind.npz"
ENCODER: Final = "encoder.npz"
SETTLED: Final = "settled.npz"
DEPENDENCE: Final = "dependence.npz"
RECURRING: Final = "recurring_corrections.npz"
RELATIONS: Final = 4096
"""Pairs of statements that are at hand once they were read, by learning or by recall: reading one takes
milliseconds."""
_RELATIONS: Final[LruDict[tuple[str, str], Relation]] = LruDict(RELATIONS)


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    """The encoder with the weights in the package. Raises FileNotFoundError where they are missing."""
    return encoder_of(arrays_in(DATA / ENCODER))


@lru_cache(maxsize=1)
def reader() -> ClauseReader:
    """The reader with the weights in the package. Raises FileNotFoundError where they are missing."""
    stored = arrays_in(DATA / WEIGHTS)
    splitter = ClauseSplitter(stored["boundary"].astype(np.float32))
    return ClauseReader(
        splitter,
        clause_model(stored),
        StaticEmbedding.load().documents,
        encoder,
        settled=settled_head(),
        dependence=dependence_head(),
    )


@lru_cache(maxsize=1)
def settled_head() -> SettledHead:
    """What tells what settles something, with the weights in the package. Raises FileNotFoundError where they are
    missing."""
    return SettledHead(*_layers(arrays_in(DATA / SETTLED)))


@lru_cache(maxsize=1)
def dependence_head() -> DependenceHead:
    """What tells what a clause needs to be understood, with the weights in the package. Raises FileNotFoundError where
    they are missing."""
    return DependenceHead(*_layers(arrays_in(DATA / DEPENDENCE)))


@lru_cache(maxsize=1)
def recurrence() -> RecurrenceModel:
    """What tells who pushes back on the same, with the weights in the package. Raises FileNotFoundError where they are
    missing."""
    stored = arrays_in(DATA / RECURRING)
    return RecurrenceModel(stored["weights"], stored["bias"])


@lru_cache(maxsize=1)
def relevance() -> Relevance:
    """The relevance model with the weights in the package. Raises FileNotFoundError where they are missing."""
    stored = arrays_in(DATA / RELEVANCE)
    hidden, out = _layers(stored)
    return Relevance(
        requests=Table(stored["requests"], float(stored["requests_scale"])),
        memories=Table(stored["memories"], float(stored["memories_scale"])),
        hidden=hidden,
        out=out,
        embed=reader().embed,
    )


@lru_cache(maxsize=1)
def request_kinds() -> RequestKinds:
    """The model of request kinds with the weights in the package. Raises FileNotFoundError where they are missing."""
    hidden, out = _layers(arrays_in(DATA / REQUEST_KIND))
    return RequestKinds(hidden=hidden, out=out, embed=reader().embed)


def relations(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
    """How the second, newer statement of each pair stands to the first; what was read is kept at hand."""
    # The encoder does not look at the mark at an end, which a sentence has and the fact that came of it has not.
    pairs = [(unpointed(older), unpointed(newer)) for older, newer in pairs]
    known = {pair: read for pair in pairs if (read := _RELATIONS.get(pair)) is not None}
    if unread := [pair for pair in dict.fromkeys(pairs) if pair not in known]:
        for pair, relation in zip(unread, encoder().relations(unread), strict=True):
            known[pair] = _RELATIONS.put(pair, relation)
    return [known[pair] for pair in pairs]


def clear_caches() -> None:
    """Keep no text of a memory at hand: some were forgotten."""
    _RELATIONS.clear()
    if relevance.cache_info().currsize:
        relevance().clear_cache()


def _layers(stored: Mapping[str, Any]) -> tuple[DenseLayer, DenseLayer]:
    return (
        DenseLayer(stored["W1"].astype(np.float32), stored["b1"].astype(np.float32)),
        DenseLayer(stored["W2"].astype(np.float32), stored["b2"].astype(np.float32)),
    )


def clause_model(stored: Mapping[str, Any]) -> ClauseModel:
    """The clause model out of its arrays."""
    hidden, out = _layers(stored)
    return ClauseModel(
        says=Table(stored["says"], float(stored["says_scale"])),
        around=Table(stored["around"], float(stored["around_scale"])),
        hidden=hidden,
        out=out,
    )
