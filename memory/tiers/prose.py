"""The overview of prose: the lines of its most central sentences, in their own order.

Sentences and the stems in them make a graph; a sentence is central when its stems stand in central sentences, and a
stem is central when central sentences have it (the idea of TextRank, on the graph of both, so that the work grows with
the text and not with its square). The beginning counts for a little more, and so do names, numbers and paths.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from math import sqrt
from typing import Final

from memory.language.sentences import sentences
from memory.language.words import stems
from memory.tiers.lines import LEAST, led_by, pieces
from memory.tiers.rows import clean
from memory.tiers.shape import Hint

_NAME = re.compile(r"[A-Za-z_][\w./:-]{0,80}[_./:0-9A-Z][\w./:-]{1,80}|\d[\d.,:/-]{0,40}|`[^`\n]{2,80}`")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_SHARE: Final = 0.2
"""Of the room for the most central sentences before what tells most gets its own."""
_END = re.compile(r"[.!?:…。！？][\"'”’)*_`]{0,6}\Z")
_ROUNDS: Final = 4
_MOST_READ: Final = 80_000
"""Characters of the head and the tail, half each, that are read: prose longer than a book chapter is rare."""
_LONG_SENTENCE: Final = 600


def prose(text: str, hint: Hint, limit: int) -> str | None:
    """The lines of the most central sentences, then what tells most; None where the text is no prose."""
    if limit < LEAST:
        return None
    rows = pieces(_read(clean(text)))
    said = [(number, each[:_LONG_SENTENCE]) for number, row in enumerate(rows) for each in sentences(row)]
    if not is_prose([each for _, each in said]):
        return None
    scores = _centrality([each for _, each in said])
    central = sorted(range(len(said)), key=lambda place: (-scores[place], place))
    return led_by((said[place][0] for place in central), rows, hint, limit, _SHARE)


def is_prose(said: Sequence[str]) -> bool:
    """Whether most of these are sentences: words, and an end."""
    if len(said) < 3:
        return False
    sample = said[:: max(1, len(said) // 40)]
    whole = sum(
        1 for each in sample if len(_LETTERS.findall(each)) >= 5 and each.rstrip("\"'”’)*_`")[-1:] in ".!?:…。！？"
    )
    return whole >= 0.5 * len(sample)


def _read(text: str) -> str:
    if len(text) <= _MOST_READ:
        return text
    half = _MOST_READ // 2
    return text[:half] + "\n" + text[-half:]


def _centrality(said: Sequence[str]) -> list[float]:
    """How central each sentence is, for its length."""
    words = [frozenset(stems(each)) for each in said]
    sentence = [1.0] * len(said)
    for _ in range(_ROUNDS):
        stem: dict[str, float] = defaultdict(float)
        for score, held in zip(sentence, words, strict=True):
            for each in held:
                stem[each] += score / sqrt(len(held))
        # A stem of one sentence only joins it to nothing.
        sentence = [sum(stem[each] for each in held) / sqrt(len(held)) if held else 0.0 for held in words]
        top = max(sentence, default=0.0) or 1.0
        sentence = [score / top for score in sentence]
    return [
        (score * (1.15 if number < 3 else 1.0) + 0.12 * min(len(_NAME.findall(each)), 6)) / sqrt(len(each) + 40)
        for number, (score, each) in enumerate(zip(sentence, said, strict=True))
    ]
