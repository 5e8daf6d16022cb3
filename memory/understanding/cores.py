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

from memory.understanding.forms import begins_anew, excepts, is_relative, leans, negates, says_when

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
SURELY: Final = 1.0
"""Mean log-odds against the words of a part from which its denials deny nothing that is said anew behind it: "did you
look, you didn't, so please …"."""
SHARE: Final = 0.34
"""The share of a statement's words that a core has at least: where less seems to tell, the model is mistaken."""

_WORD: Final = re.compile(r"\S+")
_MARKS: Final = frozenset(",;:.!?–—)…")
_BRINGS_IN: Final = frozenset(["that", "dass", "daß", "ob", "whether", "que", "qu"])
"""A sentence that begins so hangs on what stands before it."""


def core(text: str, offsets: Sequence[tuple[int, int]], odds: Sequence[float]) -> str:
    """The core of a statement; empty where all of it is. ``odds`` are the log-odds that each word piece, which stands
    from one character to another, belongs to it."""
    words, stays = parted(text, offsets, odds)
    return "" if all(stays) else _core_line(text, words, stays)


def parted(
    text: str, offsets: Sequence[tuple[int, int]], odds: Sequence[float]
) -> tuple[list[tuple[int, int]], list[bool]]:
    """Where the words of a statement stand, and whether each stays."""
    words = [found.span() for found in _WORD.finditer(text)]
    of_words = _log_odds_of_words(words, offsets, odds)
    stays = _with_needed_words(text, words, _kept_words(text, words, of_words), of_words)
    return words, stays if _tells_enough(stays) else [True] * len(words)


def is_core(line: str, text: str) -> bool:
    """Whether a line may stand for a text as its core: its words are words of the text in their order, and nothing is
    left out that may be needed to understand them rightly."""
    words, stays = _found_in(line, text)
    return (
        sum(stays) == len(line.split())
        and _tells_enough(stays)
        and _with_needed_words(text, words, stays, [-LOUDEST] * len(words)) == stays
    )


def rest_of(text: str, line: str) -> str:
    """What a line leaves out of a text whose words it has in their order: the other words, as they stand there."""
    words, stays = _found_in(line, text)
    return " ".join(text[slice(*word)] for word, stay in zip(words, stays, strict=True) if not stay)


def _found_in(line: str, text: str) -> tuple[list[tuple[int, int]], list[bool]]:
    """Where the words of a text stand, and whether each is the next one of a line."""
    words = [found.span() for found in _WORD.finditer(text)]
    wanted = [_bare(word) for word in line.split()]
    stays = []
    at = 0
    for start, end in words:
        is_next = at < len(wanted) and wanted[at] == _bare(text[start:end])
        stays.append(is_next)
        at += is_next
    return words, stays


def _bare(word: str) -> str:
    return word.casefold().rstrip(",;:.!?–—…")


def _tells_enough(stays: Sequence[bool]) -> bool:
    return sum(stays) >= max(LEAST, SHARE * len(stays))


def _log_odds_of_words(
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


def _kept_words(text: str, words: Sequence[tuple[int, int]], odds: Sequence[float]) -> list[bool]:
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


def _with_needed_words(
    text: str, words: Sequence[tuple[int, int]], stays: Sequence[bool], odds: Sequence[float]
) -> list[bool]:
    """Whether each word stays once what must not go stays as well."""
    found = list(stays)
    has_marks = any(text[end - 1] in _MARKS for _, end in words[:-1])
    at = 0
    while at < len(words):
        end = at
        while end < len(words) and not stays[end]:
            end += 1
        if end > at and (
            _is_needed(text, words, odds, at, end) or (has_marks and not _is_between_marks(text, words, at, end))
        ):
            found[at:end] = [True] * (end - at)
        at = max(end, at + 1)
    return found


def _is_needed(text: str, words: Sequence[tuple[int, int]], odds: Sequence[float], first: int, end: int) -> bool:
    """Whether some words that would go may be needed: they tell an exception or take something back; or they stand
    before words that stay, and deny or doubt those, bring them in as what somebody says, or ask for them."""
    part = text[words[first][0] : words[end - 1][1]]
    # "…, es sei denn, das Schema ändert sich": what says so may stand right before a mark.
    if excepts(text[words[max(first - 2, 0)][0] : words[end - 1][1]]):
        return True
    # "… except on stage, which stays": what is said of an exception belongs to it.
    if (is_relative(part) or leans(part)) and excepts(
        text[words[_start_of_part(text, words, first)][0] : words[first][0]]
    ):
        return True
    if end == len(words):
        return False
    following = _bare(text[slice(*words[end])])
    asks = first == 0 and text.rstrip().endswith("?")
    if negates(part) and (says_when(part) or _mean(odds[first:end]) > -SURELY or not _begins_anew(text, words, end)):
        return True
    return following in _BRINGS_IN or asks


def _start_of_part(text: str, words: Sequence[tuple[int, int]], first: int) -> int:
    """The place of the first word of the part that ends where some words begin."""
    at = first - 1
    while at > 0 and text[words[at - 1][1] - 1] not in _MARKS:
        at -= 1
    return max(at, 0)


def _begins_anew(text: str, words: Sequence[tuple[int, int]], at: int) -> bool:
    """Whether what stands from a word on is said anew, so that what denies something before it ends there."""
    return any(
        begins_anew(
            _bare(text[slice(*words[place - 1])]),
            _bare(text[slice(*words[place])]),
            marked=text[words[place - 1][1] - 1] in _MARKS,
        )
        for place in (at - 1, at)
        if place > 0
    )


def _mean(odds: Sequence[float]) -> float:
    return sum(odds) / len(odds)


def _is_between_marks(text: str, words: Sequence[tuple[int, int]], first: int, end: int) -> bool:
    """Whether a mark stands, or the statement begins or ends, on both sides of some words."""
    before = first == 0 or text[words[first - 1][1] - 1] in _MARKS
    return before and (end == len(words) or text[words[end - 1][1] - 1] in _MARKS)


def _core_line(text: str, words: Sequence[tuple[int, int]], stays: Sequence[bool]) -> str:
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
