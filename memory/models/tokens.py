"""Counting tokens exactly, with a vocabulary in the package. Never a download.

A vocabulary's own library holds its two hundred thousand words three times, to decode with them and to find them by
their beginnings, and makes that in one call, for which all others wait. Counting needs to know of a word only its rank:
one table of four MiB does, made line by line, and what a word's count came to is kept. Most words were met before, so
that a text takes no longer than there. The table is made when the first text is counted, in the thread that counts.

One vocabulary is enough: models that read with another one differ by a factor, and that is what calibration learns.
"""

from __future__ import annotations

import binascii
import hashlib
import logging
import re
import threading
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from io import BytesIO
from itertools import chain
from pathlib import Path
from unicodedata import category

from memory.context.sizes import quick
from memory.language.static_embedding import DATA

log = logging.getLogger(__name__)

SLICE = 4096
"""Characters that are counted at once, so that nothing is long; cut at spaces, a text has at most one token more for
each slice."""

KNOWN_WORDS = 16_384
"""Words whose counts are kept; about 150 bytes each."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary by name, the SHA-256 of its file, and the pattern that cuts a text into the words that are encoded
    each by itself. In the pattern ``{upper}`` and ``{lower}`` stand for what may begin and end a word, ``{letter}`` and
    ``{number}`` for all letters and numbers, and ``{space}`` for white space, each within brackets."""

    name: str
    sha256: str
    pattern: tuple[str, ...]

    @property
    def file(self) -> str:
        """What its file is called."""
        return f"{self.name}.tiktoken"


O200K = Vocabulary(
    "o200k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    (
        r"[^\r\n{letter}{number}]?[{upper}]*[{lower}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n{letter}{number}]?[{upper}]+[{lower}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[{number}]{{1,3}}",
        r" ?[^{space}{letter}{number}]+[\r\n/]*",
        r"[{space}]*[\r\n]+",
        r"[{space}]+(?![^{space}])",
        r"[{space}]+",
    ),
)
"""OpenAI's from GPT-4o on."""

_TOPS = ("\x7f", "\uffff", "\U0010ffff")
"""The last characters of the alphabets that a pattern is made for: it is fastest for the smallest."""

_WHITE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"

_ASSIGNED = (range(0x40000), range(0xE0100, 0xE01F0))
"""Where letters, marks and numbers lie."""

_SLOT_BITS = 19
_SLOTS = 1 << _SLOT_BITS
_RANK_BITS = 18
_EMPTY = (1 << 64) - 1
_PRIME = (1 << 62) - 57
_SPREAD = 0x9E3779B97F4A7C15
_NEVER = 1 << _RANK_BITS
"""The rank of what is no word of a vocabulary: higher than all others."""


class TokenCounter:
    """Counts tokens with one vocabulary, whose file lies in ``folder``; may be called from any thread."""

    def __init__(self, vocabulary: Vocabulary = O200K, folder: Path = DATA) -> None:
        self._vocabulary = vocabulary
        self._folder = folder
        self._loading = threading.Lock()
        self._words: _Words | None = None
        self._tried = False

    @property
    def ready(self) -> bool:
        """Whether a text can be counted without loading anything first."""
        return self._tried

    @property
    def exact(self) -> bool:
        """Whether texts are counted; False before the first, and where they are only estimated."""
        return self._words is not None

    def load(self) -> None:
        """Load the vocabulary, once. Where that fails, texts are estimated, and the log says so."""
        with self._loading:
            if not self._tried:
                self._words = _load(self._vocabulary, self._folder)
                self._tried = True

    def near(self, text: str) -> int:
        """Tokens of a text, estimated where the vocabulary is not loaded: for what is only told, not decided by."""
        return self.count(text) if self._tried else quick(text)

    def count(self, text: str) -> int:
        """Tokens of a text. What looks like a special token is counted as the text that it is."""
        if not self._tried:
            self.load()
        words = self._words
        if words is None:
            return quick(text)
        if len(text) <= SLICE:
            return words.count(text)
        return sum(map(words.count, pieces(text)))


def pieces(text: str) -> Iterator[str]:
    """A text in pieces of at most :data:`SLICE` characters, cut in front of a space where there is one in the last
    quarter."""
    at, end = 0, len(text)
    while end - at > SLICE:
        cut = max(text.rfind(" ", at + SLICE * 3 // 4, at + SLICE), text.rfind("\n", at + SLICE * 3 // 4, at + SLICE))
        cut = cut if cut > at else at + SLICE
        yield text[at:cut]
        at = cut
    yield text[at:]


class _Words:
    """The words of a vocabulary, by what comes of their bytes: each slot of the table holds what is left of that and a
    rank. Two words that share all 62 bits would be taken for each other; within the vocabulary none do."""

    def __init__(self, vocabulary: Vocabulary, data: bytes) -> None:
        self._pattern = vocabulary.pattern
        self._slots = _slots(data)
        self._find: dict[str, Callable[[str], list[str]]] = {}
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Tokens of a short text."""
        try:
            words = self._cut(text)
            counts = list(map(self._known.get, words))
            new = dict.fromkeys(word for word, count in zip(words, counts, strict=True) if count is None)
            counted = {word: self._count(word.encode()) for word in new}
        except UnicodeEncodeError:
            return self.count(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        if len(self._known) + len(counted) > KNOWN_WORDS:
            self._known = {}
        self._known.update(counted)
        return sum(counted[word] if count is None else count for word, count in zip(words, counts, strict=True))

    def _cut(self, text: str) -> list[str]:
        top = _TOPS[0] if text.isascii() else _TOPS[1] if max(text) <= _TOPS[1] else _TOPS[2]
        find = self._find.get(top)
        if find is None:
            find = self._find[top] = re.compile("|".join(self._pattern).format_map(_classes(ord(top)))).findall
        return find(text)

    def _count(self, word: bytes) -> int:
        """Tokens of a word: it is one, or pairs of its parts become one, always the pair of the lowest rank, and of two
        such pairs the one in front."""
        rank, end = self._rank, len(word)
        if end == 1 or rank(word) != _NEVER:
            return 1
        count, after, before = end, [*range(1, end + 1)], [*range(-1, end)]
        pairs = [(rank(word[at : at + 2]), at, at + 1, at + 2) for at in range(end - 1)]
        heapify(pairs)
        while pairs and pairs[0][0] != _NEVER:
            _, left, right, behind = heappop(pairs)
            if after[left] != right or after[right] != behind:
                continue
            after[left], after[right], before[behind] = behind, 0, left
            count -= 1
            if left:
                heappush(pairs, (rank(word[before[left] : behind]), before[left], left, behind))
            if behind < end:
                heappush(pairs, (rank(word[left : after[behind]]), left, behind, after[behind]))
        return count

    def _rank(self, word: bytes) -> int:
        # For each pair of parts: no function is called that need not be.
        slots, spread = self._slots, int.from_bytes(word + b"\1", "little") * _SPREAD % _PRIME
        rest, slot = spread >> _SLOT_BITS, spread % _SLOTS
        while (held := slots[slot]) != _EMPTY:
            if held >> _RANK_BITS == rest:
                return held % _NEVER
            slot = (slot + 1) % _SLOTS
        return _NEVER


def _slots(data: bytes) -> array[int]:
    """The table of a vocabulary's file: a word in base64 and its rank on each line.

    Raises:
        ValueError: when something else stands there.
    """
    slots, decode = array("Q", [_EMPTY]) * _SLOTS, binascii.a2b_base64
    for line in BytesIO(data):
        word, rank = line.split()
        spread = int.from_bytes(decode(word) + b"\1", "little") * _SPREAD % _PRIME
        slot = spread % _SLOTS
        while slots[slot] != _EMPTY:
            slot = (slot + 1) % _SLOTS
        slots[slot] = spread >> _SLOT_BITS << _RANK_BITS | int(rank)
    return slots


def _classes(top: int) -> dict[str, str]:
    """What stands for kinds of characters in a pattern, each as ranges up to the ``top``-most character."""
    held: dict[str, list[list[int]]] = {"letter": [], "number": [], "upper": [], "lower": []}
    for code in chain(*_ASSIGNED):
        if code > top:
            break
        kind = category(chr(code))
        for name in _CLASSES.get(kind, _CLASSES.get(kind[0], ())):
            ranges = held[name]
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    told = {name: "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in each) for name, each in held.items()}
    return {**told, "space": _WHITE}


_CLASSES = {
    "Lu": ("letter", "upper"),
    "Lt": ("letter", "upper"),
    "Ll": ("letter", "lower"),
    "L": ("letter", "upper", "lower"),
    "M": ("upper", "lower"),
    "N": ("number",),
}


def _load(vocabulary: Vocabulary, folder: Path) -> _Words | None:
    try:
        return _words(vocabulary, folder)
    except (OSError, ValueError) as error:
        log.warning("tokens are estimated, not counted: %s", error)
        return None


@lru_cache(maxsize=1)
def _words(vocabulary: Vocabulary, folder: Path) -> _Words:
    """The words, read once in a process.

    Raises:
        OSError: when their file cannot be read.
        ValueError: when it is another file than we know.
    """
    file = folder / vocabulary.file
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != vocabulary.sha256:
        raise ValueError(f"{file} is not the vocabulary that it should be")
    return _Words(vocabulary, data)
