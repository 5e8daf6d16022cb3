"""What other thresholds would have meant for requests that have been: by their sizes, without sending anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory.session import Receipt
from memory.settings import SheddingSettings


@dataclass(frozen=True, slots=True)
class Trial:
    """Of so many ``requests`` how many were large enough, as their clients sent them, to be trimmed, folded or rotated,
    each counted once; and how many ``recalls`` were larger than the tokens that may be recalled."""

    requests: int = 0
    trim: int = 0
    fold: int = 0
    rotate: int = 0
    recalls: int = 0


def tried(receipts: Iterable[Receipt], shedding: SheddingSettings, recall_tokens: int) -> Trial:
    """The thresholds on some requests."""
    counts = dict.fromkeys(("requests", "trim", "fold", "rotate", "recalls"), 0)
    for each in receipts:
        if not each.window or not each.kind.teaches:
            continue
        counts["requests"] += 1
        counts["recalls"] += each.recall_tokens > recall_tokens
        share = (each.tokens + max(each.saved, 0)) / max(each.window - shedding.reserve, 1)
        for step, limit in (("rotate", shedding.rotate), ("fold", shedding.fold), ("trim", shedding.trim)):
            if share >= limit:
                counts[step] += 1
                break
    return Trial(**counts)
