"""Make the data that every start needs out of litellm's wheel: models' windows and prices, and a vocabulary.

    python -m memory.models.training.snapshot --out memory/models/data

For newer prices: another version and its wheel's hash below, then run it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Final

from memory.models.tokens import O200K
from memory.models.wheel import download
from memory.models.windows import FIELDS, TABLE, read_table

REQUIREMENT: Final = "litellm==1.110.2"
WHEEL_SHA256: Final = "9d94d1c7d524b6fd10c14f9c8c6c4f0ac31705f9964ac59dcfd8337c046d8917"
_TABLE: Final = "litellm/model_prices_and_context_window_backup.json"
_VOCABULARY: Final = "litellm/litellm_core_utils/tokenizers/fb374d419588a4632f3f557e76b4b70aebbca790"
"""Named, as tiktoken does, by the SHA-1 of its address."""


def reduced(table: bytes) -> bytes:
    """The table with what is read of it: models that have a window, in their order, a line each.

    Raises:
        ValueError: when anything else would be known from it than from the whole one.
    """
    entries: dict[str, Any] = json.loads(table)
    known = read_table(table)
    lines = [
        f"{json.dumps(name)}:{json.dumps({field: entry[field] for field in FIELDS if field in entry})}"
        for name, entry in entries.items()
        if name in known
    ]
    text = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    if list(read_table(text).items()) != list(known.items()):
        raise ValueError("the reduced table is not equal to the whole one")
    return text


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder to write them into")
    out: Path = parser.parse_args().out
    with tempfile.TemporaryDirectory() as scratch:
        wheel = download(REQUIREMENT, WHEEL_SHA256, Path(scratch))
        with zipfile.ZipFile(wheel) as archive:
            table, vocabulary = archive.read(_TABLE), archive.read(_VOCABULARY)
    if hashlib.sha256(vocabulary).hexdigest() != O200K.sha256:
        raise ValueError("the vocabulary inside the wheel is not the one expected")
    (out / TABLE.name).write_bytes(reduced(table))
    (out / O200K.file).write_bytes(vocabulary)


if __name__ == "__main__":
    main()
