"""How long memory took in the runs. It is told and not checked: a machine may be slow, and ``tests.bench`` measures."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

from memory.settings import RecallSettings


def told(runs: Iterable[Path]) -> str:
    """How long preparing the requests of these runs took, and how many recalls would have been late by default."""
    steps = [receipt["steps"] for run in runs for receipt in _receipts(run) if receipt.get("steps")]
    if not steps:
        return "no request was prepared"
    took = [float(each["prepare"]) for each in steps if "prepare" in each]
    late = sum(float(each.get("recall", 0)) > RecallSettings().deadline_ms for each in steps)
    return (
        f"preparing {len(took)} requests took {median(took):.0f} ms at the median and {max(took):.0f} ms at most; "
        f"{late} recalls took longer than memory.recall.deadline_ms is by default"
    )


def _receipts(run: Path) -> Iterator[dict[str, dict[str, float]]]:
    file = run / "palimpsest" / "journal.db"
    if not file.exists():
        return
    connection = sqlite3.connect(file)
    try:
        for (body,) in connection.execute("SELECT body FROM receipts"):
            yield json.loads(body)
    except sqlite3.Error:
        return  # the run has failed, and says why
    finally:
        connection.close()
