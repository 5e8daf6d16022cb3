"""What is learnt of single moments at work, written by somebody who saw neither code nor training data.

    python -m tests.bench.moments [FILE]

Half of them settle something about the project; the others are steps, questions, symptoms and pasted words in the same
outward forms. Told is how many of each become a fact, with what settles something read by its own head and without.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from memory.fact import Origin
from memory.learning.extract import extract
from memory.understanding.clauses import ClauseReader
from memory.understanding.packaged_weights import reader

MOMENTS = Path(__file__).resolve().parents[1] / "data" / "moments" / "one.jsonl"
AT = datetime(2026, 5, 5, 12, tzinfo=UTC)


def learnt(moments: Sequence[dict[str, Any]], read: ClauseReader) -> tuple[int, int]:
    """How many of the moments that settle something, and how many of the others, become a fact."""
    counts = [0, 0]
    for each in moments:
        drafts = extract(each["said"], Origin.USER, AT, before=each["agent"], work=True, reader=read)
        counts[not each["settles"]] += any(not draft.unsure for draft in drafts)
    return counts[0], counts[1]


def main(arguments: Sequence[str]) -> None:
    """Print the counts."""
    moments = [orjson.loads(line) for line in Path(arguments[0] if arguments else MOMENTS).read_bytes().splitlines()]
    settling = sum(each["settles"] for each in moments)
    for name, read in (("with the head", reader()), ("without", replace(reader(), settled=None))):
        found, wrongly = learnt(moments, read)
        print(f"{name}: {found} of {settling} that settle something, {wrongly} of {len(moments) - settling} others")


if __name__ == "__main__":
    main(sys.argv[1:])
