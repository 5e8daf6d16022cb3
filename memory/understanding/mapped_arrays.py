"""The arrays of an .npz file, mapped into memory where they lie in it.

What is mapped takes no time to read, and memory only for the rows that somebody looks at. A file is mapped once, since
each mapping holds a descriptor. That goes for tables of
bytes that are stored as they are (``numpy.savez``): what is compressed is read, and so is what an archive may hold at
an odd place, such as floats.
"""

from __future__ import annotations

from pathlib import Path
from struct import Struct
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

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
            begin = _begin(mapped, member)
            own = mapped[begin + content.tell() : begin + member.file_size]
            return np.asarray(own.view(dtype).reshape(shape, order="F" if fortran else "C"))
    with archive.open(member) as content:
        whole: NDArray[Any] = np.lib.format.read_array(content)
    whole.flags.writeable = False
    return whole


def _begin(mapped: NDArray[np.uint8], member: ZipInfo) -> int:
    """Where a member's own bytes begin."""
    name, extra = _LOCAL_HEADER.unpack_from(mapped.data, member.header_offset)
    return member.header_offset + _LOCAL_HEADER.size + int(name) + int(extra)
