"""How much of a journal that is damaged at random can be read: ``python -m tests.bench.salvage [--rounds 60]``."""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from memory.stores.backups.salvaging import NothingLeft, salvage
from memory.stores.backups.upgrading import faults_of
from tests.memory.stores.backups.test_backups import PAGE, filled

EXCHANGES = 200


def damaged(whole: bytes, seed: int) -> bytes:
    """A file with some pieces overwritten, now and then the first page too, or cut off."""
    lot, body = random.Random(seed), bytearray(whole)
    for _ in range(lot.choice((1, 1, 2, 5, 30))):
        page = lot.randrange(0 if seed % 5 == 0 else 1, len(body) // PAGE)
        start = page * PAGE + lot.choice((0, 0, lot.randrange(PAGE)))
        length = min(lot.choice((1, 16, PAGE)), len(body) - start)
        body[start : start + length] = lot.randbytes(length) if lot.random() < 0.5 else bytes(length)
    return bytes(body[: lot.randrange(PAGE, len(body))] if seed % 7 == 0 else body)


def main() -> None:
    """Damage, salvage, look whether it holds together, and print the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    ends, facts = Counter[str](), 0
    with TemporaryDirectory() as folder:
        journal = asyncio.run(filled(Path(folder), EXCHANGES))
        whole = journal.read_bytes()
        for seed in range(rounds):
            file, new = Path(folder) / f"{seed}.db", Path(folder) / f"{seed}-new.db"
            file.write_bytes(damaged(whole, seed))
            try:
                salvage(file, new)
            except NothingLeft:
                ends["nothing could be read"] += 1
                continue
            ends["does not hold together" if faults_of(new) else "holds together"] += 1
            with closing(sqlite3.connect(new)) as connection:
                facts += connection.execute("SELECT count(*) FROM facts").fetchone()[0]
    print(dict(ends), f"{facts / (EXCHANGES * rounds):.3f} of the facts")


if __name__ == "__main__":
    main()
