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
from memory.tiers.lines import LEAST, ends, led_by, pieces
from memory.tiers.shape import Hint
from memory.tiers.terminal_lines import clean

_NAME = re.compile(r"[A-Za-z_][\w./:-]{0,80}[_./:0-9A-Z][\w./:-]{1,80}|\d[\d.,:/-]{0,40}|`[^`\n]{2,80}`")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_SHARE: Final = 0.2
"""Of the room for the most central sentences before what tells most gets its own."""
_END = re.compile(r"[.!?:…。！？][\"'”’)*_`]{0,6}\Z")
_ROUNDS: Final = 4
_MOST_READ: Final = 12_000
"""Characters of the head, and of the tail, whose sentences are weighed: that is what the work grows with."""
_SAMPLE: Final = 40
_LONG_SENTENCE: Final = 600


def prose(text: str, hint: Hint, limit: int) -> str | None:
    """The lines of the most central sentences, then what tells most; None where the text is no prose."""
    if limit < LEAST:
        return None
    rows = pieces(ends(clean(text)))
    if not is_prose(rows):
        return None
    numbered = [(number, each[:_LONG_SENTENCE]) for number in _read(rows) for each in sentences(rows[number])]
    scores = _centrality([each for _, each in numbered])
    central = sorted(range(len(numbered)), key=lambda place: (-scores[place], place))
    return led_by((numbered[place][0] for place in central), rows, hint, limit, _SHARE)


def is_prose(rows: Sequence[str]) -> bool:
    """Whether most of what these lines say is sentences: words, and an end."""
    filled_rows = [row for row in rows if row.strip()]
    sampled = [each for row in filled_rows[:: max(1, len(filled_rows) // _SAMPLE)] for each in sentences(row)]
    return len(sampled) >= 3 and sum(map(_is_whole, sampled)) >= 0.5 * len(sampled)


def _is_whole(sentence: str) -> bool:
    return len(_LETTERS.findall(sentence)) >= 5 and bool(_END.search(sentence))


def _read(rows: Sequence[str]) -> list[int]:
    """The numbers of the rows whose sentences are weighed: of a long text the head and the tail."""
    total = sum(map(len, rows))
    numbers: list[int] = []
    before = 0
    for number, row in enumerate(rows):
        if before <= _MOST_READ or total - before <= _MOST_READ:
            numbers.append(number)
        before += len(row)
    return numbers


def _centrality(texts: Sequence[str]) -> list[float]:
    """How central each sentence is, for its length."""
    words = [frozenset(stems(each)) for each in texts]
    sentence = [1.0] * len(texts)
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
        for number, (score, each) in enumerate(zip(sentence, texts, strict=True))
    ]
