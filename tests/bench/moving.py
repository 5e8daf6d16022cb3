"""A journal moved into PostgreSQL and back: how long that takes, and whether it is the same afterwards.

    python -m tests.bench.moving [--facts 365000] [--home FOLDER]

A data folder with so many facts is made (or the one named is copied), exported, moved into a database of the server of
the tests, moved back, and exported again. Both exports must be the same to the byte, and every row of every table too.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import orjson

from memory.services.transfer.records import record_of
from memory.stores.journal import SqliteJournal
from memory.stores.postgresql.moving import move_in, move_out
from tests import postgresql
from tests.bench.bulk import LEARNED, copied
from tests.bench.seed import seed_home

PIECE = 1000
"""Memories that are exported at once, as ``palimpsest export`` asks for them."""


async def exported(file: Path) -> str:
    """A hash of all facts and passages of a journal as an export has them."""
    journal, whole = SqliteJournal(file, str), hashlib.sha256()
    try:
        for owner in sorted(await journal.owners()):
            for read in (journal.facts_after, journal.passages_after):
                after = ""
                while piece := await read(owner, after, PIECE):
                    uses = await journal.uses_of([each.id for each in piece])
                    for each in piece:
                        whole.update(orjson.dumps(record_of(each, uses.get(each.id))))
                    after = piece[-1].id
    finally:
        await journal.close()
    return whole.hexdigest()


def rows(file: Path) -> dict[str, str]:
    """Of each table the number of its rows and a hash of them."""
    found = {}
    with closing(sqlite3.connect(file)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [each[1] for each in connection.execute(f"PRAGMA table_info({table})").fetchall()]
            kinds = ", ".join(f'CAST("{each}" AS BLOB)' for each in columns)
            count, total = 0, 0
            for row in connection.execute(f"SELECT {kinds} FROM {table}"):
                count += 1
                total ^= int.from_bytes(hashlib.blake2b(repr(row).encode(), digest_size=16).digest(), "big")
            found[table] = f"{count} {total:x}"
    return found


async def main(facts: int, home: Path | None) -> None:
    """Move there and back, and tell."""
    with tempfile.TemporaryDirectory(prefix="moving-") as folder:
        there = Path(folder) / "home"
        there.mkdir(0o700)
        file = there / "journal.db"
        if home is not None:
            shutil.copy(home / "journal.db", file)
        else:
            await seed_home(there, min(facts, LEARNED))
            if facts > LEARNED:
                await asyncio.to_thread(copied, file, facts - LEARNED)
        before, earlier, counts = await exported(file), await asyncio.to_thread(rows, file), dict[str, int]()
        server = await asyncio.to_thread(postgresql.TestServer, postgresql.programs() or Path())
        url = server.empty_database()
        began = time.perf_counter()
        await asyncio.to_thread(move_in, file, url, counts.__setitem__)
        moved_in = time.perf_counter() - began
        size = file.stat().st_size / 2**20
        file.unlink()
        for log in there.glob("journal.db-*"):
            log.unlink()
        began = time.perf_counter()
        await asyncio.to_thread(move_out, url, file, counts.__setitem__)
        moved_out = time.perf_counter() - began
        later = await asyncio.to_thread(rows, file)
        changed = sorted(table for table in earlier if earlier[table] != later.get(table))
        same = before == await exported(file)
        every = sum(counts.values())
        print(f"{counts['facts']:,} facts, {every:,} rows, {size:,.0f} MiB; load {os.getloadavg()[0]:.1f}")
        print(f"into the database {moved_in:.0f} s, back {moved_out:.0f} s")
        print(
            f"exports are {'the same' if same else 'NOT the same'}; tables that differ: {', '.join(changed) or 'none'}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--facts", type=int, default=365_000)
    parser.add_argument("--home", type=Path)
    named = parser.parse_args()
    asyncio.run(main(named.facts, named.home))
