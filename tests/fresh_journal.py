"""The journal of a new home, copied: taking all migrations costs most tests more than what they try.

They are taken once in each process, by opening a journal where there is none.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from memory.stores.journal import SqliteJournal


def put(file: Path) -> None:
    """Have a journal in a folder that is empty or not there yet; any other stays as it is."""
    folder = file.parent
    if folder.exists() and any(folder.iterdir()):
        return
    content, key = _made()
    with contextlib.suppress(OSError):  # a folder in which nothing can be written is what such a test is about
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
        # The key of keyed hashes is another one each time.
        file.write_bytes(content.replace(key, os.urandom(len(key))))


@cache
def _made() -> tuple[bytes, bytes]:
    """A new journal's file, and the key in it."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as elsewhere:
        file = Path(folder) / "journal.db"
        elsewhere.submit(asyncio.run, _make(file)).result()  # who asks may be in a loop of their own
        with contextlib.closing(sqlite3.connect(file)) as connection:
            ((key,),) = connection.execute("SELECT value FROM meta WHERE name = 'key'").fetchall()
        content = file.read_bytes()
    assert content.count(key) == 1
    return content, key


async def _make(file: Path) -> None:
    await SqliteJournal(file, lambda text: text).close()
