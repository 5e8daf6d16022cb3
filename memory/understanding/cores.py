"""The core of a statement: the words that say what to do or what holds, without why, how it came about and how the
speaker feels about it.

The encoder says of each word piece how likely it belongs to the core. The words are parted into what stays and what
goes so that the sum of what it says is greatest, where each cut costs something, most of all between two words with no
mark between them (Viterbi 1967).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memory.understanding.forms import excepts

LEAN: Final = 1.5
"""Log-odds that are given to a word to stay: what tells something and is lost does more harm than what is too much."""
LOUDEST: Final = 4.0
"""Log-odds beyond which a word counts no more: none decides for its neighbours."""
AT_MARK: Final = 1.0
"""What a cut costs behind a mark, in log-odds."""
BETWEEN: Final = 4.0
"""What it costs between two words."""
LEAST: Final = 4
"""Words of a core at least: fewer seldom can be understood."""
SHARE: Final = 0.34
"""The share of a statement's words that a core has at least: where less seems to tell, the model is mistaken."""

_WORD: Final = re.compile(r"\S+")
_MARKS: Final = frozenset(",;:.!?–—)…")


def core(text: str, offsets: Sequence[tuple[int, int]], odds: Sequence[float]) -> str:
    """The core of a statement; empty where all of it is. ``odds`` are the log-odds that each word piece, which stands
    from one character to another, belongs to it."""
    words, stays = parted(text, offsets, odds)
    return "" if all(stays) else _joined(text, words, stays)


def parted(
    text: str, offsets: Sequence[tuple[int, int]], odds: Sequence[float]
) -> tuple[list[tuple[int, int]], list[bool]]:
    """Where the words of a statement stand, and whether each stays."""
    words = [found.span() for found in _WORD.finditer(text)]
    stays = _parted(text, words, _of_words(words, offsets, odds))
    _keep_exceptions(text, words, stays)
    _keep_what_asks(text, words, stays)
    return words, stays if sum(stays) >= max(LEAST, SHARE * len(words)) else [True] * len(words)


def _of_words(
    words: Sequence[tuple[int, int]], offsets: Sequence[tuple[int, int]], odds: Sequence[float]
) -> list[float]:
    """The log-odds of each word: the mean of its pieces'."""
    found = []
    at = 0
    for start, end in words:
        while at < len(offsets) and offsets[at][1] <= start:
            at += 1
        own = []
        place = at
        while place < len(offsets) and offsets[place][0] < end:
            own.append(odds[place])
            place += 1
        # What was not read stays.
        mean = sum(own) / len(own) if own else LOUDEST
        found.append(max(-LOUDEST, min(LOUDEST, mean)) + LEAN)
    return found


def _parted(text: str, words: Sequence[tuple[int, int]], odds: Sequence[float]) -> list[bool]:
    """Whether each word stays."""
    goes, stays = -AT_MARK / 2, 0.0
    came: list[tuple[bool, bool]] = []
    for at, each in enumerate(odds):
        cost = AT_MARK if at and text[words[at - 1][1] - 1] in _MARKS else BETWEEN
        from_stays = stays - cost > goes if at else False
        from_goes = goes - cost > stays if at else True
        came.append((from_stays, not from_goes))
        goes, stays = max(goes, stays - cost) if at else goes, (max(stays, goes - cost) if at else stays) + each
    state = stays > goes - AT_MARK / 2
    found = []
    for at in range(len(odds) - 1, -1, -1):
        found.append(state)
        state = came[at][state]
    return found[::-1]


def _keep_exceptions(text: str, words: Sequence[tuple[int, int]], stays: list[bool]) -> None:
    """Let what may say when the rest does not hold, or take it back, stay."""
    at = 0
    while at < len(words):
        end = at
        while end < len(words) and not stays[end]:
            end += 1
        if end > at and excepts(text[words[at][0] : words[end - 1][1]]):
            stays[at:end] = [True] * (end - at)
        at = max(end, at + 1)


def _keep_what_asks(text: str, words: Sequence[tuple[int, int]], stays: list[bool]) -> None:
    """Let the beginning of a request in the form of a question stay: there stands what is asked for."""
    first = stays.index(True) if True in stays else 0
    last = max((at for at, stay in enumerate(stays) if stay), default=-1)
    if last >= 0 and text[words[last][0] : words[last][1]].endswith("?"):
        stays[:first] = [True] * first


def _joined(text: str, words: Sequence[tuple[int, int]], stays: Sequence[bool]) -> str:
    """What stays, as a line: where something went between two words with no mark, a comma tells that they were apart,
    and it ends without a mark that announces more."""
    pieces: list[str] = []
    for at, ((start, end), stay) in enumerate(zip(words, stays, strict=True)):
        if not stay:
            continue
        if pieces and not stays[at - 1] and pieces[-1][-1] not in _MARKS:
            pieces[-1] += ","
        pieces.append(text[start:end])
    line = " ".join(pieces).rstrip(",;:–— ")
    return line[:1].upper() + line[1:]
